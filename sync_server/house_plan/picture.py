"""An event's house at one moment, in memory: corrected seat by seat, and by the clock where holds come to their end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from zlib import crc32

from shared.clock import Millis
from sync_server.holds.standing import PlacesNow, Seat, SeatState
from sync_server.seating.bitmap import Shown
from sync_server.seating.ground import Ground


@dataclass(frozen=True, slots=True)
class ZoneNow:
    """How full a zone is."""

    number: int
    capacity: int
    held: int
    sold: int

    @property
    def available(self) -> int:
        """What could be held now; never less than nothing, even where a zone was made smaller than what is sold."""
        return max(0, self.capacity - self.held - self.sold)


@dataclass(slots=True)
class Picture:
    """Who sits where, without saying who."""

    ground: Ground
    as_of: Millis  # of the last time by which a hold came to its end, or anything was looked up
    places: PlacesNow
    seats: bytearray = field(init=False)
    _held_until: dict[int, Millis] = field(default_factory=dict)  # as it is written: ended holds too, for a moment
    _held: Counter[int] = field(default_factory=Counter)  # by zone
    _sold: Counter[int] = field(default_factory=Counter)
    _next: Millis | None = None  # when the next of these is over

    def __post_init__(self) -> None:
        """Begin with an empty house."""
        self.seats = bytearray(self.ground.empty)

    def correct(self, rows: Iterable[Seat], now: Millis, *, touched: Collection[int] = ()) -> None:
        """Take over how it stands with these seats; those that were touched and have no row are free."""
        self.age(now)
        known = {seat: (state, until) for seat, state, until in rows}
        for seat in {*known, *touched}:
            if self.ground.has(seat):
                state, until = known.get(seat, (SeatState.FREE, None))
                self._write(seat, state, until, now)
        self._look_ahead(now)
        self.as_of = max(self.as_of, now)

    def _write(self, seat: int, state: SeatState, until: Millis | None, now: Millis) -> None:
        self._held_until.pop(seat, None)
        if state is SeatState.HELD and until is not None:
            self._held_until[seat] = until
            state = SeatState.HELD if until > now else SeatState.FREE
        self._show(seat, state)

    def _show(self, seat: int, state: SeatState) -> None:
        at = seat - self.ground.first
        zone, before = self.ground.zone_of[at], self.seats[at]
        after = self.ground.empty[at] if state is SeatState.FREE else int(state)
        self._held[zone] += (after == Shown.HELD) - (before == Shown.HELD)
        self._sold[zone] += (after == Shown.TAKEN) - (before == Shown.TAKEN)
        self.seats[at] = after

    def age(self, now: Millis) -> bool:
        """Let go of what is held no longer; whether anything was."""
        if self._next is None or self._next > now:
            return False
        for seat, until in self._held_until.items():
            if until <= now and self.seats[seat - self.ground.first] == Shown.HELD:
                self._show(seat, SeatState.FREE)
        self._look_ahead(now)
        self.as_of = max(self.as_of, now)
        return True

    def _look_ahead(self, now: Millis) -> None:
        self._next = min((until for until in self._held_until.values() if until > now), default=None)

    @property
    def next_end(self) -> Millis | None:
        """When the next hold is over."""
        return min((at for at in (self._next, self.places.until) if at is not None), default=None)

    def ended(self, after: Millis, now: Millis) -> set[int]:
        """Seats whose hold came to its end in that time, as far as nothing else has been heard of them."""
        return {seat for seat, until in self._held_until.items() if after < until <= now}

    def zones(self) -> list[ZoneNow]:
        """How full each open zone is."""
        return [self._zone(number) for number in self.ground.zones]

    def _zone(self, number: int) -> ZoneNow:
        zone = self.ground.zones[number]
        if zone.zone_type.numbered:
            return ZoneNow(number, zone.capacity, self._held[number], self._sold[number])
        return ZoneNow(number, zone.capacity, self.places.held.get(number, 0), self.places.sold.get(number, 0))

    def kept(self) -> frozenset[int]:
        """Free seats that are kept for whoever comes along with a guest in a wheelchair."""
        full = {zone.number: zone for zone in self.zones()}
        kept = self.ground.places.kept(lambda number: _percent(full[number]) if number in full else 100.0)
        return frozenset(seat for seat in kept if self.seats[seat - self.ground.first] == Shown.FREE)

    def shown(self, kept: Collection[int]) -> bytes:
        """What organisers see, seat by seat."""
        if not kept:
            return bytes(self.seats)
        shown = bytearray(self.seats)
        for seat in kept:
            shown[seat - self.ground.first] = Shown.CLOSED
        return bytes(shown)


def _percent(zone: ZoneNow) -> float:
    return 100.0 * (zone.held + zone.sold) / zone.capacity if zone.capacity else 100.0


def mark_of(kept: Collection[int]) -> str:
    """A short name for which seats are kept."""
    return f"{crc32(','.join(map(str, sorted(kept))).encode()):x}" if kept else "0"
