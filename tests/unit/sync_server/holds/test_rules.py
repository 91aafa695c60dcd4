"""What is decided from what one statement saw; the first reason counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.errors import GatehouseError, InvalidRequest
from shared.lifecycle import EventStatus
from sync_server.holds import rules
from sync_server.holds.rules import Bounds, Evidence, Outcome, Sale, judge
from tests.builders import EVENING, HOUR, MINUTE

NOW = EVENING
FREE = Evidence(
    fresh=True,
    known=True,
    tally=1,
    tally_seen=1,
    recent=0,
    oldest=None,
    mine=0,
    my_hold=None,
    my_until=None,
    state=rules.FREE,
    held_until=None,
    from_address=0,
    pattern=0,
    tidy=True,
    done=False,
)
BOUNDS = Bounds(per_booking=10, per_user=None, per_address=None)
ON_SALE = Sale(1, EventStatus.PUBLISHED, None, None, NOW + HOUR, 0, 1, None)


def said(seen: Evidence, bounds: Bounds = BOUNDS) -> str:
    answer = judge(seen, bounds, NOW)
    return answer.error_code if isinstance(answer, GatehouseError) else answer.value


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        (replace(FREE, done=True), Outcome.HELD.value),
        (FREE, Outcome.LOST.value),  # free, and yet not ours: somebody was quicker
        (replace(FREE, fresh=False, known=False), Outcome.LOOK_ANEW.value),
        (replace(FREE, known=False), "unauthorized"),
        (replace(FREE, tally=None), Outcome.OPEN_TALLY.value),
        (replace(FREE, tally=2), Outcome.AT_ONCE.value),
        (replace(FREE, my_hold="h", my_until=NOW + 1, recent=10, state=rules.HELD), Outcome.MINE_ALREADY.value),
        (replace(FREE, recent=10, oldest=NOW, state=rules.SOLD), "rate_limited"),
        (replace(FREE, state=rules.SOLD), "seat_not_available"),
        (replace(FREE, state=rules.HELD, held_until=NOW + 1), "seat_held_by_another_user"),
        (replace(FREE, state=rules.HELD, held_until=NOW), Outcome.OVERDUE.value),
        (replace(FREE, mine=10), "too_many_seats"),
        (replace(FREE, tidy=False), Outcome.CONSIDER.value),
    ],
)
def test_the_first_reason_counts(seen: Evidence, answer: str) -> None:
    assert said(seen) == answer


def test_bounds_of_the_policy() -> None:
    assert said(replace(FREE, mine=3), replace(BOUNDS, per_user=3)) == "too_many_holds"
    assert said(replace(FREE, from_address=3), replace(BOUNDS, per_address=3)) == "rate_limited"
    nobody = Bounds(None, None, None, None)
    assert said(replace(FREE, mine=99, recent=99, from_address=99), nobody) == Outcome.LOST.value


def test_whoever_was_too_fast_waits_until_the_oldest_is_five_minutes_old() -> None:
    answer = judge(replace(FREE, recent=10, oldest=NOW - 4 * MINUTE), BOUNDS, NOW)
    assert isinstance(answer, GatehouseError) and answer.details["retry_after"] == 60


def test_pauses_double_from_ten_milliseconds() -> None:
    assert [rules.pause_ms(retry) for retry in range(rules.TRIES)] == [10, 20, 40]


@pytest.mark.parametrize(
    ("sale", "code"),
    [
        (replace(ON_SALE, status=EventStatus.DRAFT), "event_not_available"),
        (replace(ON_SALE, status=EventStatus.ENDED), "event_not_available"),
        (replace(ON_SALE, status=EventStatus.POSTPONED), "event_not_available"),
        (replace(ON_SALE, status=EventStatus.CANCELLED), "event_unavailable"),
        (replace(ON_SALE, status=EventStatus.ARCHIVED), "event_unavailable"),
        (replace(ON_SALE, sale_start_at=NOW + 1), "event_sales_closed"),
        (replace(ON_SALE, sale_end_at=NOW - 1), "event_sales_closed"),
    ],
)
def test_an_event_that_sells_nothing_now(sale: Sale, code: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        rules.check_sale(sale, NOW)
    assert refused.value.error_code == code


def test_both_ends_of_the_sale_window_belong_to_it() -> None:
    rules.check_sale(replace(ON_SALE, sale_start_at=NOW, sale_end_at=NOW), NOW)
    rules.check_sale(replace(ON_SALE, status=EventStatus.POSTPONED, rescheduled_at=NOW + HOUR), NOW)


def test_a_countdown_shows_whole_seconds_and_never_less_than_none() -> None:
    assert [rules.seconds_left(NOW + ms, NOW) for ms in (300_000, 1, 0, -5)] == [300, 1, 0, 0]
