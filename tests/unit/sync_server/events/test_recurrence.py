"""A series keeps its hour on the wall, and ends."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from sync_server.events.recurrence import AT_MOST, Rule, checked, starts

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()) * 1000


def walls(first: str, rule: Rule) -> list[str]:
    found = starts(at(first), "Europe/Berlin", rule)
    return [datetime.fromtimestamp(each / 1000, UTC).astimezone(BERLIN).isoformat() for each in found]


def test_it_goes_on_at_the_same_hour_after_the_clocks_change() -> None:
    assert walls("2026-10-24T20:00", Rule(every_days=1, count=2)) == [
        "2026-10-25T20:00:00+01:00",
        "2026-10-26T20:00:00+01:00",
    ]
    assert walls("2027-03-27T20:00", Rule(every_days=1, count=1)) == ["2027-03-28T20:00:00+02:00"]


def test_an_hour_that_the_clocks_leave_out_comes_an_hour_later_and_one_that_comes_twice_is_the_first() -> None:
    assert walls("2027-03-27T02:30", Rule(every_days=1, count=2)) == [
        "2027-03-28T03:30:00+02:00",
        "2027-03-29T02:30:00+02:00",
    ]
    assert walls("2026-10-24T02:30", Rule(every_days=1, count=1)) == ["2026-10-25T02:30:00+02:00"]


def test_days_of_the_week_go_on_until_a_date_that_belongs_to_it() -> None:
    rule = Rule(weekdays=(2, 5), until=date(2026, 7, 15))
    assert [wall[:10] for wall in walls("2026-07-04T20:00", rule)] == ["2026-07-08", "2026-07-11", "2026-07-15"]


@pytest.mark.parametrize("rule", [Rule(every_days=1, until=date(2027, 7, 4)), Rule(every_days=1, count=101)])
def test_too_many_are_refused(rule: Rule) -> None:
    with pytest.raises(InvalidRequest) as refused:
        starts(at("2026-07-04T20:00"), "Europe/Berlin", rule)
    assert refused.value.error_code == "too_many_dates"


def test_none_are_refused_and_the_end_of_the_calendar_ends_it() -> None:
    with pytest.raises(InvalidRequest):
        checked([])
    with pytest.raises(InvalidRequest):
        starts(at("2026-07-04T20:00"), "Europe/Berlin", Rule(every_days=7, until=date(2026, 7, 10)))
    assert checked([3, 1, 3]) == [1, 3]


@given(st.integers(0, 4_000_000_000_000), st.integers(1, 366), st.integers(1, AT_MOST))
def test_every_start_is_later_than_the_one_before_and_there_are_as_many_as_asked(
    first: int, every: int, count: int
) -> None:
    found = starts(first, "Europe/Berlin", Rule(every_days=every, count=count))
    assert len(found) == count and [first, *found] == sorted({first, *found})
    assert all(each % 1000 == first % 1000 for each in found)
