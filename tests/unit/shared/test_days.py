"""Event days: where a night belongs, also when the clocks are changed."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.days import LONGEST, cutover, event_days
from shared.errors import InvalidRequest
from tests.unit.shared.attempt_builders import ms

HOUR = 3_600_000
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
)


def test_a_concert_past_midnight_is_one_event_day() -> None:
    (day,) = event_days(ms("20:00"), ms("2026-07-05T02:00:00+02:00"), "Europe/Berlin")
    assert (day.date, day.start, day.until) == ("2026-07-04", ms("05:00"), ms("2026-07-05T05:00:00+02:00"))


def test_a_festival_has_a_day_for_each_date() -> None:
    days = event_days(ms("2026-07-03T16:00:00+02:00"), ms("2026-07-05T23:00:00+02:00"), "Europe/Berlin")
    assert [day.date for day in days] == ["2026-07-03", "2026-07-04", "2026-07-05"]


@pytest.mark.parametrize(
    ("start", "end", "dates"),
    [
        ("2026-07-04T04:59:00+02:00", "2026-07-04T05:00:00+02:00", ["2026-07-03"]),
        ("2026-07-04T05:00:00+02:00", "2026-07-04T06:00:00+02:00", ["2026-07-04"]),
        ("2026-07-04T20:00:00+02:00", "2026-07-05T05:00:00+02:00", ["2026-07-04"]),
        ("2026-07-04T20:00:00+02:00", "2026-07-05T05:00:01+02:00", ["2026-07-04", "2026-07-05"]),
        ("2026-07-04T20:00:00+02:00", "2026-07-04T20:00:00+02:00", ["2026-07-04"]),
    ],
)
def test_the_cut_over_itself_opens_the_new_day(start: str, end: str, dates: list[str]) -> None:
    assert [day.date for day in event_days(ms(start), ms(end), "Europe/Berlin")] == dates


@pytest.mark.parametrize(
    ("day", "zone", "hour", "instant"),
    [
        (date(2026, 3, 29), "Europe/Berlin", 2, "2026-03-29T01:00:00+00:00"),  # 02:00 does not occur: the jump
        (date(2026, 3, 29), "Europe/Berlin", 3, "2026-03-29T01:00:00+00:00"),  # 03:00 is what the jump leads to
        (date(2026, 3, 29), "Europe/Berlin", 5, "2026-03-29T03:00:00+00:00"),
        (date(2026, 10, 25), "Europe/Berlin", 2, "2026-10-25T00:00:00+00:00"),  # twice: the first
        (date(2026, 10, 25), "Europe/Berlin", 3, "2026-10-25T02:00:00+00:00"),  # once, after both
        (date(2026, 10, 4), "Australia/Lord_Howe", 2, "2026-10-03T15:30:00+00:00"),  # jumps by half an hour
        (date(2018, 11, 4), "America/Sao_Paulo", 0, "2018-11-04T03:00:00+00:00"),  # midnight does not occur
        (date(2011, 12, 30), "Pacific/Apia", 5, "2011-12-30T10:00:00+00:00"),  # a whole date does not occur
    ],
)
def test_the_cut_over_where_the_clocks_change(day: date, zone: str, hour: int, instant: str) -> None:
    assert cutover(day, ZoneInfo(zone), hour) == ms(instant)


def test_a_date_that_a_country_skipped_is_no_event_day() -> None:
    days = event_days(ms("2011-12-29T12:00:00-10:00"), ms("2011-12-31T20:00:00+14:00"), "Pacific/Apia", 0)
    assert [day.date for day in days] == ["2011-12-29", "2011-12-31"]
    assert days[0].until == days[1].start


@pytest.mark.parametrize(("day", "hours"), [("2026-03-28", 23), ("2026-10-24", 25), ("2026-07-04", 24)])
def test_the_event_day_before_a_change_of_clocks_is_shorter_or_longer(day: str, hours: int) -> None:
    noon = ms(f"{day}T12:00:00+02:00")
    (found,) = event_days(noon, noon + HOUR, "Europe/Berlin")
    assert found.until - found.start == hours * HOUR


@given(
    st.integers(ms("2011-06-01T00:00:00+00:00"), ms("2030-01-01T00:00:00+00:00")),
    st.integers(1, 12 * 24 * HOUR),
    st.sampled_from(ZONES),
    st.integers(0, 23),
)
def test_every_moment_of_an_event_lies_in_exactly_one_day(start: int, length: int, zone: str, hour: int) -> None:
    days = event_days(start, start + length, zone, hour)
    assert days[0].start <= start < days[0].until
    assert days[-1].start < start + length <= days[-1].until
    assert all(one.until == following.start for one, following in pairwise(days))
    assert all(one.date < following.date for one, following in pairwise(days))


@pytest.mark.parametrize(
    ("zone", "hour", "start", "end", "field"),
    [
        ("Mars/Olympus", 5, 0, HOUR, "timezone"),
        ("../etc/passwd", 5, 0, HOUR, "timezone"),
        ("", 5, 0, HOUR, "timezone"),
        ("Europe/Berlin", 24, 0, HOUR, "cutover_hour"),
        ("Europe/Berlin", -1, 0, HOUR, "cutover_hour"),
        ("Europe/Berlin", 5, 1 << 60, 1 << 60, "starts_at"),
        ("Europe/Berlin", 5, 0, timedelta(days=LONGEST + 1) // timedelta(milliseconds=1), "ends_at"),
    ],
)
def test_what_cannot_be_is_said_with_its_field(zone: str, hour: int, start: int, end: int, field: str) -> None:
    with pytest.raises(InvalidRequest) as wrong:
        event_days(start, end, zone, hour)
    assert wrong.value.details["field"] == field
