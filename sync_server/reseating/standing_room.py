"""Guests without seats at a move: they stay in their zone, where there is room for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sync_server.seating.overlay import EventZone


@dataclass(frozen=True, slots=True)
class ZoneMove:
    """The guests of one zone without seats."""

    name: str
    before: int  # number in the old layout
    after: int | None  # number in the new one; None: no such zone, or one with seats
    sold: int
    capacity: int

    @property
    def fits(self) -> bool:
        """Whether everybody finds a place."""
        return self.after is not None and self.sold <= self.capacity


def zone_moves(
    known: Mapping[int, int], old: Mapping[int, EventZone], new: Mapping[int, EventZone], sold: Mapping[int, int]
) -> list[ZoneMove]:
    """Zones by number; `known` says by what number gates know the old ones, `sold` counts by that."""
    by_id = {zone.id: zone for zone in new.values() if not zone.zone_type.numbered}
    moves = []
    for zone in old.values():
        count = 0 if zone.zone_type.numbered else sold.get(known.get(zone.number, 0), 0)
        after = by_id.get(zone.id)
        if count:
            room = after.capacity if after else 0
            moves.append(ZoneMove(zone.name, zone.number, after.number if after else None, count, room))
    return moves
