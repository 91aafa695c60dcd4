"""The same ticket again a moment later is a repeat; anything else is a new presentation."""

from __future__ import annotations

import pytest
from msgspec import structs

from gate_app.scanning.lane import Lane, Owed, Shown

TICKET = ("ticket", 7, 4711, 1)
SHOWN = Shown(TICKET, "left", "entry", "real", 1)
ANSWER = {"verdict": "admit", "seq": 9}


def a_lane(at: int = 1_000) -> Lane:
    lane = Lane()
    lane.remember(SHOWN, at, ANSWER)
    return lane


def test_the_same_ticket_within_five_seconds_is_a_repeat() -> None:
    assert a_lane(1_000).again(SHOWN, 5_999, 5_000) is ANSWER


def test_after_five_seconds_it_is_judged_anew() -> None:
    assert a_lane(1_000).again(SHOWN, 6_000, 5_000) is None


def test_repeats_do_not_push_the_limit_further_away() -> None:
    lane = a_lane(1_000)
    assert lane.again(SHOWN, 5_000, 5_000) is ANSWER
    assert lane.again(SHOWN, 6_500, 5_000) is None


@pytest.mark.parametrize(
    "other",
    [
        structs.replace(SHOWN, reader="right"),
        structs.replace(SHOWN, direction="exit"),
        structs.replace(SHOWN, mode="test"),
        structs.replace(SHOWN, gate=2),
        structs.replace(SHOWN, code=("ticket", 7, 4711, 2)),
        structs.replace(SHOWN, code=("ticket", 8, 4711, 1)),
    ],
)
def test_any_other_presentation_is_judged(other: Shown) -> None:
    assert a_lane().again(other, 1_001, 5_000) is None


def test_another_code_read_in_between_ends_the_repeat() -> None:
    lane = a_lane(1_000)
    lane.remember(structs.replace(SHOWN, code=("text", "poster")), 1_500, {"verdict": "deny"})
    assert lane.again(SHOWN, 2_000, 5_000) is None


def test_another_reader_in_between_does_not() -> None:
    lane = a_lane(1_000)
    lane.remember(structs.replace(SHOWN, reader="right", code=("ticket", 7, 1, 1)), 1_500, {"verdict": "deny"})
    assert lane.again(SHOWN, 2_000, 5_000) is ANSWER


def test_a_clock_that_ran_backwards_repeats_nothing() -> None:
    assert a_lane(1_000).again(SHOWN, 999, 5_000) is None


OWED = Owed(4711, 1, "entry", "real", until=121_000, answer=ANSWER)


def test_an_admission_whose_lamp_nobody_saw_is_given_once_at_any_reader() -> None:
    lane = Lane((OWED,))
    assert lane.settle(structs.replace(SHOWN, reader="right"), 2_000) is ANSWER
    assert lane.settle(SHOWN, 2_001) is None


def test_it_is_owed_for_two_minutes_only() -> None:
    assert Lane((OWED,)).settle(SHOWN, 121_000) is None


@pytest.mark.parametrize(
    "other",
    [
        structs.replace(SHOWN, direction="exit"),
        structs.replace(SHOWN, mode="test"),
        structs.replace(SHOWN, code=("ticket", 7, 4712, 1)),
        structs.replace(SHOWN, code=("ticket", 7, 4711, 2)),
        structs.replace(SHOWN, code=("text", "4711")),
    ],
)
def test_it_is_owed_to_nobody_else(other: Shown) -> None:
    lane = Lane((OWED,))
    assert lane.settle(other, 2_000) is None
    assert lane.settle(SHOWN, 2_000) is ANSWER
