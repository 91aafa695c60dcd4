"""Checking a chain of seals finds the first line that was tampered with."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as some

from shared.errors import Untrusted
from sync_server.audit import rules
from sync_server.audit.chain_check import (
    ChainBreak,
    ChainPosition,
    PersonalValues,
    SealedLine,
    check_chain,
    check_head,
    check_signature,
)
from tests.unit.sync_server.audit.chains import SALT, a_chain, a_line, with_address


def broken_at(lines: list[SealedLine]) -> tuple[int, str]:
    broken = check_chain(lines).broken
    assert broken is not None
    return broken.seq, broken.problem


def test_an_untouched_chain_is_intact() -> None:
    lines = a_chain()
    found = check_chain(lines)
    assert (found.place, found.broken) == (ChainPosition(5, lines[-1].seal), None)


def test_an_altered_line_is_named() -> None:
    lines = a_chain()
    lines[2] = replace(lines[2], line={**lines[2].line, "reason": "lost"})
    assert check_chain(lines).broken == ChainBreak(3, "line-3", "The line was altered or moved after it was sealed.")


def test_a_line_that_was_altered_and_resealed_breaks_the_next() -> None:
    lines = a_chain()
    altered = {**lines[2].line, "reason": "lost"}
    lines[2] = SealedLine(3, rules.seal(lines[1].seal, 3, altered), altered)
    assert broken_at(lines)[0] == 4


def test_a_removed_line_is_noticed() -> None:
    lines = a_chain()
    del lines[1]
    assert broken_at(lines) == (2, "Line 2 is missing; the next one is line 3.")


def test_two_swapped_lines_are_found() -> None:
    lines = a_chain()
    lines[1], lines[2] = replace(lines[2], seq=2), replace(lines[1], seq=3)
    assert broken_at(lines)[0] == 2


@given(some.integers(0, 4), some.sampled_from(sorted(rules.Line.__slots__)))
def test_no_field_of_a_line_can_be_changed_unnoticed(place: int, field: str) -> None:
    lines = a_chain()
    lines[place] = replace(lines[place], line={**lines[place].line, field: "something else"})
    assert broken_at(lines)[0] == place + 1


def test_a_chain_that_was_resealed_from_the_start_fails_against_a_noted_seal() -> None:
    noted = check_chain(a_chain()).place
    forged = a_chain(*(a_line(number, reason="nothing happened") for number in range(1, 6)))
    assert check_chain(forged).broken is None
    assert check_chain(forged, known=[noted]).broken is not None
    assert check_chain(a_chain(), known=[noted]).broken is None


def test_lines_cut_off_at_the_end_are_noticed_by_head_and_noted_seal() -> None:
    whole = a_chain()
    head = check_chain(whole).place
    cut = check_chain(whole[:3])
    assert cut.broken is None
    assert check_head(cut.place, head) == ChainBreak(4, None, "Lines 4 to 5 are missing at the end of the chain.")
    assert check_chain(whole[:3], known=[head]).broken is not None


def test_a_head_that_lags_differs_or_is_missing() -> None:
    found = check_chain(a_chain()).place
    assert check_head(found, found) is None
    for head in (ChainPosition(4, found.seal), ChainPosition(5, rules.INITIAL_SEAL), None):
        assert check_head(found, head) is not None
    assert check_head(ChainPosition(), None) is None


def test_a_check_continues_where_an_earlier_one_ended() -> None:
    lines = a_chain()
    assert check_chain(lines[3:], ChainPosition(3, lines[2].seal)).broken is None
    assert check_chain(lines[3:], ChainPosition(3, lines[1].seal)).broken is not None


def test_erased_values_leave_the_chain_intact_and_are_counted() -> None:
    line, personal = with_address(1)
    (sealed,) = a_chain(line)
    kept = replace(sealed, personal={"actor": personal})
    erased = replace(sealed, personal={"actor": PersonalValues(None, None, erased=True)})
    assert (check_chain([kept]).broken, check_chain([kept]).erased) == (None, 0)
    assert (check_chain([erased]).broken, check_chain([erased]).erased) == (None, 1)


@pytest.mark.parametrize(
    "personal",
    [
        {},
        {"actor": PersonalValues(SALT, rules.canonical({"ip": "192.0.2.8"}), erased=False)},
        {"actor": PersonalValues(None, None, erased=False)},
        {"actor": PersonalValues(b"t" * 16, rules.canonical({"ip": "192.0.2.7"}), erased=False)},
    ],
    ids=["gone", "altered", "emptied without an erasure", "another salt"],
)
def test_personal_values_that_were_tampered_with(personal: dict[str, PersonalValues]) -> None:
    (sealed,) = a_chain(with_address(1)[0])
    assert broken_at([replace(sealed, personal=personal)])[0] == 1


def test_personal_values_that_were_added_to_a_line_without_any() -> None:
    (sealed,) = a_chain(a_line())
    slipped = replace(sealed, personal={"subject": with_address(1)[1]})
    assert broken_at([slipped]) == (1, "Personal values were added to the line later.")


def test_the_bytes_are_as_documented() -> None:
    line, zeros = a_line().as_dict(), "00" * 32
    text = (
        '{"action":"ticket_blocked","actor_digest":null,"actor_id":"olga","actor_kind":"user","after":{"state":"blocked"},'
        '"approval":"","at":1001,"before":{"state":"valid"},"id":"line-1","organisation_id":"org","reason":"stolen",'
        '"request_id":"","subject_digest":null,"subject_id":"1","subject_kind":"ticket"}'
    )
    sealed = b"gatehouse:audit-line:1\0" + bytes.fromhex(zeros + "0000000000000001") + text.encode()
    assert rules.seal(rules.INITIAL_SEAL, 1, line) == sha256(sealed).digest()
    assert rules.digest(SALT, "{}") == sha256(b"gatehouse:audit-person:1\0" + SALT + b"{}").digest()
    head = b"gatehouse:audit-head:1\0org\0" + bytes.fromhex("0000000000000007" + zeros + "0000000000000009")
    assert rules.head_message("org", 7, rules.INITIAL_SEAL, 9) == head


def test_a_head_is_signed_for_its_chain_its_place_and_its_time() -> None:
    private, place = Ed25519PrivateKey.from_private_bytes(b"k" * 32), check_chain(a_chain()).place
    public = private.public_key().public_bytes_raw()
    signature = private.sign(rules.head_message("org", place.seq, place.seal, 7))
    check_signature("org", place, 7, signature, public)
    for chain, at, shown in (("rivals", 7, signature), ("org", 8, signature), ("org", 7, None), ("org", 7, b"x" * 64)):
        with pytest.raises(Untrusted):
            check_signature(chain, place, at, shown, public)
