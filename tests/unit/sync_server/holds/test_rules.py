"""The decision on the evidence of one statement: the first reason counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.errors import GatehouseError, InvalidRequest
from shared.lifecycle import EventStatus
from sync_server.holds import rules
from sync_server.holds.rules import Evidence, Limits, Outcome, Sale, judge
from tests.builders import EVENING, HOUR, MINUTE

NOW = EVENING
FREE = Evidence(
    fresh=True,
    guest_active=True,
    counter=1,
    counter_before=1,
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
LIMITS = Limits(per_booking=10, per_user=None, per_address=None)
ON_SALE = Sale(1, EventStatus.PUBLISHED, None, None, NOW + HOUR, 0, 1, None)


def decision(seen: Evidence, limits: Limits = LIMITS) -> str:
    answer = judge(seen, limits, NOW)
    return answer.error_code if isinstance(answer, GatehouseError) else answer.value


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        (replace(FREE, done=True), Outcome.HELD.value),
        (FREE, Outcome.LOST.value),  # free, and yet not ours: someone else was quicker
        (replace(FREE, fresh=False, guest_active=False), Outcome.RELOAD.value),
        (replace(FREE, guest_active=False), "unauthorized"),
        (replace(FREE, counter=None), Outcome.CREATE_COUNTER.value),
        (replace(FREE, counter=2), Outcome.RETRY_NOW.value),
        (replace(FREE, my_hold="h", my_until=NOW + 1, recent=10, state=rules.HELD), Outcome.MINE_ALREADY.value),
        (replace(FREE, recent=10, oldest=NOW, state=rules.SOLD), "rate_limited"),
        (replace(FREE, state=rules.SOLD), "seat_not_available"),
        (replace(FREE, state=rules.HELD, held_until=NOW + 1), "seat_held_by_another_user"),
        (replace(FREE, state=rules.HELD, held_until=NOW), Outcome.OVERDUE.value),
        (replace(FREE, mine=10), "too_many_seats"),
        (replace(FREE, tidy=False), Outcome.CHECK_CHOICE.value),
    ],
)
def test_the_first_reason_counts(seen: Evidence, answer: str) -> None:
    assert decision(seen) == answer


def test_limits_of_the_policy() -> None:
    assert decision(replace(FREE, mine=3), replace(LIMITS, per_user=3)) == "too_many_holds"
    assert decision(replace(FREE, from_address=3), replace(LIMITS, per_address=3)) == "rate_limited"
    no_limits = Limits(None, None, None, None)
    assert decision(replace(FREE, mine=99, recent=99, from_address=99), no_limits) == Outcome.LOST.value


def test_retry_after_runs_until_the_oldest_hold_is_five_minutes_old() -> None:
    answer = judge(replace(FREE, recent=10, oldest=NOW - 4 * MINUTE), LIMITS, NOW)
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
def test_an_event_that_is_not_on_sale_is_refused(sale: Sale, code: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        rules.check_sale(sale, NOW)
    assert refused.value.error_code == code


def test_the_sale_window_includes_both_ends() -> None:
    rules.check_sale(replace(ON_SALE, sale_start_at=NOW, sale_end_at=NOW), NOW)
    rules.check_sale(replace(ON_SALE, status=EventStatus.POSTPONED, rescheduled_at=NOW + HOUR), NOW)


def test_a_countdown_shows_whole_seconds_and_stops_at_zero() -> None:
    assert [rules.seconds_left(NOW + ms, NOW) for ms in (300_000, 1, 0, -5)] == [300, 1, 0, 0]
