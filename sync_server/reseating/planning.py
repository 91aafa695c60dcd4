"""Who keeps his seat in a new layout, who sits where from now on, and who finds no seat: decided without a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import dist
from typing import Final

from sync_server.reseating.floor import Floor, Place, Point, middle_of

WHEELCHAIR: Final = "wheelchair"
_KINDS: Final = {"restricted_view": ("restricted_view", "standard"), WHEELCHAIR: (WHEELCHAIR,)}
_PLAIN: Final = ("standard",)


@dataclass(frozen=True, slots=True)
class Guest:
    """A ticket on a seat of the old layout."""

    ticket: int
    seat: int
    order: int  # tickets that were issued first choose first
    party: str = ""  # "": alone


@dataclass(slots=True)
class Plan:
    """Where everybody sits: new seats by ticket, and why some have none."""

    stays: dict[int, Place] = field(default_factory=dict)
    moves: dict[int, Place] = field(default_factory=dict)
    unplaced: dict[int, str] = field(default_factory=dict)

    def seat(self, ticket: int) -> int:
        """The number of a ticket's seat in the new layout, where it has one."""
        return (self.moves.get(ticket) or self.stays[ticket]).number


@dataclass(slots=True)
class _Unit:
    """Guests who must not be parted: a guest in a wheelchair and who comes along."""

    guest: Guest
    companions: list[Guest]


def plan(
    guests: Iterable[Guest], old: Mapping[int, Place], new: Iterable[Place], kept: frozenset[int] = frozenset()
) -> Plan:
    """Seat all guests of the old layout in the new one; `kept` are seats of the new one that nobody gets.

    Whoever can stay stays. Guests in wheelchairs choose first, with their companions; then parties, the largest first.
    """
    return _Planner(sorted(guests, key=lambda guest: (guest.order, guest.ticket)), old, new, kept).run()


class _Planner:
    """One planning, step by step."""

    def __init__(
        self, guests: Sequence[Guest], old: Mapping[int, Place], new: Iterable[Place], kept: frozenset[int]
    ) -> None:
        self._guests, self._old = guests, old
        self._open = {seat.seat_id: seat for seat in new if not seat.closed and seat.number not in kept}
        self._by_number = {seat.number: seat for seat in self._open.values()}
        self._plan = Plan()
        rows: dict[tuple[str, tuple[str, str]], list[Point]] = {}
        for seat in old.values():
            rows.setdefault((seat.zone, seat.row), []).append(seat.at)
        self._middles = {row: middle_of(points) for row, points in rows.items()}

    def run(self) -> Plan:
        """Stay, roll, walk."""
        units = self._units()
        bound = {guest.ticket for unit in units for guest in (unit.guest, *unit.companions)}
        rolling = [unit for unit in units if not self._unit_stays(unit)]
        walking = [guest for guest in self._guests if guest.ticket not in bound and not self._stays(guest)]
        taken = {seat.number for seat in self._plan.stays.values()}
        self._staying = self._middles_of_parties()
        self._floor = Floor.of(seat for seat in self._open.values() if seat.number not in taken)
        for unit in rolling:
            self._roll(unit)
        for party in self._parties(walking):
            self._seat(party)
        return self._plan

    def _units(self) -> list[_Unit]:
        at = {guest.seat: guest for guest in self._guests}
        units = []
        for guest in self._guests:
            seat = self._old[guest.seat]
            if seat.kind == WHEELCHAIR:
                along = [at[number] for number in seat.companions if number in at]
                units.append(_Unit(guest, [each for each in along if each.party == guest.party]))
        return units

    def _unit_stays(self, unit: _Unit) -> bool:
        there = [self._same(each) for each in (unit.guest, *unit.companions)]
        place, beside = there[0], there[1:]
        if place is None or any(seat is None or seat.number not in place.companions for seat in beside):
            return False
        everybody = (unit.guest, *unit.companions)
        self._plan.stays |= {each.ticket: seat for each, seat in zip(everybody, there, strict=True) if seat is not None}
        return True

    def _stays(self, guest: Guest) -> bool:
        seat = self._same(guest)
        if seat is None:
            return False
        self._plan.stays[guest.ticket] = seat
        return True

    def _same(self, guest: Guest) -> Place | None:
        """The same seat in the new layout, if it can still be his."""
        before = self._old[guest.seat]
        after = self._open.get(before.seat_id)
        if after is None or (after.kind == WHEELCHAIR) != (before.kind == WHEELCHAIR):
            return None
        return after if after.door in {before.door, ""} else None

    def _middles_of_parties(self) -> dict[str, Point]:
        points: dict[str, list[Point]] = {}
        for guest in self._guests:
            if guest.party and guest.ticket in self._plan.stays:
                points.setdefault(guest.party, []).append(self._plan.stays[guest.ticket].at)
        return {party: middle_of(some) for party, some in points.items()}

    def _roll(self, unit: _Unit) -> None:
        """The nearest free wheelchair place with room for all who come along; nobody is parted from them."""
        before, needed = self._old[unit.guest.seat], len(unit.companions)
        able = [
            (place.zone != before.zone, dist(before.at, place.at), place.number)
            for place in self._wheelchair_places(before)
            if len(self._beside(place)) >= needed
        ]
        everybody = (unit.guest, *unit.companions)
        if not able:
            why = "no_wheelchair_place" if not needed else "no_wheelchair_place_with_companion_seats"
            self._plan.unplaced |= {each.ticket: why for each in everybody}
            return
        place = self._by_number[min(able)[2]]
        self._give(everybody, [place, *self._beside(place)[:needed]])

    def _wheelchair_places(self, before: Place) -> list[Place]:
        free = [place for place in self._by_number.values() if place.kind == WHEELCHAIR]
        alike = [place for place in free if place.price == before.price and place.door in {before.door, ""}]
        return [place for place in alike if self._floor.is_free(place.number)]

    def _beside(self, place: Place) -> list[Place]:
        return [self._by_number[number] for number in place.companions if self._floor.is_free(number)]

    def _parties(self, walking: Iterable[Guest]) -> list[list[Guest]]:
        """Those of one party who look for the same kind of seat; the largest first, then in the order of issuing."""
        parties: dict[tuple[str, ...], list[Guest]] = {}
        for guest in walking:
            seat = self._old[guest.seat]
            who = guest.party or f"ticket {guest.ticket}"
            parties.setdefault((who, seat.zone, seat.kind, seat.price, seat.door), []).append(guest)
        return sorted(parties.values(), key=lambda party: (-len(party), party[0].order, party[0].ticket))

    def _seat(self, party: list[Guest]) -> None:
        """All in a row; else in clusters as large as can be, the next one near the one before."""
        before, near = self._old[party[0].seat], self._anchor(party)
        while party:
            found = self._cluster(before, near, len(party))
            if not found:
                self._plan.unplaced |= {guest.ticket: "no_seat_of_this_price_category" for guest in party}
                return
            self._give(party[: len(found)], found)
            party, near = party[len(found) :], found[0].at

    def _cluster(self, before: Place, near: Point, most: int) -> list[Place]:
        """Together in the same zone, else together elsewhere, else in smaller clusters."""
        own, others = self._floor.fitting(before, _KINDS.get(before.kind, _PLAIN))
        home = self._middles[before.zone, before.row]
        for count in _sizes(most, max((pool.widest for pool in (*own, *others)), default=0)):
            for pools in (own, others):
                found = [each for pool in pools if (each := pool.nearest(home, near, count))]
                if found:
                    return min(found, key=lambda each: (each[0], each[1][0].number))[1]
        return []

    def _anchor(self, party: list[Guest]) -> Point:
        """Where a party belongs: near those of it who stay, else where its movers sat."""
        staying = self._staying.get(party[0].party)
        return staying or middle_of(self._old[guest.seat].at for guest in party)

    def _give(self, guests: Iterable[Guest], seats: Sequence[Place]) -> None:
        self._floor.take(seats)
        self._plan.moves |= {guest.ticket: seat for guest, seat in zip(guests, seats, strict=True)}


def _sizes(most: int, widest: int) -> Iterator[int]:
    """What sizes of cluster are tried, the largest first; nobody is left alone where another split would do."""
    for count in range(min(most, widest), 0, -1):
        if most - count != 1 or most <= 3:
            yield count
