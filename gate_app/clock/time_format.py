"""Formats times for staff, in the event's time zone, with the date only if it is not today."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import lru_cache, partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.attempts import LocalTime
from shared.words.local_moments import at, local_moment


@lru_cache(maxsize=64)
def local_time(timezone: str) -> LocalTime:
    """A formatter for times in `timezone`; an unknown zone is formatted as UTC."""
    zone, suffix = _zone(timezone)

    return partial(local_moment, zone=zone, suffix=suffix)


def day_and_clock(moment: int, timezone: str) -> str:
    """A time of the last days in `timezone`: Sat 4 19:31:08."""
    zone, suffix = _zone(timezone)
    then = at(moment, zone)
    return f"{then:%a} {then.day} {then:%H:%M:%S}{suffix}"


def date(moment: int, timezone: str) -> str:
    """The date of a time in `timezone`: 2026-07-04."""
    return at(moment, _zone(timezone)[0]).date().isoformat()


def iso(moment: int) -> str:
    """A time as ISO 8601 in UTC: 2026-07-04T17:30:00.000Z."""
    return f"{_second(moment // 1000)}.{moment % 1000:03}Z"


@lru_cache(maxsize=64)
def _second(second: int) -> str:
    return at(second * 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _zone(timezone: str) -> tuple[tzinfo, str]:
    try:
        return ZoneInfo(timezone), ""
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC, " UTC"
