"""The seats of an event as it sells them: the seats of its layout, and what the event changes about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from sync_server.seating.bitmap import DisplayState
from sync_server.seating.layouts.overlay import Deltas, EventZone, event_zones
from sync_server.seating.plans.layout_seats import LayoutSeats, Seat
from sync_server.seating.rules import Policy
from sync_server.seating.search.accessibility import WheelchairPlaces
from sync_server.seating.search.allocation_grid import Row

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
        return WheelchairPlaces(tuple(pairings), self.policy.accessibility())

    @cached_property
    def special(self) -> frozenset[int]:
        """Wheelchair places and companion seats, where rules of their own are enforced for them."""
        return self.layout.special() if self.policy.enforce_accessibility_rules else frozenset()

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
        left_far, left, right, right_far = (self._beside(row, place + step) for step in (-2, -1, 1, 2))
        return left_far, left, right, right_far

    def _beside(self, row: Row, place: int) -> int:
        seat = row.seats[place] if 0 <= place < len(row.seats) else None
        return WALL if seat is None or seat in self.special or seat in self.blocked else seat


NO_PLAN: Final = SeatPlan(LayoutSeats.of("", "", (), (), ()), Deltas(), Policy())
"""Of an event without a layout."""
