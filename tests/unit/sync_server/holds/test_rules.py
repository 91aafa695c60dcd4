"""The decision on the evidence of one statement: the first reason counts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from msgspec import structs

from shared.errors import GatehouseError, InvalidRequest
from shared.lifecycle import EventStatus
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds import rules
from sync_server.holds.attempts.evidence import StatementRow
from sync_server.holds.rules import Asked, Evidence, Limits, Outcome, Sale, judge
from sync_server.seating.plans.layout_seats import Seat
from tests.builders import EVENING, HOUR, MINUTE

NOW = EVENING
LIMITS = Limits(per_booking=10, per_user=None, per_address=None, per_card=None)
ON_SALE = Sale(1, EventStatus.PUBLISHED, None, None, NOW + HOUR, 0, 1, None)


SEAT = Seat(7, "s7", "A-7", 1, "", "A", "7")
ONE_DAY = ChosenDays(("2026-07-04",))
READ = StatementRow(
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
    with_card=0,
    tidy=True,
    done=False,
)


def decision(read: StatementRow, limits: Limits = LIMITS) -> str:
    answer = judge(Asked(ON_SALE, NOW, limits), read.evidence(SEAT, ONE_DAY, None, NOW))
    return answer.error_code if isinstance(answer, GatehouseError) else answer.value if answer else ""


@pytest.mark.parametrize(
    ("read", "answer"),
    [
        (READ, ""),
        (READ._replace(fresh=False, guest_active=False), Outcome.RELOAD.value),
        (READ._replace(guest_active=False, recent=10), "unauthorized"),
        (READ._replace(counter=None), Outcome.CREATE_COUNTER.value),
        (READ._replace(counter=2), Outcome.RETRY_NOW.value),
        (READ._replace(my_hold="h", my_until=NOW + 1, recent=10, state=rules.HELD), Outcome.MINE_ALREADY.value),
        (READ._replace(recent=10, oldest=NOW, state=rules.SOLD), "seat_not_available"),
        (READ._replace(recent=10, mine=10), "rate_limited"),
        (READ._replace(state=rules.HELD, held_until=NOW + 1, mine=10), "seat_held_by_another_user"),
        (READ._replace(state=rules.HELD, held_until=NOW), Outcome.OVERDUE.value),
        (READ._replace(mine=10, tidy=False), "too_many_seats"),
        (READ._replace(tidy=False), Outcome.CHECK_CHOICE.value),
    ],
)
def test_the_first_reason_counts(read: StatementRow, answer: str) -> None:
    assert decision(read) == answer


def test_limits_of_the_policy() -> None:
    assert decision(READ._replace(mine=3), structs.replace(LIMITS, per_user=3)) == "too_many_holds"
    assert decision(READ._replace(from_address=3), structs.replace(LIMITS, per_address=3)) == "rate_limited"
    assert decision(READ._replace(with_card=3), structs.replace(LIMITS, per_card=3)) == "too_many_holds_with_card"
    assert decision(READ._replace(mine=99, recent=99, from_address=99, with_card=99), rules.UNLIMITED) == ""


def test_the_statement_writes_exactly_where_no_reason_applies() -> None:
    """Every pair of changes to the evidence, by the SQL beside the reasons and by their predicates."""
    changes: list[dict[str, Any]] = [
        *({"fresh": False}, {"guest_active": False}, {"counter": None}, {"counter": 2}, {"tidy": False}),
        *({name: number} for name in ("recent", "mine", "from_address", "with_card") for number in (1, 2, 3)),
        *({"state": rules.HELD, "held_until": NOW + ms} for ms in (-1, 0, 1)),
        *({"state": rules.SOLD}, {"my_hold": "h", "my_until": NOW + 1}, {}),
    ]
    limits = [rules.UNLIMITED, *(Limits(*(2 if at == limit else None for at in range(5))) for limit in range(5))]
    with closing(sqlite3.connect(":memory:")) as database:
        for first, second, limit in product(changes, changes, limits):
            read = READ._replace(**first | second)
            assert _goes_on(database, read, limit) == (decision(read, limit) == ""), (read, limit)


def _goes_on(database: sqlite3.Connection, read: StatementRow, limits: Limits) -> bool:
    values = read._asdict() | {
        "now": NOW,
        **{name: -1 if n is None else n for name, n in structs.asdict(limits).items()},
    }
    columns = ", ".join(f":{name} AS {name}" for name in read._fields)
    passed = " AND ".join(reason.passed for reason in rules.REASONS if reason.passed)
    return bool(database.execute(f"SELECT {passed} FROM (SELECT {columns})", values).fetchone()[0])


@pytest.mark.parametrize(("present", "more", "refused"), [(0, 1, False), (1, 1, True), (0, 2, True), (1, 0, False)])
def test_a_membership_admits_one_guest(present: int, more: int, refused: bool) -> None:
    answer = judge(Asked(ON_SALE, NOW, LIMITS), Evidence(members=present, more_members=more))
    assert isinstance(answer, GatehouseError) == refused
    if isinstance(answer, GatehouseError):
        assert answer.error_code == "membership_in_use"


def test_retry_after_runs_until_the_oldest_hold_is_five_minutes_old() -> None:
    answer = judge(Asked(ON_SALE, NOW, LIMITS), Evidence(recent=10, oldest=NOW - 4 * MINUTE))
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
        rules.require(Asked(sale, NOW))
    assert refused.value.error_code == code


def test_the_sale_window_includes_both_ends() -> None:
    rules.require(Asked(replace(ON_SALE, sale_start_at=NOW, sale_end_at=NOW), NOW))
    rules.require(Asked(replace(ON_SALE, status=EventStatus.POSTPONED, rescheduled_at=NOW + HOUR), NOW))


def test_a_countdown_shows_whole_seconds_and_stops_at_zero() -> None:
    assert [rules.seconds_left(NOW + ms, NOW) for ms in (300_000, 1, 0, -5)] == [300, 1, 0, 0]
