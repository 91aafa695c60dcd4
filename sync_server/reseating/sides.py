"""The two layouts of a move, each as the event uses it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sync_server.reseating.free_seats import LayoutSeat
from sync_server.seating.layouts.overlay import Deltas, EventZone
from sync_server.seating.layouts.plan import AccessMode, Category
from sync_server.seating.plans.layout_seats import LayoutSeats

_KIND: Final = {Category.AISLE: Category.STANDARD}


@dataclass(frozen=True)
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

    @cached_property
    def _companions(self) -> Mapping[int, tuple[int, ...]]:
        return {pairing.wheelchair: pairing.companions for pairing in self.layout.pairings}

    def seat(self, number: int, *, any_price: bool) -> LayoutSeat:
        """A seat with what the move of guests depends on."""
        seat, (row, place) = self.layout.seat(number), self.layout.where(number)
        zone = self.zones.get(seat.zone)
        return LayoutSeat(
            number,
            seat.name,
            zone.id if zone is not None else f"closed {seat.zone}",
            (seat.section, seat.row),
            place,
            row.points[place],
            _KIND.get(seat.category, seat.category).value,
            "" if any_price else seat.price_category,
            _access(zone) if zone is not None else "",
            not self.sells_seats(seat.zone) or number in self.deltas.blocked,
            self._companions.get(number, ()),
        )

    def seats(self, *, any_price: bool) -> list[LayoutSeat]:
        """All of them."""
        return [self.seat(number, any_price=any_price) for number in range(1, len(self.layout) + 1)]


def _access(zone: EventZone) -> str:
    """The access rules of a zone as a key: guests are only moved to zones with the same rules, or public ones."""
    if zone.access_mode is AccessMode.PUBLIC:
        return ""
    return f"{zone.access_mode}:{zone.membership_tier or ''}:{','.join(sorted(zone.allowed_roles))}"
