"""What is planned around an event moves with it by days and local hours; a sale that has opened stays open."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync_server.events.time_shift import TimeShift, instant, local_time

BERLIN = "Europe/Berlin"
YEARS = datetime.fromisoformat("2026-01-01"), datetime.fromisoformat("2030-01-01")


def at(text: str, zone: str = BERLIN) -> int:
    return instant(datetime.fromisoformat(text), ZoneInfo(zone))


def shown(millis: int, zone: str = BERLIN) -> str:
    return local_time(millis, ZoneInfo(zone)).isoformat(timespec="minutes")


@pytest.mark.parametrize(
    ("old", "new", "opens", "moved"),
    [
        ("2026-10-10T20:00", "2026-11-07T20:00", "2026-10-01T10:00", "2026-10-29T10:00"),  # the clocks go back between
        ("2027-03-20T20:00", "2027-04-03T20:00", "2027-03-13T10:00", "2027-03-27T10:00"),  # and forward
        ("2026-10-10T20:00", "2026-11-07T19:00", "2026-10-10T18:30", "2026-11-07T17:30"),  # an hour earlier in the day
        ("2027-03-20T20:00", "2027-03-29T20:00", "2027-03-19T02:30", "2027-03-28T03:30"),  # an hour that does not exist
    ],
)
def test_the_local_hour_stays_across_a_change_of_the_clocks(old: str, new: str, opens: str, moved: str) -> None:
    assert shown(TimeShift(at(old), at(new), BERLIN).moved(at(opens))) == moved


def test_the_event_lasts_as_long_as_before_and_unset_times_stay_unset() -> None:
    shift = TimeShift(at("2026-10-24T22:00"), at("2026-10-31T22:00"), BERLIN)
    night = at("2026-10-25T05:00")  # eight hours, for one came twice
    moved = shift.times({"end_at": night, "end_at_auto": night, "doors_at": None})
    assert {name: shown(each) for name, each in moved.items()} == {
        "end_at": "2026-11-01T06:00",
        "end_at_auto": "2026-11-01T05:00",
    }


def test_a_sale_that_has_opened_stays_open_and_only_its_end_moves() -> None:
    opened, later, end = at("2026-06-01T10:00"), at("2026-06-20T10:00"), at("2026-07-04T20:00")
    shift = TimeShift(end, at("2026-09-05T20:00"), BERLIN, opened_by=at("2026-06-10T12:00"))
    assert shift.times({"sale_start_at": opened, "sale_end_at": end}) == {
        "sale_start_at": opened,
        "sale_end_at": at("2026-09-05T20:00"),
    }
    assert shift.times({"sale_start_at": later}) == {"sale_start_at": at("2026-08-22T10:00")}


@given(
    st.sampled_from([BERLIN, "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu", "Africa/Casablanca"]),
    st.datetimes(*YEARS),
    st.datetimes(*YEARS),
    st.integers(-90 * 1440, 2 * 1440),
)
def test_local_distances_stay_unless_the_clocks_skip_the_hour(
    zone: str, old: datetime, new: datetime, minutes: int
) -> None:
    where = ZoneInfo(zone)
    shift = TimeShift(instant(old, where), instant(new, where), zone)
    before, after = local_time(shift.old_start, where), local_time(shift.new_start, where)
    planned = instant(before + timedelta(minutes=minutes), where)
    moved = local_time(shift.moved(planned), where) - after
    wanted = local_time(planned, where) - before
    assert abs(moved - wanted) in {timedelta(0), timedelta(minutes=30), timedelta(hours=1)}
    if instant(after + wanted, where) and local_time(instant(after + wanted, where), where) == after + wanted:
        assert moved == wanted
