"""The seats of a venue as the search sees them: rows of bits, updated seat by seat.

The geometry of a row is worked out once. For each group size the grid stores, as one long integer, which rows have
room for it; taking a seat updates one bit of each. A search visits only rows that fit, nearest first.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from math import dist
from typing import Final, TypeVar, overload

from sync_server.seating.search import bits

Point = tuple[float, float]
Key = TypeVar("Key", int, str)

WIDEST_SPLIT: Final = 20
"""Rows of different sections are numbered further apart than this, so that no group is split across sections."""
NEARLY_SOLD_TENTHS: Final = 9
"""A row with more tenths of its seats sold, the booking included, may be left with single seats."""
NEXT_BOOKING: Final = 4
"""Seats of a booking, which count in small zones: without them a first pair in the middle would spoil a short row."""
BURDEN_STEPS: Final = 16
"""In how many steps the cost of hard runs grows: costs that are kept change only when a step is reached."""

_FRAGMENT_COST: Final = (0.0, 4.0, 1.0, 4.0, 1.2, 2.0)
"""Cost of a run of that many free seats, in seat widths: how hard it is to sell the whole run. Most people book pairs,
so runs of two and four are cheap; a run of three waits for a group of three. Found by simulating sold-out venues.
The full cost counts in a full zone only, see `Fill`: nearly empty ones sell hard runs too."""


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
    further: float = 0.0  # how much further its zone is from what the whole plan faces than from what the zone faces
    restricted: int = 0  # seats with a restricted view, as bits
    prices: Mapping[str, int] = field(default_factory=dict)  # the seats of each price category, as bits

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
class Fill:
    """How full a zone is, for all its rows."""

    usable: int = 0
    open: int = 0

    @property
    def burden(self) -> float:
        """The share of the cost of hard runs that counts now: as much as is full with the next booking."""
        full = min(self.usable, self.usable - self.open + NEXT_BOOKING)
        return full * BURDEN_STEPS // self.usable / BURDEN_STEPS if self.usable else 0.0


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
    spared: int = 0  # seats of blocks that are still whole, as bits
    exempt: int = 0  # seats that may be left single, as bits
    fill: Fill = field(default_factory=Fill)  # of its zone
    best_by_size: dict[int, tuple[float, float, int]] = field(default_factory=dict)  # burden, cost and start, kept

    @classmethod
    def of(cls, row: Row) -> RowState:
        """A row with all its seats open."""
        return cls(row, row.mask, row.mask.bit_count(), row.min_distance + row.further, row.pitch)

    def away(self, start: int, count: int) -> float:
        """Average distance of `count` neighbours from `start` to what the plan faces."""
        sums = self.row.distance_sums
        return (sums[start + count] - sums[start]) / count + self.row.further

    def tidy_starts(self, count: int) -> int:
        """Where `count` neighbours leave no single seat."""
        return bits.tidy_starts(self.open, count, self.exempt)

    def nearly_sold_with(self, count: int) -> bool:
        """Whether so few seats are left once `count` more are sold that single seats cannot be avoided."""
        return count >= self.nearly_sold_from

    @property
    def nearly_sold_from(self) -> int:
        """How many more must be sold for that."""
        return NEARLY_SOLD_TENTHS * self.usable // 10 + 1 - (self.usable - self.open.bit_count())


@dataclass(slots=True)
class FittingRows:
    """The rows with room for a group of one size, a bit per row: by rank (nearest first) and by order in the venue."""

    tidy_by_rank: int = 0
    tidy: int = 0
    any_by_rank: int = 0
    any: int = 0
    nearly_sold_by_rank: int = 0  # those of `any` that are nearly sold with this group
    nearly_sold: int = 0


@dataclass(slots=True)
class AllocationGrid:
    """All rows, their open seats, and which rows fit each group size."""

    rows: list[RowState]
    by_rank: list[RowState] = field(default_factory=list)
    by_order: dict[int, RowState] = field(default_factory=dict)
    fills: dict[int, Fill] = field(default_factory=dict)  # by zone
    has_restricted_views: bool = False
    _max_bonus: float = 0.0
    _row_at: array[int] = field(default_factory=lambda: array("i"))  # the row of each seat by its number; -1: none
    _place_at: array[int] = field(default_factory=lambda: array("H"))
    _fitting: dict[int, FittingRows] = field(default_factory=dict)
    _zones: dict[int, tuple[int, int]] = field(default_factory=dict)
    _prices: dict[str, tuple[int, int]] = field(default_factory=dict)
    _spared: int = 0  # how many seats

    @classmethod
    def of(cls, rows: Iterable[Row], sizes: Iterable[int] = range(1, 11)) -> AllocationGrid:
        """A grid with every seat open, prepared for these group sizes; the first search for another size is slower."""
        grid = cls([RowState.of(row) for row in rows])
        grid._place_rows()
        for size in sizes:
            grid.fitting_rows(size)
        return grid

    def _place_rows(self) -> None:
        self._max_bonus = max(_FRAGMENT_COST) * max((row_state.pitch for row_state in self.rows), default=0.0)
        for row_state in self.rows:
            row_state.fill = self.fills.setdefault(row_state.row.zone, Fill())
            row_state.fill.usable += row_state.usable
            row_state.fill.open += row_state.usable
        self.by_rank = sorted(self.rows, key=lambda row_state: row_state.min_distance)
        order, section = 0, None
        for row_state in self.rows:
            order += 1 if (row_state.row.zone, row_state.row.section) == section else WIDEST_SPLIT + 1
            section = (row_state.row.zone, row_state.row.section)
            row_state.order = order
            self.by_order[order] = row_state
        for rank, row_state in enumerate(self.by_rank):
            row_state.rank = rank
            bit = 1 << rank, 1 << row_state.order
            _add(self._zones, row_state.row.zone, bit)
            for price_category in row_state.row.prices:
                _add(self._prices, price_category, bit)
        self.has_restricted_views = any(row_state.row.restricted for row_state in self.rows)
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

    @property
    def max_bonus(self) -> float:
        """Upper bound on what a hard run saved takes off the cost of a place."""
        return self._max_bonus * max((fill.burden for fill in self.fills.values()), default=0.0)

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
            self._use(row_state, -(row_state.open & mask).bit_count())
            self._set(row_state, row_state.open & ~mask)

    def reopen(self, seats: Iterable[int]) -> None:
        """Put closed seats back on sale."""
        for row_state, mask in self._grouped(seats):
            self._use(row_state, (mask & ~row_state.open).bit_count())
            self._set(row_state, row_state.open | mask)

    def spare(self, seats: Iterable[int], *, whole: bool) -> None:
        """Offer these seats last as long as their block is whole."""
        for row_state, mask in self._grouped(seats):
            spared = row_state.spared | mask if whole else row_state.spared & ~mask
            self._spared += spared.bit_count() - row_state.spared.bit_count()
            row_state.spared = spared

    def exempt(self, seats: Iterable[int]) -> None:
        """Let these seats be left single."""
        for row_state, mask in self._grouped(seats):
            row_state.exempt |= mask
            self._set(row_state, row_state.open)

    @property
    def spares_seats(self) -> bool:
        """Whether any block is whole."""
        return self._spared > 0

    def _grouped(self, seats: Iterable[int]) -> list[tuple[RowState, int]]:
        masks: dict[int, int] = {}
        for seat in seats:
            row_state, place = self.where(seat)
            masks[row_state.rank] = masks.get(row_state.rank, 0) | 1 << place
        return [(self.by_rank[rank], mask) for rank, mask in masks.items()]

    @staticmethod
    def _use(row_state: RowState, seats: int) -> None:
        row_state.usable += seats
        row_state.fill.usable += seats

    def _set(self, row_state: RowState, mask: int) -> None:
        row_state.fill.open += mask.bit_count() - row_state.open.bit_count()
        row_state.open = mask
        row_state.best_by_size.clear()
        for size, fitting in self._fitting.items():
            _enter(fitting, row_state, size)

    def fitting_rows(self, size: int) -> FittingRows:
        """The rows where a group of this size fits."""
        fitting = self._fitting.get(size)
        if fitting is None:
            fitting = self._fitting[size] = FittingRows()
            for row_state in self.rows:
                _enter(fitting, row_state, size)
        return fitting

    def rows_by_rank(self, zones: Iterable[int] | None, price_category: str | None = None) -> int:
        """The rows of some zones, or of all, with seats of a price category, or of any; by rank."""
        return self._rows_of(zones, price_category, 0)

    def rows_in_order(self, zones: Iterable[int] | None, price_category: str | None = None) -> int:
        """The same rows by order."""
        return self._rows_of(zones, price_category, 1)

    def _rows_of(self, zones: Iterable[int] | None, price_category: str | None, which: int) -> int:
        found = 0
        for zone in self._zones if zones is None else zones:
            found |= self._zones.get(zone, (0, 0))[which]
        return found if price_category is None else found & self._prices.get(price_category, (0, 0))[which]


def _add(rows: dict[Key, tuple[int, int]], key: Key, bit: tuple[int, int]) -> None:
    by_rank, by_order = rows.get(key, (0, 0))
    rows[key] = by_rank | bit[0], by_order | bit[1]


def _enter(fitting: FittingRows, row_state: RowState, size: int) -> None:
    tidy = row_state.tidy_starts(size) != 0
    any_at_all = tidy or bits.starts(row_state.open, size) != 0
    fitting.tidy_by_rank = _put(fitting.tidy_by_rank, row_state.rank, tidy)
    fitting.tidy = _put(fitting.tidy, row_state.order, tidy)
    fitting.any_by_rank = _put(fitting.any_by_rank, row_state.rank, any_at_all)
    fitting.any = _put(fitting.any, row_state.order, any_at_all)
    nearly_sold = any_at_all and row_state.nearly_sold_with(size)
    fitting.nearly_sold_by_rank = _put(fitting.nearly_sold_by_rank, row_state.rank, nearly_sold)
    fitting.nearly_sold = _put(fitting.nearly_sold, row_state.order, nearly_sold)


def _put(mask: int, at: int, value: bool) -> int:
    if bool(mask >> at & 1) == value:
        return mask
    return mask ^ 1 << at
