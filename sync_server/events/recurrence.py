"""When the evenings of a series begin: at the same hour on the wall of the house, whatever the clocks do. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from shared.clock import Millis
from shared.errors import InvalidRequest

AT_MOST: Final = 100
WEEKDAYS: Final = ("mo", "tu", "we", "th", "fr", "sa", "su")


@dataclass(frozen=True, slots=True)
class Rule:
    """Every so many days, or on these days of every week; so many times, or up to a date."""

    every_days: int | None = None
    weekdays: tuple[int, ...] = ()
    count: int | None = None
    until: date | None = None


def starts(first: Millis, timezone: str, rule: Rule) -> list[Millis]:
    """The starts that follow the first one; InvalidRequest where they are none or too many."""
    zone = ZoneInfo(timezone)
    wall = datetime.fromtimestamp(first / 1000, UTC).astimezone(zone)
    days = (day for day in _days(wall.date(), rule))
    ending = (day for day in _until(days, rule.until))
    found = [_instant(wall, day, zone) for day in islice(ending, min(rule.count or AT_MOST + 1, AT_MOST + 1))]
    return checked(found)


def checked(found: Sequence[Millis]) -> list[Millis]:
    """In order and each once; InvalidRequest where they are none or too many."""
    each = sorted(set(found))
    if not each:
        raise InvalidRequest("This rule names no date after the first evening.", code="no_dates")
    if len(each) > AT_MOST:
        raise InvalidRequest(f"A series grows by {AT_MOST} evenings at once, no more.", code="too_many_dates")
    return each


def _days(first: date, rule: Rule) -> Iterator[date]:
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


def _instant(wall: datetime, day: date, zone: ZoneInfo) -> Millis:
    # An hour that the clocks leave out is read with the offset before the jump: the evening begins that much later.
    there = wall.replace(year=day.year, month=day.month, day=day.day, fold=0, tzinfo=zone)
    return int(there.timestamp()) * 1000 + wall.microsecond // 1000
