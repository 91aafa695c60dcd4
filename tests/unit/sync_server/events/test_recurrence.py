"""A series keeps its local time, and ends."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from sync_server.events.series.recurrence import MAX_DATES, RecurrenceRule, starts, validated_dates

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()) * 1000


def local_starts(first: str, rule: RecurrenceRule) -> list[str]:
    found = starts(at(first), "Europe/Berlin", rule)
    return [datetime.fromtimestamp(each / 1000, UTC).astimezone(BERLIN).isoformat() for each in found]


def test_the_local_time_stays_the_same_after_the_clocks_change() -> None:
    assert local_starts("2026-10-24T20:00", RecurrenceRule(every_days=1, count=2)) == [
        "2026-10-25T20:00:00+01:00",
        "2026-10-26T20:00:00+01:00",
    ]
    assert local_starts("2027-03-27T20:00", RecurrenceRule(every_days=1, count=1)) == ["2027-03-28T20:00:00+02:00"]


def test_a_skipped_local_time_is_an_hour_later_and_a_repeated_one_is_the_first() -> None:
    assert local_starts("2027-03-27T02:30", RecurrenceRule(every_days=1, count=2)) == [
        "2027-03-28T03:30:00+02:00",
        "2027-03-29T02:30:00+02:00",
    ]
    assert local_starts("2026-10-24T02:30", RecurrenceRule(every_days=1, count=1)) == ["2026-10-25T02:30:00+02:00"]


def test_weekdays_repeat_until_a_date_inclusive() -> None:
    rule = RecurrenceRule(weekdays=(2, 5), until=date(2026, 7, 15))
    assert [wall[:10] for wall in local_starts("2026-07-04T20:00", rule)] == ["2026-07-08", "2026-07-11", "2026-07-15"]


@pytest.mark.parametrize(
    "rule", [RecurrenceRule(every_days=1, until=date(2027, 7, 4)), RecurrenceRule(every_days=1, count=101)]
)
def test_too_many_dates_are_refused(rule: RecurrenceRule) -> None:
    with pytest.raises(InvalidRequest) as refused:
        starts(at("2026-07-04T20:00"), "Europe/Berlin", rule)
    assert refused.value.error_code == "too_many_dates"


def test_no_dates_are_refused_and_the_end_of_the_calendar_ends_a_series() -> None:
    with pytest.raises(InvalidRequest):
        validated_dates([])
    with pytest.raises(InvalidRequest):
        starts(at("2026-07-04T20:00"), "Europe/Berlin", RecurrenceRule(every_days=7, until=date(2026, 7, 10)))
    assert validated_dates([3, 1, 3]) == [1, 3]


@given(st.integers(0, 4_000_000_000_000), st.integers(1, 366), st.integers(1, MAX_DATES))
def test_starts_are_increasing_and_as_many_as_requested(first: int, every: int, count: int) -> None:
    found = starts(first, "Europe/Berlin", RecurrenceRule(every_days=every, count=count))
    assert len(found) == count and [first, *found] == sorted({first, *found})
    assert all(each % 1000 == first % 1000 for each in found)
