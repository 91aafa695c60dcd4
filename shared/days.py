"""Event days as spans in UTC; the only place in shared that reads the time-zone database."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.errors import InvalidRequest
from shared.wire.snapshot import EventDay

LONGEST = 400
"""In days; a longer event is a mistyped year."""

_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLI = timedelta(milliseconds=1)


@lru_cache(maxsize=1_024)
def event_days(start_ms: int, end_ms: int, timezone: str, cutover_hour: int = 5) -> tuple[EventDay, ...]:
    """The event days that start..end touches, each from the cut-over on its date to the next; the end is not included.

    Raises InvalidRequest for a time zone or an hour that does not exist.
    """
    zone = zone_named(timezone)
    if not 0 <= cutover_hour <= 23:
        raise InvalidRequest("The cut-over must be an hour from 0 to 23.", field="cutover_hour")
    try:
        first = _date_of(start_ms, zone, cutover_hour)
        last = _date_of(max(start_ms, end_ms - 1), zone, cutover_hour)
    except OverflowError as absurd:
        raise InvalidRequest("The event's times are out of range.", field="starts_at") from absurd
    if (last - first).days >= LONGEST:
        raise InvalidRequest(f"An event may last at most {LONGEST} days.", field="ends_at")
    dates = [first + n * _DAY for n in range((last - first).days + 1)]
    spans = [(day, cutover(day, zone, cutover_hour), cutover(day + _DAY, zone, cutover_hour)) for day in dates]
    # A date that a country skipped has no length and is not a day.
    return tuple(EventDay(day.isoformat(), start, until) for day, start, until in spans if start < until)


def zone_named(timezone: str) -> ZoneInfo:
    """The zone with this name in the tz database. Raises InvalidRequest."""
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
        raise InvalidRequest(
            f"There is no time zone {timezone!r}. Use a name like Europe/Berlin.", field="timezone"
        ) from unknown


def cutover(day: date, zone: ZoneInfo, hour: int) -> int:
    """The instant of an hour on a date: its first occurrence, or the clock change that skips it."""
    wall = datetime(day.year, day.month, day.day, hour, tzinfo=zone)
    instant = _millis(wall)
    if _wall(instant, zone) == wall.replace(tzinfo=None):
        return instant
    return _jump(_millis(wall.replace(fold=1)), instant, zone)


def _jump(before: int, after: int, zone: ZoneInfo) -> int:
    # `before` still has the old offset, `after` the new one: halve until the change is found.
    old = _offset(before, zone)
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (middle, after) if _offset(middle, zone) == old else (before, middle)
    return after


def _date_of(instant: int, zone: ZoneInfo, hour: int) -> date:
    day = _wall(instant, zone).date() + _DAY
    while cutover(day, zone, hour) > instant:
        day -= _DAY
    return day


def _millis(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLI


def _at(instant: int, zone: ZoneInfo) -> datetime:
    return (_EPOCH + instant * _MILLI).astimezone(zone)


def _wall(instant: int, zone: ZoneInfo) -> datetime:
    return _at(instant, zone).replace(tzinfo=None, fold=0)


def _offset(instant: int, zone: ZoneInfo) -> timedelta | None:
    return _at(instant, zone).utcoffset()
