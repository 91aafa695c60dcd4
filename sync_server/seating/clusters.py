"""Seats for a party that does not fit together: clusters in neighbouring rows, nobody left alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import dist
from typing import Final

from sync_server.seating import bits
from sync_server.seating.hall import WIDEST_SPLIT, Hall, Standing
from sync_server.seating.offers import Cluster, Grade, Manners, Offer, Wish, offer, orphans_left

LOOKED_AT: Final = 6
"""How many of the nearest rows are compared seat by seat; whether there is room at all is known of every row."""

Pieces = tuple[tuple[int, int], ...]


def in_clusters(hall: Hall, wish: Wish, manners: Manners, *, tidy: bool) -> Offer | None:
    """The party in as few clusters as can be; `tidy`: only where no single seat is left that could be avoided."""
    if wish.size < 4:
        return None
    split = min(manners.max_group_split, WIDEST_SPLIT)
    grade = Grade.CLUSTERS if tidy else Grade.LEAVES_SINGLES
    found = _two(hall, wish, split, tidy) or _many(hall, wish, split, tidy)
    return None if found is None else offer(found, grade)


def _fitting(hall: Hall, size: int, tidy: bool) -> int:
    room = hall.room(size)
    return room.tidy | (room.any & hall.nearly_sold) if tidy else room.any


def _two(hall: Hall, wish: Wish, split: int, tidy: bool) -> tuple[Cluster, ...] | None:
    pairs = (pair for more, fewer in _halves(wish.size) for pair in _pairs(hall, wish, (more, fewer), split, tidy))
    return min(pairs, key=_discomfort, default=None)


def _halves(size: int) -> Iterator[tuple[int, int]]:
    for more in range(size - 2, (size - 1) // 2, -1):
        yield more, size - more


def _pairs(hall: Hall, wish: Wish, sizes: tuple[int, int], split: int, tidy: bool) -> Iterator[tuple[Cluster, ...]]:
    zones = hall.zones_in_order(wish.zones)
    one, other = (_fitting(hall, size, tidy) & zones for size in sizes)
    for rows in range(-split, split + 1):
        both = one & (other >> rows if rows >= 0 else other << -rows)
        for standing in _nearest_rows(hall, both):
            pair = _pair(standing, hall.by_order[standing.order + rows], sizes, tidy)
            if pair is not None:
                yield pair


def _nearest_rows(hall: Hall, rows: int) -> list[Standing]:
    if rows.bit_count() < 1000:
        return nsmallest(LOOKED_AT, (hall.by_order[order] for order in bits.places(rows)), key=lambda row: row.rank)
    # Where most rows do, walking from the nearest on finds enough of them at once.
    return list(islice((row for row in hall.by_rank if rows >> row.order & 1), LOOKED_AT))


def _pair(one: Standing, other: Standing, sizes: tuple[int, int], tidy: bool) -> tuple[Cluster, ...] | None:
    tidy_one, tidy_other = _must_be_tidy(one, tidy), _must_be_tidy(other, tidy)
    first = _best_start(one, one.open, sizes[0], tidy_one, one.row.focus)
    if first is None:
        return None
    left = other.open & ~first.mask if other is one else other.open
    second = _best_start(other, left, sizes[1], tidy_other, _middle(first))
    return None if second is None else (first, second)


def _must_be_tidy(standing: Standing, tidy: bool) -> bool:
    return tidy and not standing.nearly_sold


def _best_start(standing: Standing, mask: int, count: int, tidy: bool, near: tuple[float, float]) -> Cluster | None:
    found = bits.tidy_starts(mask, count) or (0 if tidy else bits.starts(mask, count))
    middles = (Cluster(standing, start, count) for start in bits.places(found))
    return min(middles, key=lambda cluster: dist(_middle(cluster), near), default=None)


def _middle(cluster: Cluster) -> tuple[float, float]:
    one = cluster.standing.row.points[cluster.start]
    other = cluster.standing.row.points[cluster.start + cluster.count - 1]
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def _discomfort(clusters: tuple[Cluster, ...]) -> tuple[int, float]:
    """Fewer clusters first; then near the focus and near each other."""
    people = sum(cluster.count for cluster in clusters)
    away = sum(cluster.standing.away(cluster.start, cluster.count) * cluster.count for cluster in clusters) / people
    middles = [_middle(cluster) for cluster in clusters]
    return len(clusters), away + sum(dist(middles[0], middle) for middle in middles[1:])


def _many(hall: Hall, wish: Wish, split: int, tidy: bool) -> tuple[Cluster, ...] | None:
    """Any number of clusters, some of them perhaps in one row: every stretch of neighbouring rows is looked at."""
    # Two, or else three: a run of three is left with a single seat by two people, and with none by three.
    able = (_fitting(hall, 2, tidy) | _fitting(hall, 3, tidy)) & hall.zones_in_order(wish.zones)
    windows = (_window(hall, able, order, split) for order in bits.places(able))
    enough = (rows for rows in windows if _seat(rows, wish.size, tidy))
    nearest = nsmallest(LOOKED_AT, enough, key=lambda rows: min(row.rank for row in rows))
    return min((_seated(rows, wish.size, tidy) for rows in nearest), key=_discomfort, default=None)


def _window(hall: Hall, able: int, order: int, split: int) -> list[Standing]:
    return [hall.by_order[order + rows] for rows in range(split + 1) if able >> (order + rows) & 1]


def _seat(rows: Sequence[Standing], size: int, tidy: bool) -> bool:
    """Whether these rows seat exactly so many; asked of thousands of rows, so in bits: bit n stands for n people."""
    if sum(row.open.bit_count() for row in rows) < size:
        return False
    reached = 1
    for row in rows:
        counts = _counts(row.open, size, _must_be_tidy(row, tidy))
        reached = _sums(reached, counts)
    return bool(reached >> size & 1)


def _sums(one: int, other: int) -> int:
    """Every sum of a number from the one set and a number from the other, sets being bits."""
    found = 0
    for number in bits.places(other):
        found |= one << number
    return found


@lru_cache(maxsize=65_536)
def _counts(mask: int, size: int, tidy: bool) -> int:
    return sum(1 << count for count in _ways(mask, size, tidy))


def _seated(rows: Sequence[Standing], size: int, tidy: bool) -> tuple[Cluster, ...]:
    chosen = _filled([_ways(row.open, size, _must_be_tidy(row, tidy)) for row in rows], size)
    return tuple(Cluster(rows[at], start, count) for at, start, count in chosen)


def _filled(ways: Iterable[Mapping[int, Pieces]], size: int) -> tuple[tuple[int, int, int], ...]:
    """The fewest pieces, from any of the rows, that seat exactly `size`, which they can."""
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
def _ways(mask: int, size: int, tidy: bool) -> Mapping[int, Pieces]:
    """For each number of people that a row can seat in clusters of two or more: the clusters, as few as can be."""
    ways: dict[int, Pieces] = {0: ()}
    for start, length in bits.runs(mask):
        counts = [count for count in range(2, min(length, size) + 1) if not tidy or count != length - 1]
        for seated, pieces in list(ways.items()):
            for count in counts:
                more = (*pieces, (start, count))
                if seated + count <= size and len(more) < len(ways.get(seated + count, more + more)):
                    ways[seated + count] = more
    return ways


def tidy_enough(clusters: tuple[Cluster, ...]) -> bool:
    """Whether all single seats that these leave are in rows that are as good as sold."""
    return all(
        cluster.standing.nearly_sold
        or not orphans_left([each for each in clusters if each.standing is cluster.standing])
        for cluster in clusters
    )
