"""Decides who keeps their seat in a new layout, who gets another, and who gets none; needs no database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import dist
from typing import Final

from sync_server.events.days.chosen_days import EVERY_DAY, joined, overlap
from sync_server.reseating.free_seats import FreeSeats, LayoutSeat, Point, middle_of

WHEELCHAIR: Final = "wheelchair"
_KINDS: Final = {"restricted_view": ("restricted_view", "standard"), WHEELCHAIR: (WHEELCHAIR,)}
_STANDARD: Final = ("standard",)


@dataclass(frozen=True, slots=True)
class Guest:
    """A ticket on a seat of the old layout."""

    ticket: int
    seat: int
    order: int  # tickets that were issued first are seated first
    group_id: str = ""  # "": alone
    days: int = EVERY_DAY  # as a bitmap: guests of different days may have the same seat


@dataclass(slots=True)
class SeatingPlan:
    """Where everybody sits: seats by ticket, and why some tickets have none."""

    stays: dict[int, LayoutSeat] = field(default_factory=dict)
    moves: dict[int, LayoutSeat] = field(default_factory=dict)
    unplaced: dict[int, str] = field(default_factory=dict)

    def seat(self, ticket: int) -> int:
        """The number of a ticket's seat in the new layout; only for tickets with a seat."""
        return (self.moves.get(ticket) or self.stays[ticket]).number


@dataclass(slots=True)
class _Unit:
    """Guests who must stay together: a wheelchair user and their companions."""

    guest: Guest
    companions: list[Guest]

    @property
    def guests(self) -> tuple[Guest, ...]:
        """All of them."""
        return self.guest, *self.companions

    @property
    def days(self) -> int:
        """All of their days."""
        return joined([guest.days for guest in self.guests])


def plan(
    guests: Iterable[Guest],
    old: Mapping[int, LayoutSeat],
    new: Iterable[LayoutSeat],
    excluded: frozenset[int] = frozenset(),
) -> SeatingPlan:
    """Seat all guests of the old layout in the new one; seats in `excluded` are not given to anybody.

    Guests keep their seats if they can. The others are seated by their days, those of the most days first: wheelchair
    users with their companions, then groups, the largest first.
    """
    return _Planner(sorted(guests, key=lambda guest: (guest.order, guest.ticket)), old, new, excluded).run()


class _Planner:
    """Works out one plan."""

    def __init__(
        self,
        guests: Sequence[Guest],
        old: Mapping[int, LayoutSeat],
        new: Iterable[LayoutSeat],
        excluded: frozenset[int],
    ) -> None:
        self._guests, self._old = guests, old
        self._open = {seat.seat_id: seat for seat in new if not seat.closed and seat.number not in excluded}
        self._by_number = {seat.number: seat for seat in self._open.values()}
        self._plan = SeatingPlan()
        rows: dict[tuple[str, tuple[str, str]], list[Point]] = {}
        for seat in old.values():
            rows.setdefault((seat.zone, seat.row), []).append(seat.at)
        self._middles = {row: middle_of(points) for row, points in rows.items()}

    def run(self) -> SeatingPlan:
        """Seat those who stay, then wheelchair users, then everybody else."""
        units = self._units()
        bound = {guest.ticket for unit in units for guest in unit.guests}
        moving_units = [unit for unit in units if not self._keep_unit(unit)]
        moving = [guest for guest in self._guests if guest.ticket not in bound and not self._keep_seat(guest)]
        self._staying = self._middles_of_groups()
        for days in sorted(
            {*(unit.days for unit in moving_units), *(guest.days for guest in moving)}, key=_most_days_first
        ):
            self._free = FreeSeats.of(self._free_on(days))
            for unit in moving_units:
                if unit.days == days:
                    self._move_unit(unit)
            for group in self._groups(guest for guest in moving if guest.days == days):
                self._seat_group(group)
        return self._plan

    def _free_on(self, days: int) -> list[LayoutSeat]:
        """The seats that nobody has on any of these days."""
        seated = {**self._plan.stays, **self._plan.moves}
        taken = {
            seated[guest.ticket].number
            for guest in self._guests
            if guest.ticket in seated and overlap(guest.days, days)
        }
        return [seat for seat in self._open.values() if seat.number not in taken]

    def _units(self) -> list[_Unit]:
        at: dict[int, list[Guest]] = {}
        for guest in self._guests:
            at.setdefault(guest.seat, []).append(guest)
        units, bound = [], set[int]()
        for guest in self._guests:
            seat = self._old[guest.seat]
            if seat.kind == WHEELCHAIR:
                beside = [other for number in seat.companions for other in at.get(number, ())]
                companions = [other for other in beside if _together(guest, other) and other.ticket not in bound]
                bound |= {other.ticket for other in companions}
                units.append(_Unit(guest, companions))
        return units

    def _keep_unit(self, unit: _Unit) -> bool:
        guests = unit.guests
        seats = [self._same_seat(guest) for guest in guests]
        place, beside = seats[0], seats[1:]
        if place is None or any(seat is None or seat.number not in place.companions for seat in beside):
            return False
        self._plan.stays |= {guest.ticket: seat for guest, seat in zip(guests, seats, strict=True) if seat is not None}
        return True

    def _keep_seat(self, guest: Guest) -> bool:
        seat = self._same_seat(guest)
        if seat is None:
            return False
        self._plan.stays[guest.ticket] = seat
        return True

    def _same_seat(self, guest: Guest) -> LayoutSeat | None:
        """The same seat in the new layout, if the guest may keep it."""
        before = self._old[guest.seat]
        after = self._open.get(before.seat_id)
        if after is None or (after.kind == WHEELCHAIR) != (before.kind == WHEELCHAIR):
            return None
        return after if after.access in {before.access, ""} else None

    def _middles_of_groups(self) -> dict[str, Point]:
        points: dict[str, list[Point]] = {}
        for guest in self._guests:
            if guest.group_id and guest.ticket in self._plan.stays:
                points.setdefault(guest.group_id, []).append(self._plan.stays[guest.ticket].at)
        return {group_id: middle_of(of_group) for group_id, of_group in points.items()}

    def _move_unit(self, unit: _Unit) -> None:
        """The nearest free wheelchair place with room for all companions; units are never split."""
        before = self._old[unit.guest.seat]
        candidates = [
            (place.zone != before.zone, dist(before.at, place.at), place.number, [place, *beside])
            for place in self._by_number.values()
            if place.kind == WHEELCHAIR and self._is_free_for(unit.guest, place)
            if (beside := self._companion_seats(place, unit.companions)) is not None
        ]
        guests = unit.guests
        if not candidates:
            why = "no_wheelchair_place_with_companion_seats" if unit.companions else "no_wheelchair_place"
            self._plan.unplaced |= {guest.ticket: why for guest in guests}
            return
        self._give(guests, min(candidates, key=lambda candidate: candidate[:3])[3])

    def _is_free_for(self, guest: Guest, seat: LayoutSeat) -> bool:
        """Whether a guest may be moved to this seat: it is free, at the same price, and its zone admits them."""
        before = self._old[guest.seat]
        return seat.price == before.price and seat.access in {before.access, ""} and self._free.is_free(seat.number)

    def _companion_seats(self, place: LayoutSeat, companions: Sequence[Guest]) -> list[LayoutSeat] | None:
        """A seat beside this wheelchair place for each companion, in their order; None unless all of them get one."""
        left = [self._by_number[number] for number in place.companions if number in self._by_number]
        given: dict[Guest, LayoutSeat] = {}
        # Those whom only an open zone admits choose first, and nobody takes an open seat while their own zone has one.
        for guest in sorted(companions, key=lambda guest: self._old[guest.seat].access != ""):
            access = self._old[guest.seat].access
            suitable = [seat for seat in left if self._is_free_for(guest, seat)]
            if not suitable:
                return None
            given[guest] = min(suitable, key=lambda seat: seat.access != access)
            left.remove(given[guest])
        return [given[guest] for guest in companions]

    def _groups(self, moving: Iterable[Guest]) -> list[list[Guest]]:
        """Members of one group who need the same kind of seat, the largest first, then in order of issue."""
        groups: dict[tuple[str, ...], list[Guest]] = {}
        for guest in moving:
            seat = self._old[guest.seat]
            who = guest.group_id or f"ticket {guest.ticket}"
            groups.setdefault((who, seat.zone, seat.kind, seat.price, seat.access), []).append(guest)
        return sorted(groups.values(), key=lambda group: (-len(group), group[0].order, group[0].ticket))

    def _seat_group(self, group: list[Guest]) -> None:
        """All in one row, else in clusters as large as possible, each near the one before."""
        before, near = self._old[group[0].seat], self._anchor(group)
        while group:
            found = self._cluster(before, near, len(group))
            if not found:
                self._plan.unplaced |= {guest.ticket: "no_seat_of_this_price_category" for guest in group}
                return
            self._give(group[: len(found)], found)
            group, near = group[len(found) :], found[0].at

    def _cluster(self, before: LayoutSeat, near: Point, most: int) -> list[LayoutSeat]:
        """Together in the same zone, else together elsewhere, else in smaller clusters."""
        own, others = self._free.fitting(before, _KINDS.get(before.kind, _STANDARD))
        home = self._middles[before.zone, before.row]
        for count in _sizes(most, max((pool.widest for pool in (*own, *others)), default=0)):
            for pools in (own, others):
                found = [each for pool in pools if (each := pool.nearest(home, near, count))]
                if found:
                    return min(found, key=lambda each: (each[0], each[1][0].number))[1]
        return []

    def _anchor(self, group: list[Guest]) -> Point:
        """Where a group belongs: near its members who stay, else where the others sat."""
        staying = self._staying.get(group[0].group_id)
        return staying or middle_of(self._old[guest.seat].at for guest in group)

    def _give(self, guests: Iterable[Guest], seats: Sequence[LayoutSeat]) -> None:
        self._free.take(seats)
        self._plan.moves |= {guest.ticket: seat for guest, seat in zip(guests, seats, strict=True)}


def _together(guest: Guest, other: Guest) -> bool:
    """Whether they come together: bought together, and for a day in common."""
    return guest.group_id == other.group_id and overlap(guest.days, other.days)


def _most_days_first(days: int) -> tuple[bool, int, int]:
    return days != EVERY_DAY, -days.bit_count(), days


def _sizes(most: int, widest: int) -> Iterator[int]:
    """The cluster sizes to try, largest first; nobody is left alone where another split is possible."""
    for count in range(min(most, widest), 0, -1):
        if most - count != 1 or most <= 3:
            yield count
