"""Which seats and places of one event are sold or held now: updated seat by seat, and by the clock as holds expire."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from shared.clock import Millis
from sync_server.seating.bitmap import DisplayState
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.taken import SOLD, PlaceCounts

_TAKEN = frozenset({DisplayState.HELD, DisplayState.TAKEN})


@dataclass(frozen=True, slots=True)
class ZoneOccupancy:
    """How full a zone is."""

    number: int
    capacity: int
    held: int
    sold: int

    @property
    def available(self) -> int:
        """What can be held now; never negative, even where a zone was made smaller than what is already sold."""
        return max(0, self.capacity - self.held - self.sold)

    @property
    def percent(self) -> float:
        """How much of it is held or sold."""
        return 100.0 * (self.held + self.sold) / self.capacity if self.capacity else 100.0


@dataclass(slots=True)
class LiveSeats:
    """What is taken, but not by whom."""

    plan: SeatPlan
    places: PlaceCounts = field(default_factory=PlaceCounts)
    as_of: Millis = 0  # of the latest version or expiry that is included
    states: bytearray = field(init=False)  # as organisers see them, but for reserved companion seats
    _held_until: dict[int, Millis] = field(default_factory=dict)  # as stored, so expired holds too for a moment
    _expiries: list[tuple[Millis, int]] = field(default_factory=list)  # a heap; entries that moved are ignored
    _held: Counter[int] = field(default_factory=Counter)  # by zone
    _sold: Counter[int] = field(default_factory=Counter)
    _now: Millis = 0

    def __post_init__(self) -> None:
        """Start with every seat free or closed."""
        self.states = bytearray(self.plan.empty_map)

    def apply(self, stored: Iterable[tuple[int, Millis]], now: Millis, touched: Collection[int] | None) -> set[int]:
        """Take over until when these seats are taken; the other touched ones (None: all others) are free.

        Returns the seats that may have changed.
        """
        found = dict(stored)
        self._now = max(self._now, now)
        touched = {*self.taken(), *self._held_until} if touched is None else touched
        changed = {seat for seat in (*found, *touched) if self.plan.layout.has(seat)}
        for seat in changed:
            self._apply_one(seat, found.get(seat, 0))
        return changed | self._expire()

    def _apply_one(self, seat: int, until: Millis) -> None:
        self._held_until.pop(seat, None)
        if 0 < until < SOLD:
            self._held_until[seat] = until
            heapq.heappush(self._expiries, (until, seat))
        state = DisplayState.HELD if until > self._now else DisplayState.FREE
        self._set(seat, DisplayState.TAKEN if until == SOLD else state)

    def _set(self, seat: int, state: DisplayState) -> None:
        zone, before = self.plan.layout.zone_of(seat), self.states[seat - 1]
        after = self.plan.empty_map[seat - 1] if state is DisplayState.FREE else state
        self._held[zone] += (after == DisplayState.HELD) - (before == DisplayState.HELD)
        self._sold[zone] += (after == DisplayState.TAKEN) - (before == DisplayState.TAKEN)
        self.states[seat - 1] = after

    def _expire(self) -> set[int]:
        expired = set()
        while self._expiries and self._expiries[0][0] <= self._now:
            until, seat = heapq.heappop(self._expiries)
            if self._held_until.get(seat) == until and self.is_taken(seat):
                self._set(seat, DisplayState.FREE)
                expired.add(seat)
        self.as_of = max(self.as_of, self._now) if expired else self.as_of
        return expired

    def is_taken(self, seat: int) -> bool:
        """Whether a seat of the layout is sold or held."""
        return self.states[seat - 1] in _TAKEN

    def taken(self) -> set[int]:
        """All seats that are sold or held."""
        return {seat for seat, state in enumerate(self.states, start=1) if state in _TAKEN}

    @property
    def next_end(self) -> Millis | None:
        """When the next hold expires."""
        while self._expiries and self._held_until.get(self._expiries[0][1]) != self._expiries[0][0]:
            heapq.heappop(self._expiries)
        ends = (self._expiries[0][0] if self._expiries else None, self.places.until)
        return min((at for at in ends if at is not None), default=None)

    def expired_between(self, after: Millis, now: Millis) -> set[int]:
        """Seats whose hold expired in that time and which have not changed since."""
        return {seat for seat, until in self._held_until.items() if after < until <= now}

    def zones(self) -> list[ZoneOccupancy]:
        """How full each open zone is."""
        return [self._zone(number) for number in self.plan.zones]

    def _zone(self, number: int) -> ZoneOccupancy:
        held, sold = (self._held, self._sold) if number in self.plan.numbered else (self.places.held, self.places.sold)
        return ZoneOccupancy(number, self.plan.zones[number].capacity, held.get(number, 0), sold.get(number, 0))

    def occupancy(self, zone: int) -> float:
        """How full a zone is, in percent; a closed one is full."""
        return self._zone(zone).percent if zone in self.plan.zones else 100.0

    def reserved_companions(self) -> frozenset[int]:
        """Free seats reserved for the companions of wheelchair users."""
        reserved = self.plan.places.reserved_companions(self.occupancy)
        return frozenset(seat for seat in reserved if self.states[seat - 1] == DisplayState.FREE)

    def display_states(self, companions: Collection[int]) -> bytes:
        """What organisers see of each seat; reserved companion seats look closed."""
        seats = bytearray(self.states)
        for seat in companions:
            seats[seat - 1] = DisplayState.CLOSED
        return bytes(seats)
