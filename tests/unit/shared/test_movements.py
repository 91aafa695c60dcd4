"""Everybody's movements become one ticket's history."""

from __future__ import annotations

from itertools import permutations

import pytest

from shared.attempts import Direction
from shared.movements import NEVER_CAME, attendance, inside_by, passages, span_of_today
from shared.wire.snapshot import EventDay, Movement, MovementKind
from tests.unit.shared.attempt_builders import FLOOR, TICKET, an_event, entered, left, ms

CODE, OTHER_CODE = b"c" * 16, b"d" * 16
ENTRY, EXIT, ANNULMENT = MovementKind.ENTRY, MovementKind.EXIT, MovementKind.ANNULMENT


def moved(
    time: str = "19:00",
    kind: MovementKind = ENTRY,
    *,
    device: int = 1,
    branch: int = 0,
    seq: int = 1,
    issue: int = 1,
    code: bytes = CODE,
    gate: int = 1,
    annuls: tuple[int, int, int] | None = None,
) -> Movement:
    return Movement(device, branch, seq, kind, TICKET, issue, code, ms(time), gate, FLOOR, annuls)


def test_a_movement_heard_from_server_and_peer_counts_once() -> None:
    assert len(passages([moved(), moved(), moved(device=2)], CODE, 1).passages) == 2


def test_history_is_in_order_of_time_then_device_then_count() -> None:
    time = [moved("19:10"), moved("19:00", device=2, seq=1), moved("19:00", device=1, seq=5)]
    expected = [("19:00", 1), ("19:00", 2), ("19:10", 1)]
    for order in permutations(time):
        found = passages(order, CODE, 1).passages
        assert [(one.at, one.device) for one in found] == [(ms(at), device) for at, device in expected]


def test_directions_gates_and_zones_come_through() -> None:
    found = passages([moved("19:00", gate=4), moved("19:10", EXIT, seq=2, gate=5)], CODE, 1).passages
    assert [(one.direction, one.gate, one.zone) for one in found] == [
        (Direction.ENTRY, 4, FLOOR),
        (Direction.EXIT, 5, FLOOR),
    ]


def test_what_was_annulled_is_left_out_whoever_annulled_it() -> None:
    annulled = [moved(), moved("19:05", ANNULMENT, device=9, seq=3, annuls=(1, 0, 1)), moved("19:10", seq=2)]
    for order in permutations(annulled):
        assert [one.seq for one in passages(order, CODE, 1).passages] == [2]


def test_an_annulment_names_branch_and_device_exactly() -> None:
    another = moved("19:05", ANNULMENT, seq=3, annuls=(1, 1, 1))
    assert len(passages([moved(), another], CODE, 1).passages) == 1


def test_a_movement_made_with_another_code_of_the_same_issue_is_foreign() -> None:
    found = passages([moved(), moved(device=2, code=OTHER_CODE)], CODE, 1)
    assert [one.device for one in found.passages] == [1]
    assert [one.device for one in found.foreign] == [2]


def test_a_ticket_used_before_it_was_transferred_stays_used() -> None:
    found = passages([moved(issue=1, code=OTHER_CODE)], CODE, 2)
    assert len(found.passages) == 1
    assert found.foreign == ()


@pytest.mark.parametrize(("shown", "written"), [(None, CODE), (CODE, b""), (b"", CODE)])
def test_what_was_typed_by_hand_has_no_code_to_compare(shown: bytes | None, written: bytes) -> None:
    assert len(passages([moved(code=written)], shown, 1).passages) == 1


def test_of_two_that_claim_one_identity_the_later_counts_whichever_was_heard_first() -> None:
    fork = [moved("19:00", gate=1), moved("19:30", gate=2)]
    assert [passages(order, CODE, 1).passages[0].gate for order in permutations(fork)] == [2, 2]


def test_kinds_of_movement_that_this_program_does_not_know_are_passed_over() -> None:
    assert passages([moved(kind=99)], CODE, 1).passages == ()  # as a newer server may send it


# --- Who is inside ---

FRIDAY = EventDay("2026-07-03", ms("2026-07-03T05:00:00+02:00"), ms("05:00"))
SATURDAY = EventDay("2026-07-04", ms("05:00"), ms("2026-07-05T05:00:00+02:00"))
MONDAY = EventDay("2026-07-06", ms("2026-07-06T05:00:00+02:00"), ms("2026-07-07T05:00:00+02:00"))
DAYS = (FRIDAY, SATURDAY, MONDAY)


def test_nobody_came_yet() -> None:
    assert attendance((), an_event(), ms("19:30")) is NEVER_CAME


def test_inside_by_tells_gate_and_zone_of_the_latest_entry() -> None:
    history = (entered("18:00", gate=1), left("18:30"), entered("19:00", gate=2, seq=3))
    came = inside_by(history, an_event(), ms("19:30"))
    assert came is not None
    assert came.gate == 2
    assert inside_by((*history, left("19:10", seq=4)), an_event(), ms("19:30")) is None


def test_the_cut_over_resets_the_count_unless_the_event_says_otherwise() -> None:
    yesterday = (entered("2026-07-03T22:00:00+02:00"),)
    assert inside_by(yesterday, an_event(days=DAYS), ms("19:30")) is None
    assert inside_by(yesterday, an_event(days=DAYS, cutover_empties=False), ms("19:30")) is not None


def test_todays_entries_are_those_of_the_event_day_that_contains_now() -> None:
    history = (entered("04:59"), entered("05:00", seq=2), entered("19:00", seq=3))
    found = attendance(history, an_event(days=DAYS), ms("19:30"))
    assert [one.seq for one in found.today] == [2, 3]
    assert len(found.entries) == 3


@pytest.mark.parametrize(
    ("now", "span"),
    [
        ("2026-07-03T04:59:59+02:00", (None, FRIDAY.start)),
        ("2026-07-03T05:00:00+02:00", (FRIDAY.start, FRIDAY.until)),
        ("2026-07-05T12:00:00+02:00", (SATURDAY.until, MONDAY.start)),
        ("2026-07-08T12:00:00+02:00", (MONDAY.until, None)),
    ],
)
def test_today_is_an_event_day_or_the_gap_between_two(now: str, span: tuple[int | None, int | None]) -> None:
    start, until = span_of_today(DAYS, ms(now))
    assert span == (None if start < 0 else start, None if until > 1 << 60 else until)


@pytest.mark.parametrize(
    ("came", "now", "may_leave"),
    [
        ("2026-07-03T22:00:00+02:00", "05:30", True),  # the day before
        ("2026-07-03T22:00:00+02:00", "2026-07-05T12:00:00+02:00", False),  # two days before
        ("2026-07-04T22:00:00+02:00", "2026-07-06T12:00:00+02:00", True),  # Sunday off: Saturday is the day before
        ("2026-07-06T22:00:00+02:00", "2026-07-07T05:30:00+02:00", True),  # after the last cut-over
        ("2026-07-02T22:00:00+02:00", "2026-07-03T05:30:00+02:00", True),  # the evening before the first day
    ],
)
def test_leaving_after_the_cut_over(came: str, now: str, may_leave: bool) -> None:
    assert attendance((entered(came),), an_event(days=DAYS), ms(now)).may_leave is may_leave
