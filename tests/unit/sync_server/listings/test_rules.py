"""How long an event is listed, and its trending score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.lifecycle import ALLOWS, EventStatus
from sync_server.listings.rules import (
    DAY,
    FOREVER,
    HOUR,
    NEVER,
    UNDATED_LISTED_MS,
    ListingTimes,
    listed_until,
    score,
    starts_at,
)

S = EventStatus
START, END = 100 * DAY, 100 * DAY + 4 * HOUR


@pytest.mark.parametrize("status", [status for status in EventStatus if not ALLOWS[status].show])
def test_hidden_events_are_never_listed(status: EventStatus) -> None:
    assert listed_until(ListingTimes(status, START, END)) == NEVER
    assert listed_until(ListingTimes(status, START, END, rescheduled_at=START + DAY)) == NEVER


@pytest.mark.parametrize(
    ("event", "start", "until"),
    [
        (ListingTimes(S.PUBLISHED, START, END), START, END),
        (ListingTimes(S.PUBLISHED, START, END, end_at_auto=END + HOUR), START, END),
        (ListingTimes(S.LIVE, START, END), START, FOREVER),
        (ListingTimes(S.LIVE, START, END, end_at_auto=END + HOUR), START, END + HOUR),
        (ListingTimes(S.POSTPONED, START, END), START, END + UNDATED_LISTED_MS),
        (ListingTimes(S.POSTPONED, START, END, rescheduled_at=START + 9 * DAY), START + 9 * DAY, END + 9 * DAY),
    ],
)
def test_event_is_listed_until_it_is_over(event: ListingTimes, start: int, until: int) -> None:
    assert (starts_at(event), listed_until(event)) == (start, until)


NOW = 1_000 * HOUR


def test_score_halves_with_a_day_of_age_and_with_a_week_to_the_start() -> None:
    present = NOW // HOUR
    assert score([(present, 8)], NOW, NOW) == 8
    assert score([(present - 24, 8)], NOW, NOW) == pytest.approx(4)
    assert score([(present, 8)], NOW + 7 * DAY, NOW) == pytest.approx(4)
    assert score([(present, 8)], NOW - DAY, NOW) == 8  # already started: no further bonus
    assert score([(present, 3), (present - 24, 2)], NOW, NOW) == pytest.approx(4)
    assert score([], NOW, NOW) == 0


@given(
    weight=st.integers(1, 10_000),
    more=st.integers(1, 100),
    ago=st.integers(0, 71),
    start=st.integers(NOW, NOW + 400 * DAY),
    later=st.integers(HOUR, 100 * DAY),
)
def test_more_newer_and_nearer_scores_higher(weight: int, more: int, ago: int, start: int, later: int) -> None:
    hour = NOW // HOUR - ago
    plain = score([(hour, weight)], start, NOW)
    assert score([(hour, weight + more)], start, NOW) > plain
    assert score([(hour - 1, weight)], start, NOW) < plain
    assert score([(hour, weight)], start + later, NOW) < plain
