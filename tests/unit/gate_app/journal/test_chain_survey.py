"""Lost entries are found from the remaining ones."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gate_app.journal.chain_survey import ChainSurvey, LostRange
from shared.journal.scans import GENESIS, EntryKind, decode, encode, entry_hash
from tests.unit.shared.wire_builders import an_entry

DEVICE, BRANCH = 4, 1


def a_chain(length: int) -> dict[int, bytes]:
    """Bodies by their places."""
    bodies: dict[int, bytes] = {}
    head = GENESIS
    for seq in range(1, length + 1):
        bodies[seq] = encode(an_entry(device=DEVICE, branch=BRANCH, seq=seq, previous=head))
        head = entry_hash(bodies[seq])
    return bodies


def surveyed(bodies: dict[int, bytes]) -> ChainSurvey:
    survey = ChainSurvey(DEVICE, BRANCH, 0, GENESIS)
    for seq in sorted(bodies):
        survey.meet(seq, bodies[seq])
    return survey


def altered(body: bytes, **changes: object) -> bytes:
    return encode(replace(decode(body), **changes))  # type: ignore[arg-type]  # fields of Entry


def test_a_whole_chain_has_lost_nothing() -> None:
    survey = surveyed(a_chain(9))
    assert (survey.entries, survey.broken_at, survey.lost) == (9, None, [])


@pytest.mark.parametrize(
    ("gone", "lost"), [({4}, [(4, 4)]), ({4, 5, 6}, [(4, 6)]), ({1}, [(1, 1)]), ({2, 7, 8}, [(2, 2), (7, 8)])]
)
def test_missing_entries_are_lost(gone: set[int], lost: list[LostRange]) -> None:
    bodies = {seq: body for seq, body in a_chain(9).items() if seq not in gone}
    survey = surveyed(bodies)
    assert (survey.lost, survey.entries) == (lost, 9 - len(gone))


@pytest.mark.parametrize("seq", [1, 5, 9])
def test_unreadable_bytes_are_lost_wherever_they_stand(seq: int) -> None:
    survey = surveyed(a_chain(9) | {seq: b"\xc1"})
    assert (survey.lost, survey.broken_at) == ([(seq, seq)], seq)


def test_an_entry_of_another_place_is_lost() -> None:
    bodies = a_chain(9)
    assert surveyed(bodies | {5: bodies[4]}).lost == [(5, 5)]


def test_an_altered_entry_is_lost_where_the_one_behind_it_is_vouched_for() -> None:
    bodies = a_chain(9)
    assert surveyed(bodies | {5: altered(bodies[5], reason="exited")}).lost == [(5, 5)]


def test_an_entry_whose_word_for_the_one_before_was_altered_is_lost_itself() -> None:
    bodies = a_chain(9)
    assert surveyed(bodies | {5: altered(bodies[5], previous=bytes(32))}).lost == [(5, 5)]


def test_between_the_last_two_nobody_can_say_which_was_altered() -> None:
    bodies = a_chain(9)
    survey = surveyed(bodies | {8: altered(bodies[8], reason="exited")})
    assert (survey.broken_at, survey.lost) == (9, [])


def test_a_gap_at_the_end_of_a_branch_is_no_damage_of_its_own() -> None:
    bodies = {seq: body for seq, body in a_chain(9).items() if seq not in (4, 5)}
    gap = an_entry(
        device=DEVICE,
        branch=BRANCH,
        seq=10,
        kind=EntryKind.GAP,
        previous=entry_hash(bodies[3]),
        details={"first": 4, "last": 5},
    )
    assert surveyed(bodies | {10: encode(gap)}).lost == [(4, 5)]
