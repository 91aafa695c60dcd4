"""People inside zones and gates, counted from movements in any order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.admission import Direction, Passage
from shared.wire.rows import EventDay
from sync_server.scans.attendance.basis import rules_of
from sync_server.scans.attendance.moves import Crowd, by_gate, by_zone, crowd
from sync_server.scans.attendance.steps import Step, pack, unpack
from tests.unit.shared.wire_builders import EIGHT, HOUR, an_event_row

LATE = EIGHT + 8 * HOUR
EVENT = rules_of(an_event_row())


def a_step(
    ticket: int, minute: int, direction: Direction = Direction.ENTRY, *, zone: int = 1, again: bool = False
) -> Step:
    return Step(ticket, Passage(EIGHT + minute * 60_000, 4, 1, minute + 1, direction, 2, zone), duplicate=again)


def inside(*steps: Step, now: int = LATE) -> dict[int, int]:
    return dict(crowd(steps, by_zone, {}, EVENT, now).inside)


def beyond(counted: Crowd) -> list[int]:
    """The tickets that went into a full place."""
    return [move.ticket for move in counted.too_many]


def test_a_guest_is_inside_until_they_leave() -> None:
    assert inside(a_step(1, 0), a_step(2, 1)) == {1: 2}
    assert inside(a_step(1, 0), a_step(2, 1), a_step(1, 2, Direction.EXIT)) == {1: 1}


def test_a_duplicate_is_another_person_and_each_leaves_once() -> None:
    two = (a_step(1, 0), a_step(1, 1, again=True))
    out = [a_step(1, minute, Direction.EXIT) for minute in (2, 3, 4)]
    assert [inside(*two, *out[:left]) for left in range(4)] == [{1: 2}, {1: 1}, {}, {}]


def test_entering_again_elsewhere_is_the_same_person() -> None:
    assert inside(a_step(1, 0, zone=1), a_step(1, 5, zone=2)) == {2: 1}
    assert dict(crowd([a_step(1, 0), a_step(1, 5, zone=2)], by_gate, {}, EVENT, LATE).inside) == {2: 1}


def test_the_cut_over_empties_the_venue_unless_the_event_says_otherwise() -> None:
    days = (
        EventDay("2026-07-03", EIGHT - 15 * HOUR, EIGHT + 9 * HOUR),
        EventDay("2026-07-04", EIGHT + 9 * HOUR, 2**42),
    )
    two_days = rules_of(an_event_row(days=days))
    overnight = rules_of(an_event_row(days=days, cutover_empties=False))
    tomorrow = EIGHT + 12 * HOUR
    assert dict(crowd([a_step(1, 0)], by_zone, {}, two_days, tomorrow).inside) == {}
    assert dict(crowd([a_step(1, 0)], by_zone, {}, overnight, tomorrow).inside) == {1: 1}


def test_who_leaves_after_the_cut_over_had_left_already() -> None:
    days = (
        EventDay("2026-07-03", EIGHT - 15 * HOUR, EIGHT + 9 * HOUR),
        EventDay("2026-07-04", EIGHT + 9 * HOUR, 2**42),
    )
    two_days = rules_of(an_event_row(days=days))
    late = [a_step(1, 0), a_step(1, 12 * 60, Direction.EXIT), a_step(2, 13 * 60)]
    assert dict(crowd(late, by_zone, {}, two_days, EIGHT + 14 * HOUR).inside) == {1: 1}


def test_entries_before_the_venue_was_emptied_do_not_count() -> None:
    emptied = rules_of(an_event_row(counts_from=EIGHT + 60_000))
    assert dict(crowd([a_step(1, 0), a_step(2, 1)], by_zone, {}, emptied, LATE).inside) == {1: 1}


def test_the_entry_beyond_capacity_is_reported_and_counted() -> None:
    steps = [a_step(ticket, ticket) for ticket in range(1, 5)]
    counted = crowd(steps, by_zone, {1: 3}, EVENT, LATE)
    assert (beyond(counted), dict(counted.inside)) == ([4], {1: 4})


def test_an_exit_makes_room() -> None:
    steps = [a_step(1, 0), a_step(2, 1), a_step(1, 2, Direction.EXIT), a_step(3, 3)]
    assert crowd(steps, by_zone, {1: 2}, EVENT, LATE).too_many == ()


@pytest.mark.parametrize("limit", [0, 1])
def test_a_place_without_room_is_full_from_the_first(limit: int) -> None:
    steps = [a_step(1, 0), a_step(2, 1)]
    assert beyond(crowd(steps, by_zone, {1: limit}, EVENT, LATE)) == [1, 2][limit:]


STEPS = st.builds(
    a_step,
    st.integers(1, 4),
    st.integers(0, 50),
    st.sampled_from(Direction),
    zone=st.integers(0, 2),
    again=st.booleans(),
)


@given(st.lists(STEPS, max_size=20, unique_by=lambda step: step.passage.seq), st.randoms())
def test_the_order_of_arrival_does_not_matter(steps: list[Step], dice: object) -> None:
    expected: Crowd = crowd(steps, by_zone, {1: 2}, EVENT, LATE)
    mixed = list(steps)
    dice.shuffle(mixed)  # type: ignore[attr-defined]  # a random.Random
    again = crowd(mixed, by_zone, {1: 2}, EVENT, LATE)
    assert (dict(again.inside), again.too_many) == (dict(expected.inside), expected.too_many)
    assert all(bodies > 0 for bodies in again.inside.values())


@given(st.lists(STEPS, max_size=5))
def test_steps_are_stored_as_they_are(steps: list[Step]) -> None:
    mine = [step for step in steps if step.ticket_id == 1]
    assert unpack(1, pack(mine)) == mine
