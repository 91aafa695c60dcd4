"""Guests without seats in a move: they stay in their zone if it has room for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sync_server.events.days.chosen_days import overlap
from sync_server.seating.layouts.overlay import EventZone


@dataclass(frozen=True, slots=True)
class ZoneMove:
    """The move of the guests of one zone without seats."""

    name: str
    before: int  # number in the old layout
    after: int | None  # number in the new one; None: no such zone, or it has seats
    by_days: Mapping[int, int]  # how many were sold, by the bitmap of their days
    capacity: int

    @property
    def sold(self) -> int:
        """How many were sold, whatever their days."""
        return sum(self.by_days.values())

    @property
    def fits(self) -> bool:
        """Whether there is room for everybody, on each day."""
        return self.after is not None and all(self._sold_on(1 << day) <= self.capacity for day in self._days())

    def _days(self) -> range:
        # Beyond the last day that any of them names there are only those for every day.
        return range(max((bits.bit_length() for bits in self.by_days), default=0) + 1)

    def _sold_on(self, day: int) -> int:
        return sum(count for bits, count in self.by_days.items() if overlap(bits, day))


def zone_moves(
    event_zones: Mapping[int, int],
    old: Mapping[int, EventZone],
    new: Mapping[int, EventZone],
    sold: Mapping[tuple[int, int], int],
) -> list[ZoneMove]:
    """The moves of all zones without seats that have guests.

    `old` and `new` are by number in the layout, `sold` is by number of the event's zone and bitmap of days, and
    `event_zones` gives that number for the old zones.
    """
    by_id = {zone.id: zone for zone in new.values() if not zone.zone_type.numbered}
    moves = []
    for zone in old.values():
        number = event_zones.get(zone.number, 0)
        by_days = {bits: count for (of_zone, bits), count in sold.items() if of_zone == number}
        after = by_id.get(zone.id)
        if by_days and not zone.zone_type.numbered:
            capacity = after.capacity if after else 0
            moves.append(ZoneMove(zone.name, zone.number, after.number if after else None, by_days, capacity))
    return moves
