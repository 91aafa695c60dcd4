"""The seats of a house as the search for good ones sees them: rows of bits, kept up to date seat by seat.

Every row knows its geometry once and for all. For each size of party the hall keeps, as one long number, which rows
have room for it; taking a seat corrects one bit of each. A search touches only rows that fit, the nearest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import dist
from typing import Final

from sync_server.seating import bits

Point = tuple[float, float]

WIDEST_SPLIT: Final = 20
"""Rows of different sections stay further apart than any party may be split."""
NEARLY_SOLD: Final = 0.9
"""Above this share of its seats sold, a row may be left with single seats."""

_BURDEN: Final = (0.0, 4.0, 1.0, 4.0, 1.2, 2.0)
"""What a run of that many free seats costs, in seat widths: how hard it is to sell to the last seat. Pairs are what
most people ask for, so two and four go; a three waits for a party of three. Found by selling small halls out."""


def burden(length: int) -> float:
    """How much further a party may as well sit, in seat widths, for no such run to be left."""
    return _BURDEN[length] if length < len(_BURDEN) else 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its seats from one end to the other, None where an aisle or a pillar parts neighbours."""

    zone: int
    section: str  # rows of one section stand one behind the other, in the order in which the hall gets them
    label: str
    seats: tuple[int | None, ...]
    points: tuple[Point, ...]
    focus: Point  # of the zone: the stage's middle, mostly
    names: tuple[str, ...] = ()  # what is printed on the seats
    zone_name: str = ""


@dataclass(slots=True)
class Standing:
    """How one row stands: which seats may be sold now, and what never changes about it."""

    row: Row
    open: int
    usable: int  # seats that may be sold at all, sold or not
    sums: tuple[float, ...]  # of the distances to the focus, up to each place
    floor: float  # no seat of the row is nearer
    pitch: float  # from one seat to the next
    rank: int = 0
    order: int = 0
    best: dict[int, tuple[float, int]] = field(default_factory=dict)  # by size of party, until a seat changes

    @classmethod
    def of(cls, row: Row) -> Standing:
        """A row with all its seats free."""
        away = [dist(point, row.focus) for point in row.points]
        every = sum(1 << place for place, seat in enumerate(row.seats) if seat is not None)
        seated = [metres for metres, seat in zip(away, row.seats, strict=True) if seat is not None]
        sums = tuple(accumulate(away, initial=0.0))
        return cls(row, every, every.bit_count(), sums, min(seated, default=0.0), _pitch(row.points))

    def away(self, start: int, count: int) -> float:
        """How far `count` neighbours from `start` sit from the focus, on average."""
        return (self.sums[start + count] - self.sums[start]) / count

    @property
    def nearly_sold(self) -> bool:
        """Whether so little is left that single seats cannot be helped."""
        return self.usable - self.open.bit_count() > NEARLY_SOLD * self.usable


def _pitch(points: Sequence[Point]) -> float:
    steps = sorted(dist(one, other) for one, other in pairwise(points))
    return steps[len(steps) // 2] if steps else 1.0


@dataclass(slots=True)
class Room:
    """Which rows have room for a party of one size: a bit a row, by nearness and as they stand in the house."""

    tidy_by_rank: int = 0
    tidy: int = 0
    any_by_rank: int = 0
    any: int = 0


@dataclass(slots=True)
class Hall:
    """All rows, what is free in them, and for each size of party where there is room."""

    rows: list[Standing]
    by_rank: list[Standing] = field(default_factory=list)
    by_order: dict[int, Standing] = field(default_factory=dict)
    bargain: float = 0.0  # how much nearer than it is a tidy place may seem
    nearly_sold: int = 0  # rows as they stand in the house
    nearly_sold_by_rank: int = 0
    _places: dict[int, tuple[Standing, int]] = field(default_factory=dict)
    _rooms: dict[int, Room] = field(default_factory=dict)
    _zones: dict[int, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Row], sizes: Iterable[int] = range(1, 11)) -> Hall:
        """A house with every seat free, ready for parties of these sizes; other sizes cost their first search more."""
        hall = cls([Standing.of(row) for row in rows])
        hall._place_rows()
        for size in sizes:
            hall.room(size)
        return hall

    def _place_rows(self) -> None:
        self.bargain = max(_BURDEN) * max((standing.pitch for standing in self.rows), default=0.0)
        self.by_rank = sorted(self.rows, key=lambda standing: standing.floor)
        order, section = 0, None
        for standing in self.rows:
            order += 1 if (standing.row.zone, standing.row.section) == section else WIDEST_SPLIT + 1
            section = (standing.row.zone, standing.row.section)
            standing.order = order
            self.by_order[order] = standing
        for rank, standing in enumerate(self.by_rank):
            standing.rank = rank
            by_rank, by_order = self._zones.get(standing.row.zone, (0, 0))
            self._zones[standing.row.zone] = by_rank | 1 << rank, by_order | 1 << standing.order
        for standing in self.rows:
            self._places |= {
                seat: (standing, place) for place, seat in enumerate(standing.row.seats) if seat is not None
            }

    def where(self, seat: int) -> tuple[Standing, int]:
        """The row of a seat and its place in it; KeyError for a seat that the house does not have."""
        return self._places[seat]

    def has(self, seat: int) -> bool:
        """Whether the house has that seat."""
        return seat in self._places

    def is_open(self, seat: int) -> bool:
        """Whether a seat may be sold now."""
        standing, place = self._places[seat]
        return bool(standing.open >> place & 1)

    def take(self, seats: Iterable[int]) -> None:
        """Count seats as sold or held."""
        for standing, mask in self._grouped(seats):
            self._set(standing, standing.open & ~mask)

    def release(self, seats: Iterable[int]) -> None:
        """Let seats that were taken be sold again."""
        for standing, mask in self._grouped(seats):
            self._set(standing, standing.open | mask)

    def close(self, seats: Iterable[int]) -> None:
        """Take seats out of the sale: they are walls to their neighbours, and not counted as sold."""
        for standing, mask in self._grouped(seats):
            standing.usable -= (standing.open & mask).bit_count()
            self._set(standing, standing.open & ~mask)

    def reopen(self, seats: Iterable[int]) -> None:
        """Bring closed seats back into the sale."""
        for standing, mask in self._grouped(seats):
            standing.usable += (mask & ~standing.open).bit_count()
            self._set(standing, standing.open | mask)

    def _grouped(self, seats: Iterable[int]) -> list[tuple[Standing, int]]:
        masks: dict[int, int] = {}
        for seat in seats:
            standing, place = self._places[seat]
            masks[standing.rank] = masks.get(standing.rank, 0) | 1 << place
        return [(self.by_rank[rank], mask) for rank, mask in masks.items()]

    def _set(self, standing: Standing, mask: int) -> None:
        standing.open = mask
        standing.best.clear()
        for size, room in self._rooms.items():
            _enter(room, standing, size)
        self.nearly_sold = _put(self.nearly_sold, standing.order, standing.nearly_sold)
        self.nearly_sold_by_rank = _put(self.nearly_sold_by_rank, standing.rank, standing.nearly_sold)

    def room(self, size: int) -> Room:
        """Where a party of this size fits."""
        room = self._rooms.get(size)
        if room is None:
            room = self._rooms[size] = Room()
            for standing in self.rows:
                _enter(room, standing, size)
        return room

    def zones_by_rank(self, zones: Iterable[int] | None) -> int:
        """The rows of some zones, or of all, by nearness."""
        return self._rows_of(zones, 0)

    def zones_in_order(self, zones: Iterable[int] | None) -> int:
        """The rows of some zones, or of all, as they stand in the house."""
        return self._rows_of(zones, 1)

    def _rows_of(self, zones: Iterable[int] | None, which: int) -> int:
        found = 0
        for zone in self._zones if zones is None else zones:
            found |= self._zones.get(zone, (0, 0))[which]
        return found


def _enter(room: Room, standing: Standing, size: int) -> None:
    tidy = bits.tidy_starts(standing.open, size) != 0
    any_at_all = tidy or bits.starts(standing.open, size) != 0
    room.tidy_by_rank = _put(room.tidy_by_rank, standing.rank, tidy)
    room.tidy = _put(room.tidy, standing.order, tidy)
    room.any_by_rank = _put(room.any_by_rank, standing.rank, any_at_all)
    room.any = _put(room.any, standing.order, any_at_all)


def _put(mask: int, at: int, value: bool) -> int:
    if bool(mask >> at & 1) == value:
        return mask
    return mask ^ 1 << at
