"""Guests without seats in a move: they stay in their zone if it has room for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sync_server.seating.layouts.overlay import EventZone


@dataclass(frozen=True, slots=True)
class ZoneMove:
    """The move of the guests of one zone without seats."""

    name: str
    before: int  # number in the old layout
    after: int | None  # number in the new one; None: no such zone, or it has seats
    sold: int
    capacity: int

    @property
    def fits(self) -> bool:
        """Whether there is room for everybody."""
        return self.after is not None and self.sold <= self.capacity


def zone_moves(
    event_zones: Mapping[int, int], old: Mapping[int, EventZone], new: Mapping[int, EventZone], sold: Mapping[int, int]
) -> list[ZoneMove]:
    """The moves of all zones without seats that have guests.

    `old` and `new` are by number in the layout, `sold` is by number of the event's zone, and `event_zones` gives that
    number for the old zones.
    """
    by_id = {zone.id: zone for zone in new.values() if not zone.zone_type.numbered}
    moves = []
    for zone in old.values():
        count = 0 if zone.zone_type.numbered else sold.get(event_zones.get(zone.number, 0), 0)
        after = by_id.get(zone.id)
        if count:
            capacity = after.capacity if after else 0
            moves.append(ZoneMove(zone.name, zone.number, after.number if after else None, count, capacity))
    return moves
