"""Splits a group that does not fit in one row into clusters in neighbouring rows, leaving nobody alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import dist
from typing import Final

from sync_server.seating.search import bits
from sync_server.seating.search.allocation_grid import WIDEST_SPLIT, AllocationGrid, RowState
from sync_server.seating.search.eligibility import eligible
from sync_server.seating.search.offers import AllocationRules, Cluster, Grade, Offer, SeatRequest, offer, orphans_left

COMPARED_ROWS: Final = 6
"""How many of the nearest rows with room are compared seat by seat."""

Pieces = tuple[tuple[int, int], ...]


def split_into_clusters(
    grid: AllocationGrid, request: SeatRequest, rules: AllocationRules, *, tidy: bool
) -> Offer | None:
    """The group in as few clusters as possible; `tidy`: only where no avoidable single seat is left."""
    if request.size < 4:
        return None
    split = min(rules.max_group_split, WIDEST_SPLIT)
    grade = Grade.CLUSTERS if tidy else Grade.LEAVES_SINGLES
    found = _two(grid, request, split, tidy) or _many(grid, request, split, tidy)
    # A seat that the group may not have acts as a wall here, but is free: what is left beside it may be single.
    return None if found is None or (tidy and not leaves_no_singles(found)) else offer(found, grade)


def _fitting(grid: AllocationGrid, size: int, tidy: bool) -> int:
    fitting = grid.fitting_rows(size)
    return fitting.tidy | fitting.nearly_sold if tidy else fitting.any


def _two(grid: AllocationGrid, request: SeatRequest, split: int, tidy: bool) -> tuple[Cluster, ...] | None:
    pairs = (
        pair for more, fewer in _halves(request.size) for pair in _pairs(grid, request, (more, fewer), split, tidy)
    )
    return min(pairs, key=_discomfort, default=None)


def _halves(size: int) -> Iterator[tuple[int, int]]:
    for more in range(size - 2, (size - 1) // 2, -1):
        yield more, size - more


def _pairs(
    grid: AllocationGrid, request: SeatRequest, sizes: tuple[int, int], split: int, tidy: bool
) -> Iterator[tuple[Cluster, ...]]:
    zones = grid.rows_in_order(request.zones, request.price_category)
    one, other = (_fitting(grid, size, tidy) & zones for size in sizes)
    for rows in range(-split, split + 1):
        both = one & (other >> rows if rows >= 0 else other << -rows)
        for row_state in _nearest_rows(grid, both):
            pair = _pair(row_state, grid.by_order[row_state.order + rows], request, sizes, tidy)
            if pair is not None:
                yield pair


def _nearest_rows(grid: AllocationGrid, rows: int) -> list[RowState]:
    if rows.bit_count() < 1000:
        return nsmallest(COMPARED_ROWS, (grid.by_order[order] for order in bits.places(rows)), key=lambda row: row.rank)
    # With most rows fitting, walking outwards from the nearest finds enough of them sooner.
    return list(islice((row for row in grid.by_rank if rows >> row.order & 1), COMPARED_ROWS))


def _pair(
    one: RowState, other: RowState, request: SeatRequest, sizes: tuple[int, int], tidy: bool
) -> tuple[Cluster, ...] | None:
    together = sum(sizes) if other is one else 0
    tidy_one = tidy and not one.nearly_sold_with(together or sizes[0])
    tidy_other = tidy and not other.nearly_sold_with(together or sizes[1])
    first = _best_start(one, eligible(one, request), sizes[0], tidy_one, one.row.focus)
    if first is None:
        return None
    left = eligible(other, request) & ~first.mask if other is one else eligible(other, request)
    second = _best_start(other, left, sizes[1], tidy_other, _middle(first))
    return None if second is None else (first, second)


def _best_start(row_state: RowState, mask: int, count: int, tidy: bool, near: tuple[float, float]) -> Cluster | None:
    found = bits.tidy_starts(mask, count, row_state.exempt) or (0 if tidy else bits.starts(mask, count))
    middles = (Cluster(row_state, start, count) for start in bits.places(found))
    return min(middles, key=lambda cluster: dist(_middle(cluster), near), default=None)


def _middle(cluster: Cluster) -> tuple[float, float]:
    one = cluster.row_state.row.points[cluster.start]
    other = cluster.row_state.row.points[cluster.start + cluster.count - 1]
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def _discomfort(clusters: tuple[Cluster, ...]) -> tuple[int, float]:
    """Sort key: fewer clusters first, then nearer to the focus and to each other."""
    people = sum(cluster.count for cluster in clusters)
    away = sum(cluster.row_state.away(cluster.start, cluster.count) * cluster.count for cluster in clusters) / people
    middles = [_middle(cluster) for cluster in clusters]
    return len(clusters), away + sum(dist(middles[0], middle) for middle in middles[1:])


def _many(grid: AllocationGrid, request: SeatRequest, split: int, tidy: bool) -> tuple[Cluster, ...] | None:
    """Any number of clusters, possibly several in one row; every window of neighbouring rows is considered."""
    # Two or three: two people leave a single seat in a run of three, three people do not.
    usable = (_fitting(grid, 2, tidy) | _fitting(grid, 3, tidy)) & grid.rows_in_order(
        request.zones, request.price_category
    )
    windows = (_window(grid, usable, order, split) for order in bits.places(usable))
    enough = (rows for rows in windows if _can_seat(rows, request, tidy))
    nearest = nsmallest(COMPARED_ROWS, enough, key=lambda rows: min(row.rank for row in rows))
    return min((_seated(rows, request, tidy) for rows in nearest), key=_discomfort, default=None)


def _window(grid: AllocationGrid, usable: int, order: int, split: int) -> list[RowState]:
    return [grid.by_order[order + rows] for rows in range(split + 1) if usable >> (order + rows) & 1]


def _can_seat(rows: Sequence[RowState], request: SeatRequest, tidy: bool) -> bool:
    """Whether these rows seat exactly this group. Sets of numbers are bit masks, for speed."""
    size, masks = request.size, [eligible(row, request) for row in rows]
    if sum(mask.bit_count() for mask in masks) < size:
        return False
    reached = 1
    for row, mask in zip(rows, masks, strict=True):
        reached = _sums(reached, _counts(mask, size, _tidy_below(row, size, tidy)))
    return bool(reached >> size & 1)


def _sums(one: int, other: int) -> int:
    """All sums of a number from one set and a number from the other; sets are bits."""
    found = 0
    for number in bits.places(other):
        found |= one << number
    return found


def _tidy_below(row: RowState, size: int, tidy: bool) -> int:
    """From how many people of the group on a row may be left with single seats."""
    return max(0, min(row.nearly_sold_from, size + 1)) if tidy else 0


@lru_cache(maxsize=65_536)
def _counts(mask: int, size: int, tidy_below: int) -> int:
    return sum(1 << count for count in _ways(mask, size, tidy_below))


def _seated(rows: Sequence[RowState], request: SeatRequest, tidy: bool) -> tuple[Cluster, ...]:
    size = request.size
    chosen = _filled([_ways(eligible(row, request), size, _tidy_below(row, size, tidy)) for row in rows], size)
    return tuple(Cluster(rows[at], start, count) for at, start, count in chosen)


def _filled(ways: Iterable[Mapping[int, Pieces]], size: int) -> tuple[tuple[int, int, int], ...]:
    """The fewest pieces from any of the rows that seat exactly `size` people; the caller knows that they can."""
    reached: dict[int, tuple[tuple[int, int, int], ...]] = {0: ()}
    for at, row in enumerate(ways):
        further = dict(reached)
        for seated, pieces in reached.items():
            for count, more in row.items():
                _keep_fewest(further, seated + count, pieces + tuple((at, *piece) for piece in more), size)
        reached = further
    return reached[size]


def _keep_fewest(
    reached: dict[int, tuple[tuple[int, int, int], ...]],
    seated: int,
    pieces: tuple[tuple[int, int, int], ...],
    size: int,
) -> None:
    if seated <= size and (seated not in reached or len(pieces) < len(reached[seated])):
        reached[seated] = pieces


@lru_cache(maxsize=65_536)
def _ways(mask: int, size: int, tidy_below: int) -> Mapping[int, Pieces]:
    """For each number of people that a row can seat in clusters of two or more: the fewest such clusters.

    Fewer people than `tidy_below` must leave no single seat.
    """
    if not tidy_below:
        return _all_ways(mask, size, tidy=False)
    tidy = _all_ways(mask, size, tidy=True)
    if tidy_below > size:
        return tidy
    further = _all_ways(mask, size, tidy=False).items()
    return {seated: pieces for seated, pieces in further if seated >= tidy_below} | tidy


def _all_ways(mask: int, size: int, *, tidy: bool) -> dict[int, Pieces]:
    ways: dict[int, Pieces] = {0: ()}
    for start, length in bits.runs(mask):
        counts = [count for count in range(2, min(length, size) + 1) if not tidy or count != length - 1]
        for seated, pieces in list(ways.items()):
            for count in counts:
                more = (*pieces, (start, count))
                if seated + count <= size and len(more) < len(ways.get(seated + count, more + more)):
                    ways[seated + count] = more
    return ways


def leaves_no_singles(clusters: tuple[Cluster, ...]) -> bool:
    """Whether these leave no single seats, rows aside that are nearly sold with them."""
    by_row: dict[int, list[Cluster]] = {}
    for cluster in clusters:
        by_row.setdefault(cluster.row_state.rank, []).append(cluster)
    return all(
        some[0].row_state.nearly_sold_with(sum(cluster.count for cluster in some)) or not orphans_left(some)
        for some in by_row.values()
    )
