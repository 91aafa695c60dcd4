"""Moves what is planned around an event to its new start, by days and local hours, whatever the clocks do between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from shared.clock import Millis

#: The rescheduled window is as long as the event was; gates go by the same rule.
_KEEPS_LENGTH: Final = "end_at"
_SALE_OPENING: Final = "sale_start_at"


def local_time(at: Millis, zone: ZoneInfo) -> datetime:
    """What clocks in the zone show at an instant, without the offset."""
    return datetime.fromtimestamp(at / 1000, UTC).astimezone(zone).replace(tzinfo=None)


def instant(local: datetime, zone: ZoneInfo) -> Millis:
    """When clocks in the zone show a local time.

    The first of two; a time that the clocks skip is read with the offset before the change, so it is that much later.
    """
    start = local.replace(fold=0, tzinfo=zone)
    return int(start.timestamp()) * 1000 + local.microsecond // 1000


@dataclass(frozen=True, slots=True)
class TimeShift:
    """From an event's old start to its new one; a sale that has opened by `opened_by` stays open."""

    old_start: Millis
    new_start: Millis
    timezone: str
    opened_by: Millis | None = None

    @property
    def distance(self) -> Millis:
        """How much later the event starts."""
        return self.new_start - self.old_start

    def moved(self, at: Millis) -> Millis:
        """An instant as many days and local hours from the new start as it was from the old one."""
        zone = ZoneInfo(self.timezone)
        return instant(
            local_time(self.new_start, zone) + (local_time(at, zone) - local_time(self.old_start, zone)), zone
        )

    def times(self, times: Mapping[str, Millis | None]) -> dict[str, Millis]:
        """Those of the named times that are set, moved; without the opening of a sale that has begun."""
        return {name: self._named(name, at) for name, at in times.items() if at is not None}

    def _named(self, name: str, at: Millis) -> Millis:
        if name == _SALE_OPENING and self.opened_by is not None and at <= self.opened_by:
            return at
        return at + self.distance if name == _KEEPS_LENGTH else self.moved(at)
