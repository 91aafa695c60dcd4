"""The days of an event that a seat, a place or a ticket is taken for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from shared.errors import InvalidRequest, NotFound
from sync_server.events.models import EventRecord
from sync_server.events.snapshot_rows import days

EVERY_DAY: Final = 0
"""The bitmap of what is for every day of an event, those it gets later too; as `valid_days` of a ticket."""


class ChosenDays(Struct, frozen=True):
    """Some days of one event, or every day."""

    dates: tuple[str, ...]  # of all days of the event
    bits: int = EVERY_DAY

    @property
    def numbers(self) -> tuple[int, ...]:
        """The chosen days, counted from 0 within the event."""
        return numbers(self.bits, len(self.dates))

    @property
    def names(self) -> tuple[str, ...]:
        """The dates of the chosen days; none at an event of one day, where there is nothing to tell apart."""
        return self.names_of(self.numbers) if len(self.dates) > 1 else ()

    def names_of(self, some: Iterable[int]) -> tuple[str, ...]:
        """The dates of these days, in order; none at an event of one day."""
        return tuple(self.dates[day] for day in sorted({*some})) if len(self.dates) > 1 else ()


def dates_of(event: EventRecord) -> tuple[str, ...]:
    """The dates of an event's days."""
    return tuple(day.date for day in days(event))


def choose(dates: tuple[str, ...], wanted: Sequence[str] | None, field: str = "days") -> ChosenDays:
    """The days with these dates, or every day where none is named; InvalidRequest for a date that is no event day."""
    if not wanted:
        return ChosenDays(dates)
    unknown = [date for date in wanted if date not in dates]
    if unknown:
        raise InvalidRequest(
            f"{field}: the event does not take place on {', '.join(unknown[:10])}. Its days are: {', '.join(dates)}.",
            code="unknown_day",
            field=field,
        )
    named = {*wanted}
    # An event of one day has nothing to choose: a guest who names the day and one who does not ask for the same.
    bits = sum(1 << day for day, date in enumerate(dates) if date in named) if len(dates) > 1 else EVERY_DAY
    return ChosenDays(dates, bits)


def on_date(dates: tuple[str, ...], date: str) -> ChosenDays:
    """The day with this date, or every day for ""; NotFound for a date that is no day of the event."""
    if date and date not in dates:
        raise day_not_found(dates)
    return choose(dates, [date] if date else None)


def day_not_found(dates: Sequence[str]) -> NotFound:
    """The error for a date that is no day of the event."""
    listed = ", ".join(dates)
    return NotFound(f"The event does not take place on that day. Its days are: {listed}.", code="day_not_found")


@lru_cache(1024)
def numbers(bits: int, count: int) -> tuple[int, ...]:
    """The days of a bitmap at an event of so many days, counted from 0."""
    return tuple(day for day in range(count) if not bits or bits >> day & 1)


def overlap(one: int, other: int) -> bool:
    """Whether two bitmaps have a day in common."""
    return not one or not other or bool(one & other)


def covers(one: int, other: int, count: int) -> bool:
    """Whether the first bitmap has every day of the second, at an event of so many days."""
    return {*numbers(other, count)} <= {*numbers(one, count)}


def beyond(bits: int, count: int) -> bool:
    """Whether a bitmap names a day that an event of so many days does not have."""
    return bits >> count != 0


def joined(bitmaps: Collection[int]) -> int:
    """The bitmap of all days that any of these has."""
    return EVERY_DAY if not all(bitmaps) else _union(bitmaps)


def _union(bitmaps: Iterable[int]) -> int:
    found = 0
    for bits in bitmaps:
        found |= bits
    return found
