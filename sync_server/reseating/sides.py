"""The two layouts of a move, each as the event uses it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sync_server.seating.layouts.overlay import Deltas, EventZone
from sync_server.seating.plans.layout_seats import LayoutSeats


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two layouts."""

    layout: LayoutSeats
    version: int
    deltas: Deltas
    zones: Mapping[int, EventZone]

    def zone_of(self, seat: int) -> str:
        """The id of the zone of a seat, which is the same in all versions; "" for a closed zone."""
        zone = self.zones.get(self.layout.zone_of(seat))
        return zone.id if zone is not None else ""

    def sells_seats(self, zone: int) -> bool:
        """Whether a zone is open and has numbered seats."""
        return zone in self.zones and self.zones[zone].zone_type.numbered

    def paired_seats(self) -> dict[str, frozenset[str]]:
        """The seats paired with each wheelchair place and each companion seat, by seat_id."""
        found: dict[str, set[str]] = defaultdict(set)
        for pairing in self.layout.pairings:
            place = self.layout.name(pairing.wheelchair)
            for companion in map(self.layout.name, pairing.companions):
                found[place].add(companion)
                found[companion].add(place)
        return {name: frozenset(names) for name, names in found.items()}
