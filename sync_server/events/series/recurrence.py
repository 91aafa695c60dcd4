"""Start times of a series: the same local time at the venue, before and after the clocks change. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from shared.clock import Millis
from shared.errors import InvalidRequest
from sync_server.events.time_shift import instant, local_time

MAX_DATES: Final = 100
WEEKDAYS: Final = ("mo", "tu", "we", "th", "fr", "sa", "su")


@dataclass(frozen=True, slots=True)
class RecurrenceRule:
    """Every n days or on certain weekdays, either `count` times or until a date."""

    every_days: int | None = None
    weekdays: tuple[int, ...] = ()
    count: int | None = None
    until: date | None = None


def starts(first: Millis, timezone: str, rule: RecurrenceRule) -> list[Millis]:
    """The starts after the first one; InvalidRequest if there are none or too many."""
    zone = ZoneInfo(timezone)
    wall = local_time(first, zone)
    days = _days(wall.date(), rule)
    limited = _until(days, rule.until)
    dates = islice(limited, min(rule.count or MAX_DATES + 1, MAX_DATES + 1))
    found = [instant(datetime.combine(day, wall.time()), zone) for day in dates]
    return validated_dates(found)


def validated_dates(found: Sequence[Millis]) -> list[Millis]:
    """Sorted and without duplicates; InvalidRequest if there are none or too many."""
    dates = sorted(set(found))
    if not dates:
        raise InvalidRequest("This rule gives no date after the first event.", code="no_dates")
    if len(dates) > MAX_DATES:
        raise InvalidRequest(f"At most {MAX_DATES} events can be added to a series at once.", code="too_many_dates")
    return dates


def _days(first: date, rule: RecurrenceRule) -> Iterator[date]:
    day = first
    while day < date.max - timedelta(days=400):
        day += timedelta(days=rule.every_days or 1)
        if rule.every_days or day.weekday() in rule.weekdays:
            yield day


def _until(days: Iterator[date], until: date | None) -> Iterator[date]:
    for day in days:
        if until is not None and day > until:
            return
        yield day
