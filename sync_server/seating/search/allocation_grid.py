"""The seats of a venue as the search sees them: rows of bits, updated seat by seat.

The geometry of a row is worked out once. For each group size the grid stores, as one long integer, which rows have
room for it; taking a seat updates one bit of each. A search visits only rows that fit, nearest first.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from math import dist
from typing import Final, overload

from sync_server.seating.search import bits

Point = tuple[float, float]

WIDEST_SPLIT: Final = 20
"""Rows of different sections are numbered further apart than this, so that no group is split across sections."""
NEARLY_SOLD: Final = 0.9
"""A row with a larger share of its seats sold may be left with single seats."""

_FRAGMENT_COST: Final = (0.0, 4.0, 1.0, 4.0, 1.2, 2.0)
"""Cost of a run of that many free seats, in seat widths: how hard it is to sell the whole run. Most people book pairs,
so runs of two and four are cheap; a run of three waits for a group of three. Found by simulating sold-out venues."""


def fragment_cost(length: int) -> float:
    """How much further away a group may sit, in seat widths, to avoid leaving a run of this length."""
    return _FRAGMENT_COST[length] if length < len(_FRAGMENT_COST) else 1.0


class Points(Sequence[Point]):
    """Points in two columns, of sixteen bytes a point."""

    __slots__ = ("_x", "_y")

    def __init__(self, x: array[float], y: array[float]) -> None:
        self._x, self._y = x, y

    def __len__(self) -> int:
        return len(self._x)

    @overload
    def __getitem__(self, at: int) -> Point: ...
    @overload
    def __getitem__(self, at: slice) -> Points: ...
    def __getitem__(self, at: int | slice) -> Point | Points:
        if isinstance(at, slice):
            return Points(self._x[at], self._y[at])
        return self._x[at], self._y[at]

    def __iter__(self) -> Iterator[Point]:
        return zip(self._x, self._y, strict=True)


@dataclass(frozen=True)
class Row:
    """One row: its seats from one end to the other, None where an aisle or a pillar separates neighbours."""

    zone: int
    section: str  # rows of one section are one behind the other, in the order in which they are passed to the grid
    label: str
    seats: Sequence[int | None]
    points: Sequence[Point]
    focus: Point  # of the zone: usually the middle of the stage
    names: tuple[str, ...] = ()  # the labels on the seats
    zone_name: str = ""

    @cached_property
    def distance_sums(self) -> array[float]:
        """Prefix sums of the distances to the focus."""
        return array("d", accumulate((dist(point, self.focus) for point in self.points), initial=0.0))

    @cached_property
    def min_distance(self) -> float:
        """From the focus to the nearest seat."""
        seats = zip(self.points, self.seats, strict=True)
        return min((dist(point, self.focus) for point, seat in seats if seat is not None), default=0.0)

    @cached_property
    def pitch(self) -> float:
        """From one seat to the next."""
        steps = sorted(dist(one, other) for one, other in pairwise(self.points))
        return steps[len(steps) // 2] if steps else 1.0

    @cached_property
    def mask(self) -> int:
        """A bit for each place with a seat."""
        return sum(1 << place for place, seat in enumerate(self.seats) if seat is not None)


@dataclass(slots=True)
class RowState:
    """One row, and which of its seats are open now."""

    row: Row
    open: int
    usable: int  # seats that are on sale or sold, not closed
    min_distance: float
    pitch: float
    rank: int = 0
    order: int = 0
    best_by_size: dict[int, tuple[float, int]] = field(default_factory=dict)  # (cost, start), until a seat changes

    @classmethod
    def of(cls, row: Row) -> RowState:
        """A row with all its seats open."""
        return cls(row, row.mask, row.mask.bit_count(), row.min_distance, row.pitch)

    def away(self, start: int, count: int) -> float:
        """Average distance of `count` neighbours from `start` to the focus."""
        sums = self.row.distance_sums
        return (sums[start + count] - sums[start]) / count

    @property
    def nearly_sold(self) -> bool:
        """Whether so few seats are left that single seats cannot be avoided."""
        return self.usable - self.open.bit_count() > NEARLY_SOLD * self.usable


@dataclass(slots=True)
class FittingRows:
    """The rows with room for a group of one size, a bit per row: by rank (nearest first) and by order in the venue."""

    tidy_by_rank: int = 0
    tidy: int = 0
    any_by_rank: int = 0
    any: int = 0


@dataclass(slots=True)
class AllocationGrid:
    """All rows, their open seats, and which rows fit each group size."""

    rows: list[RowState]
    by_rank: list[RowState] = field(default_factory=list)
    by_order: dict[int, RowState] = field(default_factory=dict)
    max_bonus: float = 0.0  # upper bound on what a fragment saved takes off the cost of a place
    nearly_sold: int = 0  # rows, by order
    nearly_sold_by_rank: int = 0
    _row_at: array[int] = field(default_factory=lambda: array("i"))  # the row of each seat by its number; -1: none
    _place_at: array[int] = field(default_factory=lambda: array("H"))
    _fitting: dict[int, FittingRows] = field(default_factory=dict)
    _zones: dict[int, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Row], sizes: Iterable[int] = range(1, 11)) -> AllocationGrid:
        """A grid with every seat open, prepared for these group sizes; the first search for another size is slower."""
        grid = cls([RowState.of(row) for row in rows])
        grid._place_rows()
        for size in sizes:
            grid.fitting_rows(size)
        return grid

    def _place_rows(self) -> None:
        self.max_bonus = max(_FRAGMENT_COST) * max((row_state.pitch for row_state in self.rows), default=0.0)
        self.by_rank = sorted(self.rows, key=lambda row_state: row_state.min_distance)
        order, section = 0, None
        for row_state in self.rows:
            order += 1 if (row_state.row.zone, row_state.row.section) == section else WIDEST_SPLIT + 1
            section = (row_state.row.zone, row_state.row.section)
            row_state.order = order
            self.by_order[order] = row_state
        for rank, row_state in enumerate(self.by_rank):
            row_state.rank = rank
            by_rank, by_order = self._zones.get(row_state.row.zone, (0, 0))
            self._zones[row_state.row.zone] = by_rank | 1 << rank, by_order | 1 << row_state.order
        self._place_seats()

    def _place_seats(self) -> None:
        count = 1 + max(
            (seat for row_state in self.rows for seat in row_state.row.seats if seat is not None), default=0
        )
        self._row_at, self._place_at = array("i", [-1]) * count, array("H", [0]) * count
        for at, row_state in enumerate(self.rows):
            for place, seat in enumerate(row_state.row.seats):
                if seat is not None:
                    self._row_at[seat], self._place_at[seat] = at, place

    def where(self, seat: int) -> tuple[RowState, int]:
        """The row of a seat that the grid has, and its place in it."""
        return self.rows[self._row_at[seat]], self._place_at[seat]

    def has(self, seat: int) -> bool:
        """Whether the grid has this seat."""
        return 0 < seat < len(self._row_at) and self._row_at[seat] >= 0

    def is_open(self, seat: int) -> bool:
        """Whether a seat is open."""
        row_state, place = self.where(seat)
        return bool(row_state.open >> place & 1)

    def take(self, seats: Iterable[int]) -> None:
        """Mark seats as sold or held."""
        for row_state, mask in self._grouped(seats):
            self._set(row_state, row_state.open & ~mask)

    def release(self, seats: Iterable[int]) -> None:
        """Open seats that were taken."""
        for row_state, mask in self._grouped(seats):
            self._set(row_state, row_state.open | mask)

    def close(self, seats: Iterable[int]) -> None:
        """Take seats off sale: they act as walls to their neighbours and do not count as sold."""
        for row_state, mask in self._grouped(seats):
            row_state.usable -= (row_state.open & mask).bit_count()
            self._set(row_state, row_state.open & ~mask)

    def reopen(self, seats: Iterable[int]) -> None:
        """Put closed seats back on sale."""
        for row_state, mask in self._grouped(seats):
            row_state.usable += (mask & ~row_state.open).bit_count()
            self._set(row_state, row_state.open | mask)

    def _grouped(self, seats: Iterable[int]) -> list[tuple[RowState, int]]:
        masks: dict[int, int] = {}
        for seat in seats:
            row_state, place = self.where(seat)
            masks[row_state.rank] = masks.get(row_state.rank, 0) | 1 << place
        return [(self.by_rank[rank], mask) for rank, mask in masks.items()]

    def _set(self, row_state: RowState, mask: int) -> None:
        row_state.open = mask
        row_state.best_by_size.clear()
        for size, fitting in self._fitting.items():
            _enter(fitting, row_state, size)
        self.nearly_sold = _put(self.nearly_sold, row_state.order, row_state.nearly_sold)
        self.nearly_sold_by_rank = _put(self.nearly_sold_by_rank, row_state.rank, row_state.nearly_sold)

    def fitting_rows(self, size: int) -> FittingRows:
        """The rows where a group of this size fits."""
        fitting = self._fitting.get(size)
        if fitting is None:
            fitting = self._fitting[size] = FittingRows()
            for row_state in self.rows:
                _enter(fitting, row_state, size)
        return fitting

    def zones_by_rank(self, zones: Iterable[int] | None) -> int:
        """The rows of some zones, or of all, by rank."""
        return self._rows_of(zones, 0)

    def zones_in_order(self, zones: Iterable[int] | None) -> int:
        """The rows of some zones, or of all, by order."""
        return self._rows_of(zones, 1)

    def _rows_of(self, zones: Iterable[int] | None, which: int) -> int:
        found = 0
        for zone in self._zones if zones is None else zones:
            found |= self._zones.get(zone, (0, 0))[which]
        return found


def _enter(fitting: FittingRows, row_state: RowState, size: int) -> None:
    tidy = bits.tidy_starts(row_state.open, size) != 0
    any_at_all = tidy or bits.starts(row_state.open, size) != 0
    fitting.tidy_by_rank = _put(fitting.tidy_by_rank, row_state.rank, tidy)
    fitting.tidy = _put(fitting.tidy, row_state.order, tidy)
    fitting.any_by_rank = _put(fitting.any_by_rank, row_state.rank, any_at_all)
    fitting.any = _put(fitting.any, row_state.order, any_at_all)


def _put(mask: int, at: int, value: bool) -> int:
    if bool(mask >> at & 1) == value:
        return mask
    return mask ^ 1 << at
