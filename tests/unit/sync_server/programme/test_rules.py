"""Until when an event is listed, and how much it trends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.lifecycle import ALLOWS, EventStatus
from sync_server.programme.rules import DAY, EVER, HOUR, NEVER, UNDATED_FOR, Plan, listed_until, score, starts_at

S = EventStatus
START, END = 100 * DAY, 100 * DAY + 4 * HOUR


@pytest.mark.parametrize("status", [status for status in EventStatus if not ALLOWS[status].show])
def test_what_visitors_may_not_see_is_never_listed(status: EventStatus) -> None:
    assert listed_until(Plan(status, START, END)) == NEVER
    assert listed_until(Plan(status, START, END, rescheduled_at=START + DAY)) == NEVER


@pytest.mark.parametrize(
    ("plan", "start", "until"),
    [
        (Plan(S.PUBLISHED, START, END), START, END),
        (Plan(S.PUBLISHED, START, END, end_at_auto=END + HOUR), START, END),
        (Plan(S.LIVE, START, END), START, EVER),
        (Plan(S.LIVE, START, END, end_at_auto=END + HOUR), START, END + HOUR),
        (Plan(S.POSTPONED, START, END), START, END + UNDATED_FOR),
        (Plan(S.POSTPONED, START, END, rescheduled_at=START + 9 * DAY), START + 9 * DAY, END + 9 * DAY),
    ],
)
def test_an_event_is_listed_as_long_as_it_is_to_come_or_goes_on(plan: Plan, start: int, until: int) -> None:
    assert (starts_at(plan), listed_until(plan)) == (start, until)


NOW = 1_000 * HOUR


def test_interest_of_a_day_ago_counts_half_and_a_start_in_a_week_halves_it() -> None:
    present = NOW // HOUR
    assert score([(present, 8)], NOW, NOW) == 8
    assert score([(present - 24, 8)], NOW, NOW) == pytest.approx(4)
    assert score([(present, 8)], NOW + 7 * DAY, NOW) == pytest.approx(4)
    assert score([(present, 8)], NOW - DAY, NOW) == 8  # goes on: nearer than near it does not get
    assert score([(present, 3), (present - 24, 2)], NOW, NOW) == pytest.approx(4)
    assert score([], NOW, NOW) == 0


@given(
    weight=st.integers(1, 10_000),
    more=st.integers(1, 100),
    ago=st.integers(0, 71),
    start=st.integers(NOW, NOW + 400 * DAY),
    later=st.integers(HOUR, 100 * DAY),
)
def test_more_newer_and_nearer_never_trend_less(weight: int, more: int, ago: int, start: int, later: int) -> None:
    hour = NOW // HOUR - ago
    plain = score([(hour, weight)], start, NOW)
    assert score([(hour, weight + more)], start, NOW) > plain
    assert score([(hour - 1, weight)], start, NOW) < plain
    assert score([(hour, weight)], start + later, NOW) < plain
