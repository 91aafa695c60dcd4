"""The seats of an event as it sells them: the seats of its layout, and what the event changes about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from shared.errors import InvalidRequest
from sync_server.seating.bitmap import DisplayState
from sync_server.seating.layouts.overlay import Deltas, EventZone, event_zones
from sync_server.seating.plans.layout_seats import LayoutSeats, Seat, SeatGroup
from sync_server.seating.rules import Policy
from sync_server.seating.search.accessibility import WheelchairPlaces
from sync_server.seating.search.allocation_grid import Row
from sync_server.seating.search.offers import Refusal

Neighbours = tuple[int, int, int, int]
"""The numbers of the seats two and one to the left, and one and two to the right; WALL where there is none."""
WALL: Final = 0


@dataclass(frozen=True, eq=False)
class SeatPlan:
    """Everything about an event's seats that neither sales nor the clock change; events alike have the same plan."""

    layout: LayoutSeats
    deltas: Deltas
    policy: Policy  # with the event's own overrides
    event_zones: Mapping[int, int] = field(default_factory=dict)  # the numbers that gates use, by number in the layout
    drawing_id: str = ""  # another whenever the drawing would be
    id: str = ""  # another whenever a map would be

    def __eq__(self, other: object) -> bool:
        """By what both were made of, not seat by seat."""
        return isinstance(other, SeatPlan) and (self.id, self.policy) == (other.id, other.policy)

    def __hash__(self) -> int:
        return hash((self.id, self.policy))

    @cached_property
    def zones(self) -> Mapping[int, EventZone]:
        """The open zones, by number in the layout."""
        blocked = self.layout.count_by_zone(self.deltas.blocked)
        return {zone.number: zone for zone in event_zones(self.layout.zones, self.deltas, blocked)}

    @cached_property
    def numbered(self) -> frozenset[int]:
        """The open zones whose seats are sold one by one."""
        return frozenset(number for number, zone in self.zones.items() if zone.zone_type.numbered)

    @cached_property
    def capacity(self) -> int:
        """The capacity of all open zones."""
        return sum(zone.capacity for zone in self.zones.values())

    @cached_property
    def places(self) -> WheelchairPlaces:
        """The wheelchair places of open zones."""
        pairings = (pairing for pairing in self.layout.pairings if pairing.zone in self.numbered)
        return WheelchairPlaces(tuple(pairings), self.policy.accessibility(), self.deltas.released)

    @cached_property
    def special(self) -> frozenset[int]:
        """Seats with rules of their own: wheelchair places, companion seats, and what is sold whole."""
        enforced = self.layout.special() if self.policy.enforce_accessibility_rules else frozenset()
        return (enforced | self.sold_whole.keys()) - self.deltas.released

    @cached_property
    def closed_to_some(self) -> frozenset[int]:
        """All seats that not everybody may have at any time."""
        return self.layout.special() | self.sold_whole.keys()

    @cached_property
    def blocks(self) -> tuple[SeatGroup, ...]:
        """Tables and family blocks of open zones."""
        return tuple(group for group in self.layout.groups if group.kind.offered_whole and group.zone in self.numbered)

    @cached_property
    def sold_whole(self) -> Mapping[int, SeatGroup]:
        """The groups of which nobody may buy a part, by each of their seats."""
        whole = (group for group in self.layout.groups if group.sold_whole and group.zone in self.numbered)
        return {seat: group for group in whole for seat in group.seats if seat not in self.deltas.released}

    def part_of_whole(self, seats: Collection[int], free: Callable[[int], bool]) -> Refusal | None:
        """Why nobody may have these seats of a group that is sold whole without the others of it that are free."""
        for group in {self.sold_whole[seat] for seat in seats if seat in self.sold_whole}:
            missing = [seat for seat in group.seats if seat not in seats and free(seat)]
            if missing:
                name, names = group.name or "This group of seats", ", ".join(self.layout.names_of(missing)[:20])
                return Refusal("sold_whole", f"{name} is only sold as a whole. Take {names} as well, or other seats.")
        return None

    @cached_property
    def empty_map(self) -> bytes:
        """The display state of each seat while nothing is sold or held."""
        states = bytearray(
            DisplayState.FREE if zone in self.numbered else DisplayState.CLOSED for zone in self.layout.zones_of_seats()
        )
        for seat in filter(self.layout.has, self.deltas.blocked):
            states[seat - 1] = DisplayState.CLOSED
        return bytes(states)

    @property
    def blocked(self) -> frozenset[int]:
        """The seats that the event does not sell."""
        return self.deltas.blocked

    def rows(self) -> list[Row]:
        """The rows of the open zones with numbered seats."""
        return [row for row in self.layout.rows if row.zone in self.numbered]

    def known_price_category(self, name: str | None) -> str | None:
        """The name of a price category; InvalidRequest for one that no seat has."""
        if name is not None and name not in self.layout.price_categories:
            known = ", ".join(f"“{each}”" for each in self.layout.price_categories if each) or "none"
            message = f"The layout has no price category “{name}”. It has: {known}."
            raise InvalidRequest(message, code="unknown_price_category", field="price_category")
        return name

    def price_category(self, seat: Seat, party: Collection[int] = ()) -> str:
        """What a seat is sold as: a companion seat may have another price with its wheelchair place in the party."""
        own = self.policy.companion_price_category
        if own and any(seat.number in each.companions and each.wheelchair in party for each in self.places.pairings):
            return own
        return seat.price_category

    def on_sale(self, name: str) -> Seat | None:
        """The seat with this id or name, sold or not; None where there is none, or its zone is closed."""
        number = self.layout.find(name)
        return self.seat(number) if number is not None else None

    def seat(self, number: int) -> Seat | None:
        """The same, by the seat's number."""
        on_sale = self.layout.has(number) and self.layout.zone_of(number) in self.numbered
        return self.layout.seat(number) if on_sale else None

    def beside(self, number: int) -> Neighbours:
        """The neighbours of a seat, as far as they can be left single."""
        row, place = self.layout.where(number)
        return (
            self._beside(row, place - 2),
            self._beside(row, place - 1),
            self._beside(row, place + 1),
            self._beside(row, place + 2),
        )

    def _beside(self, row: Row, place: int) -> int:
        seat = row.seats[place] if 0 <= place < len(row.seats) else None
        return WALL if seat is None or seat in self._walls else seat

    @cached_property
    def _walls(self) -> frozenset[int]:
        """Seats that cannot be left single."""
        return self.special | self.blocked | self.deltas.released


NO_PLAN: Final = SeatPlan(LayoutSeats.of("", "", (), (), ()), Deltas(), Policy())
"""Of an event without a layout."""
