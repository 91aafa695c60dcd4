"""A chain of seals is followed, and whatever was done to it is found at the first line it was done to."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as some

from shared.errors import Untrusted
from sync_server.audit import rules
from sync_server.audit.following import Apart, Break, Link, Place, check_signature, follow, head_break
from tests.unit.sync_server.audit.chains import SALT, a_chain, a_line, with_address


def broken_at(links: list[Link]) -> tuple[int, str]:
    broken = follow(links).broken
    assert broken is not None
    return broken.seq, broken.problem


def test_a_chain_that_nobody_touched_holds_to_its_end() -> None:
    links = a_chain()
    found = follow(links)
    assert (found.place, found.broken) == (Place(5, links[-1].seal), None)


def test_an_altered_line_is_named() -> None:
    links = a_chain()
    links[2] = replace(links[2], line={**links[2].line, "reason": "lost"})
    assert follow(links).broken == Break(3, "line-3", "The line was altered or moved after it was sealed.")


def test_a_line_that_was_altered_and_sealed_anew_breaks_at_the_next() -> None:
    links = a_chain()
    altered = {**links[2].line, "reason": "lost"}
    links[2] = Link(3, rules.seal(links[1].seal, 3, altered), altered)
    assert broken_at(links)[0] == 4


def test_a_removed_line_is_missed() -> None:
    links = a_chain()
    del links[1]
    assert broken_at(links) == (2, "Line 2 is missing; the next that is there is line 3.")


def test_two_lines_that_changed_places_are_found() -> None:
    links = a_chain()
    links[1], links[2] = replace(links[2], seq=2), replace(links[1], seq=3)
    assert broken_at(links)[0] == 2


@given(some.integers(0, 4), some.sampled_from(sorted(rules.Line.__slots__)))
def test_no_word_of_a_line_can_be_changed_unnoticed(place: int, word: str) -> None:
    links = a_chain()
    links[place] = replace(links[place], line={**links[place].line, word: "something else"})
    assert broken_at(links)[0] == place + 1


def test_a_chain_sealed_anew_from_the_start_is_betrayed_by_a_seal_that_somebody_noted() -> None:
    noted = follow(a_chain()).place
    forged = a_chain(*(a_line(number, reason="nothing happened") for number in range(1, 6)))
    assert follow(forged).broken is None
    assert follow(forged, known=[noted]).broken is not None
    assert follow(a_chain(), known=[noted]).broken is None


def test_lines_cut_off_at_the_end_are_missed_by_head_and_note_alike() -> None:
    whole = a_chain()
    head = follow(whole).place
    cut = follow(whole[:3])
    assert cut.broken is None
    assert head_break(cut.place, head) == Break(4, None, "Lines 4 to 5 are missing at the end of the chain.")
    assert follow(whole[:3], known=[head]).broken is not None


def test_a_head_that_lags_differs_or_is_gone() -> None:
    found = follow(a_chain()).place
    assert head_break(found, found) is None
    for head in (Place(4, found.seal), Place(5, rules.START), None):
        assert head_break(found, head) is not None
    assert head_break(Place(), None) is None


def test_a_chain_is_followed_on_from_where_it_was_left() -> None:
    links = a_chain()
    assert follow(links[3:], Place(3, links[2].seal)).broken is None
    assert follow(links[3:], Place(3, links[1].seal)).broken is not None


def test_erased_values_leave_the_chain_whole_and_are_counted() -> None:
    line, apart = with_address(1)
    (link,) = a_chain(line)
    kept = replace(link, apart={"actor": apart})
    erased = replace(link, apart={"actor": Apart(None, None, erased=True)})
    assert (follow([kept]).broken, follow([kept]).erased) == (None, 0)
    assert (follow([erased]).broken, follow([erased]).erased) == (None, 1)


@pytest.mark.parametrize(
    "apart",
    [
        {},
        {"actor": Apart(SALT, rules.canonical({"ip": "192.0.2.8"}), erased=False)},
        {"actor": Apart(None, None, erased=False)},
        {"actor": Apart(b"t" * 16, rules.canonical({"ip": "192.0.2.7"}), erased=False)},
    ],
    ids=["gone", "altered", "emptied without an erasure", "another salt"],
)
def test_personal_values_that_were_tampered_with(apart: dict[str, Apart]) -> None:
    (link,) = a_chain(with_address(1)[0])
    assert broken_at([replace(link, apart=apart)])[0] == 1


def test_personal_values_that_were_slipped_under_a_line_that_had_none() -> None:
    (link,) = a_chain(a_line())
    slipped = replace(link, apart={"subject": with_address(1)[1]})
    assert broken_at([slipped]) == (1, "Personal values were added to the line later.")


def test_the_bytes_are_those_that_the_documentation_tells() -> None:
    line, zeros = a_line().told(), "00" * 32
    told = (
        '{"action":"ticket_blocked","actor_digest":null,"actor_id":"olga","actor_kind":"user","after":{"state":"blocked"},'
        '"approval":"","at":1001,"before":{"state":"valid"},"id":"line-1","organisation_id":"org","reason":"stolen",'
        '"request_id":"","subject_digest":null,"subject_id":"1","subject_kind":"ticket"}'
    )
    sealed = b"gatehouse:audit-line:1\0" + bytes.fromhex(zeros + "0000000000000001") + told.encode()
    assert rules.seal(rules.START, 1, line) == sha256(sealed).digest()
    assert rules.digest(SALT, "{}") == sha256(b"gatehouse:audit-person:1\0" + SALT + b"{}").digest()
    head = b"gatehouse:audit-head:1\0org\0" + bytes.fromhex("0000000000000007" + zeros + "0000000000000009")
    assert rules.head_message("org", 7, rules.START, 9) == head


def test_a_head_is_signed_for_its_chain_its_place_and_its_time() -> None:
    private, place = Ed25519PrivateKey.from_private_bytes(b"k" * 32), follow(a_chain()).place
    public = private.public_key().public_bytes_raw()
    signature = private.sign(rules.head_message("org", place.seq, place.seal, 7))
    check_signature("org", place, 7, signature, public)
    for chain, at, shown in (("rivals", 7, signature), ("org", 8, signature), ("org", 7, None), ("org", 7, b"x" * 64)):
        with pytest.raises(Untrusted):
            check_signature(chain, place, at, shown, public)
