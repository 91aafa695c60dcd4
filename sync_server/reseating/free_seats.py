"""The free seats of the new layout as the search for new seats sees them: rows of bits, nearest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import dist
from typing import Final

from sync_server.seating.search import bits

Point = tuple[float, float]

_MAX_FULL_ROWS: Final = 64
"""A path that passes more full rows than this is rebuilt without them."""


@dataclass(frozen=True, slots=True)
class LayoutSeat:
    """A seat of a layout, with what the move of guests depends on."""

    number: int
    seat_id: str
    zone: str
    row: tuple[str, str]  # section and label
    place: int  # in its row; neighbours differ by one
    at: Point
    kind: str = "standard"  # standard, companion, wheelchair, restricted_view
    price: str = ""
    access: str = ""  # who may book in its zone; "": everybody
    closed: bool = False
    companions: tuple[int, ...] = ()  # beside a wheelchair place


@dataclass(slots=True)
class _Row:
    """The seats of one row that belong to one pool."""

    first: int  # the lowest place
    seats: dict[int, LayoutSeat]  # by place
    middle: Point
    reach: float  # distance from the middle to the furthest seat
    free: int = 0  # a bit for each place, from the first

    def best(self, near: Point, count: int) -> tuple[float, int] | None:
        """The distance to the nearest run of free neighbours, and where it begins."""
        starts, found = bits.starts(self.free, count), None
        while starts:
            start = (starts & -starts).bit_length() - 1
            starts &= starts - 1
            distance = dist(near, self.seats[self.first + start + count // 2].at)
            if found is None or (distance, start) < found:
                found = distance, start
        return found


@dataclass(slots=True)
class Pool:
    """Seats that are equivalent for a guest apart from position: of the same zone, kind, price and access."""

    rows: list[_Row]
    widest: int  # the most neighbours there can be
    left: int  # free seats
    _paths: dict[Point, list[tuple[float, int]]] = field(default_factory=dict)

    def nearest(self, home: Point, near: Point, count: int) -> tuple[float, list[LayoutSeat]] | None:
        """The free neighbours nearest to `near`; `home` is a point shared by many guests, such as a row's middle."""
        slack, best = dist(home, near), None
        full_rows = 0
        for bound, at in self._path(home):
            if best is not None and bound - slack > best[0]:
                break
            row = self.rows[at]
            full_rows += not row.free
            found = row.best(near, count)
            if found is not None and (best is None or (found[0], at, found[1]) < best):
                best = found[0], at, found[1]
        if full_rows > _MAX_FULL_ROWS:
            del self._paths[home]
        return None if best is None else (best[0], self._seats(best[1], best[2], count))

    def _path(self, home: Point) -> list[tuple[float, int]]:
        """The rows with free seats, by the lower bound of their distance."""
        if home not in self._paths:
            bounds = ((dist(home, row.middle) - row.reach, at) for at, row in enumerate(self.rows) if row.free)
            self._paths[home] = sorted(bounds)
        return self._paths[home]

    def _seats(self, at: int, start: int, count: int) -> list[LayoutSeat]:
        row = self.rows[at]
        return [row.seats[row.first + place] for place in range(start, start + count)]


@dataclass(slots=True)
class FreeSeats:
    """All free seats, by pool."""

    pools: dict[tuple[str, str, str], dict[str, Pool]]  # by kind, price and access, then by zone
    _seats: dict[int, tuple[Pool, _Row, int]]  # pool, row and bit of each seat

    @classmethod
    def of(cls, free: Iterable[LayoutSeat]) -> FreeSeats:
        """Group these free seats into pools."""
        grouped: dict[tuple[str, str, str], dict[str, dict[tuple[str, str], list[LayoutSeat]]]] = {}
        for seat in sorted(free, key=lambda seat: seat.number):
            zones = grouped.setdefault((seat.kind, seat.price, seat.access), {})
            zones.setdefault(seat.zone, {}).setdefault(seat.row, []).append(seat)
        seats: dict[int, tuple[Pool, _Row, int]] = {}
        pools = {
            name: {zone: _pool(rows.values(), seats) for zone, rows in zones.items()} for name, zones in grouped.items()
        }
        return cls(pools, seats)

    def fitting(self, seat: LayoutSeat, kinds: Iterable[str]) -> tuple[list[Pool], list[Pool]]:
        """The pools suitable for the guest of this seat, at the same price: those of the same zone, and the others."""
        own: list[Pool] = []
        others: list[Pool] = []
        for kind in kinds:
            for access in dict.fromkeys((seat.access, "")):
                for zone, pool in self.pools.get((kind, seat.price, access), {}).items():
                    if pool.left:
                        (own if zone == seat.zone else others).append(pool)
        return own, others

    def take(self, seats: Iterable[LayoutSeat]) -> None:
        """Mark seats as taken."""
        for seat in seats:
            pool, row, bit = self._seats[seat.number]
            pool.left -= bool(row.free & bit)
            row.free &= ~bit

    def is_free(self, number: int) -> bool:
        """Whether the seat with this number is free."""
        found = self._seats.get(number)
        return found is not None and bool(found[1].free & found[2])


def _pool(rows: Iterable[list[LayoutSeat]], seats: dict[int, tuple[Pool, _Row, int]]) -> Pool:
    pool_rows = [_row(row) for row in rows]
    pool = Pool(pool_rows, max(row.free.bit_length() for row in pool_rows), sum(len(row.seats) for row in pool_rows))
    for row in pool_rows:
        seats |= {seat.number: (pool, row, 1 << place - row.first) for place, seat in row.seats.items()}
    return pool


def _row(seats: list[LayoutSeat]) -> _Row:
    middle = middle_of(seat.at for seat in seats)
    first = min(seat.place for seat in seats)
    row = _Row(first, {seat.place: seat for seat in seats}, middle, max(dist(middle, seat.at) for seat in seats))
    row.free = sum(1 << place - first for place in row.seats)
    return row


def middle_of(points: Iterable[Point]) -> Point:
    """The centroid of some points."""
    listed = list(points)
    return sum(x for x, _ in listed) / len(listed), sum(y for _, y in listed) / len(listed)
