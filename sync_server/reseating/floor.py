"""The free seats of a new layout, as the search for somebody's next seat sees them: rows of bits, the nearest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import dist
from typing import Final

from sync_server.seating import bits

Point = tuple[float, float]

_GONE: Final = 64
"""After so many full rows on the way a path is walked anew without them."""


@dataclass(frozen=True, slots=True)
class Place:
    """A seat of a layout, as far as moving guests asks."""

    number: int
    seat_id: str
    zone: str
    row: tuple[str, str]  # section and label
    place: int  # in its row; neighbours differ by one
    at: Point
    kind: str = "standard"  # standard, companion, wheelchair, restricted_view
    price: str = ""
    door: str = ""  # whom its zone lets in; "": everybody
    closed: bool = False
    companions: tuple[int, ...] = ()  # beside a wheelchair place


@dataclass(slots=True)
class _Row:
    """The seats of one row that are of one pool."""

    first: int  # the smallest place
    seats: dict[int, Place]  # by place
    middle: Point
    reach: float  # from the middle to its furthest seat
    free: int = 0  # a bit for each place, from the first

    def best(self, near: Point, count: int) -> tuple[float, int] | None:
        """How far the nearest run of free neighbours is, and where it begins."""
        starts, found = bits.starts(self.free, count), None
        while starts:
            start = (starts & -starts).bit_length() - 1
            starts &= starts - 1
            away = dist(near, self.seats[self.first + start + count // 2].at)
            if found is None or (away, start) < found:
                found = away, start
        return found


@dataclass(slots=True)
class Pool:
    """Seats that are as good as one another for the same guest: of one zone, kind, price and door."""

    rows: list[_Row]
    widest: int  # no party finds more neighbours
    left: int  # free seats
    _paths: dict[Point, list[tuple[float, int]]] = field(default_factory=dict)

    def nearest(self, home: Point, near: Point, count: int) -> tuple[float, list[Place]] | None:
        """The free neighbours nearest to `near`; `home` is a point that many ask from, such as a row's middle."""
        slack, best = dist(home, near), None
        gone = 0
        for bound, at in self._path(home):
            if best is not None and bound - slack > best[0]:
                break
            row = self.rows[at]
            gone += not row.free
            found = row.best(near, count)
            if found is not None and (best is None or (found[0], at, found[1]) < best):
                best = found[0], at, found[1]
        if gone > _GONE:
            del self._paths[home]
        return None if best is None else (best[0], self._seats(best[1], best[2], count))

    def _path(self, home: Point) -> list[tuple[float, int]]:
        """The rows with free seats, by how near any seat of theirs can be."""
        if home not in self._paths:
            bounds = ((dist(home, row.middle) - row.reach, at) for at, row in enumerate(self.rows) if row.free)
            self._paths[home] = sorted(bounds)
        return self._paths[home]

    def _seats(self, at: int, start: int, count: int) -> list[Place]:
        row = self.rows[at]
        return [row.seats[row.first + place] for place in range(start, start + count)]


@dataclass(slots=True)
class Floor:
    """All free seats, by pool."""

    pools: dict[tuple[str, str, str], dict[str, Pool]]  # by kind, price and door, then by zone
    _seats: dict[int, tuple[Pool, _Row, int]]  # where each stands, and its bit in its row

    @classmethod
    def of(cls, free: Iterable[Place]) -> Floor:
        """A floor with these free seats."""
        grouped: dict[tuple[str, str, str], dict[str, dict[tuple[str, str], list[Place]]]] = {}
        for seat in sorted(free, key=lambda seat: seat.number):
            zones = grouped.setdefault((seat.kind, seat.price, seat.door), {})
            zones.setdefault(seat.zone, {}).setdefault(seat.row, []).append(seat)
        seats: dict[int, tuple[Pool, _Row, int]] = {}
        pools = {
            name: {zone: _pool(rows.values(), seats) for zone, rows in zones.items()} for name, zones in grouped.items()
        }
        return cls(pools, seats)

    def fitting(self, seat: Place, kinds: Iterable[str]) -> tuple[list[Pool], list[Pool]]:
        """The pools that do for whoever sat here, of the same price: those of the same zone, and the others."""
        own: list[Pool] = []
        others: list[Pool] = []
        for kind in kinds:
            for door in dict.fromkeys((seat.door, "")):
                for zone, pool in self.pools.get((kind, seat.price, door), {}).items():
                    if pool.left:
                        (own if zone == seat.zone else others).append(pool)
        return own, others

    def take(self, seats: Iterable[Place]) -> None:
        """These are free no longer."""
        for seat in seats:
            pool, row, bit = self._seats[seat.number]
            pool.left -= bool(row.free & bit)
            row.free &= ~bit

    def is_free(self, number: int) -> bool:
        """Whether a seat of this number may still be given."""
        found = self._seats.get(number)
        return found is not None and bool(found[1].free & found[2])


def _pool(rows: Iterable[list[Place]], seats: dict[int, tuple[Pool, _Row, int]]) -> Pool:
    made = [_row(row) for row in rows]
    pool = Pool(made, max(row.free.bit_length() for row in made), sum(len(row.seats) for row in made))
    for row in made:
        seats |= {seat.number: (pool, row, 1 << place - row.first) for place, seat in row.seats.items()}
    return pool


def _row(seats: list[Place]) -> _Row:
    middle = middle_of(seat.at for seat in seats)
    first = min(seat.place for seat in seats)
    row = _Row(first, {seat.place: seat for seat in seats}, middle, max(dist(middle, seat.at) for seat in seats))
    row.free = sum(1 << place - first for place in row.seats)
    return row


def middle_of(points: Iterable[Point]) -> Point:
    """The middle of some points."""
    listed = list(points)
    return sum(x for x, _ in listed) / len(listed), sum(y for _, y in listed) / len(listed)
