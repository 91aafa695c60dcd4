"""The occupancy of one event in memory: updated seat by seat, and by the clock as holds expire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from zlib import crc32

from shared.clock import Millis
from sync_server.holds.occupancy import PlaceCounts, SeatOccupancy, SeatState
from sync_server.seating.bitmap import DisplayState
from sync_server.seating.plans.seat_plan import SeatPlan


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


@dataclass(slots=True)
class MapState:
    """Which seats are taken, but not by whom."""

    plan: SeatPlan
    as_of: Millis  # of the latest hold expiry or database read that is included
    places: PlaceCounts
    seats: bytearray = field(init=False)
    _held_until: dict[int, Millis] = field(default_factory=dict)  # as stored, so expired holds too for a moment
    _held: Counter[int] = field(default_factory=Counter)  # by zone
    _sold: Counter[int] = field(default_factory=Counter)
    _next_expiry: Millis | None = None

    def __post_init__(self) -> None:
        """Start with every seat free or closed."""
        self.seats = bytearray(self.plan.empty_map)

    def apply(self, rows: Iterable[SeatOccupancy], now: Millis, *, touched: Collection[int] = ()) -> None:
        """Take over the stored state of these seats; touched seats without a row are free."""
        self.expire(now)
        stored = {seat: (state, until) for seat, state, until in rows}
        for seat in {*stored, *touched}:
            if self.plan.layout.has(seat):
                state, until = stored.get(seat, (SeatState.FREE, None))
                self._apply_one(seat, state, until, now)
        self._find_next_expiry(now)
        self.as_of = max(self.as_of, now)

    def _apply_one(self, seat: int, state: SeatState, until: Millis | None, now: Millis) -> None:
        self._held_until.pop(seat, None)
        if state is SeatState.HELD and until is not None:
            self._held_until[seat] = until
            state = SeatState.HELD if until > now else SeatState.FREE
        self._set_display(seat, state)

    def _set_display(self, seat: int, state: SeatState) -> None:
        zone, before = self.plan.layout.zone_of(seat), self.seats[seat - 1]
        after = self.plan.empty_map[seat - 1] if state is SeatState.FREE else int(state)
        self._held[zone] += (after == DisplayState.HELD) - (before == DisplayState.HELD)
        self._sold[zone] += (after == DisplayState.TAKEN) - (before == DisplayState.TAKEN)
        self.seats[seat - 1] = after

    def expire(self, now: Millis) -> bool:
        """Free the seats whose holds have expired; whether there were any."""
        if self._next_expiry is None or self._next_expiry > now:
            return False
        for seat, until in self._held_until.items():
            if until <= now and self.seats[seat - 1] == DisplayState.HELD:
                self._set_display(seat, SeatState.FREE)
        self._find_next_expiry(now)
        self.as_of = max(self.as_of, now)
        return True

    def _find_next_expiry(self, now: Millis) -> None:
        self._next_expiry = min((until for until in self._held_until.values() if until > now), default=None)

    @property
    def next_end(self) -> Millis | None:
        """When the next hold expires."""
        return min((at for at in (self._next_expiry, self.places.until) if at is not None), default=None)

    def expired_between(self, after: Millis, now: Millis) -> set[int]:
        """Seats whose hold expired in that time and which have not changed since."""
        return {seat for seat, until in self._held_until.items() if after < until <= now}

    def zones(self) -> list[ZoneOccupancy]:
        """How full each open zone is."""
        return [self._zone(number) for number in self.plan.zones]

    def _zone(self, number: int) -> ZoneOccupancy:
        zone = self.plan.zones[number]
        if zone.zone_type.numbered:
            return ZoneOccupancy(number, zone.capacity, self._held[number], self._sold[number])
        return ZoneOccupancy(number, zone.capacity, self.places.held.get(number, 0), self.places.sold.get(number, 0))

    def reserved_companions(self) -> frozenset[int]:
        """Free seats reserved for the companions of wheelchair users."""
        occupancy = {zone.number: zone for zone in self.zones()}
        reserved = self.plan.places.reserved_companions(
            lambda number: _percent_taken(occupancy[number]) if number in occupancy else 100.0
        )
        return frozenset(seat for seat in reserved if self.seats[seat - 1] == DisplayState.FREE)

    def display_states(self, companions: Collection[int]) -> bytes:
        """What organisers see of each seat; reserved companion seats look closed."""
        if not companions:
            return bytes(self.seats)
        seats = bytearray(self.seats)
        for seat in companions:
            seats[seat - 1] = DisplayState.CLOSED
        return bytes(seats)


def _percent_taken(zone: ZoneOccupancy) -> float:
    return 100.0 * (zone.held + zone.sold) / zone.capacity if zone.capacity else 100.0


def companions_digest(seats: Collection[int]) -> str:
    """A short digest of a set of companion seats; "0" for none."""
    return f"{crc32(','.join(map(str, sorted(seats))).encode()):x}" if seats else "0"
