"""Sales that sell out: small venues, the groups that ask one after the other, and what becomes of the seats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from scripts.allocation_study.exact_solution import most_seats
from sync_server.seating.search import bits
from sync_server.seating.search.allocation import best_available
from sync_server.seating.search.allocation_grid import AllocationGrid, Row
from sync_server.seating.search.offers import AllocationRules, Offer, SeatRequest, clusters_of

GROUP_SIZES: Final = {1: 10, 2: 45, 3: 12, 4: 22, 5: 6, 6: 5}
"""How many of a hundred groups have that size: mostly pairs, as at any box office."""

Seller = Callable[[AllocationGrid, int], Iterable[int] | None]
"""Returns seats for a group of that size, or None."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A venue of three rows, and the groups that ask for seats, in order."""

    rows: tuple[Row, ...]
    groups: tuple[int, ...]

    def grid(self) -> AllocationGrid:
        """The venue with every seat free."""
        return AllocationGrid.of(self.rows)

    def most(self) -> int:
        """The most seats that could be sold if all groups were known in advance."""
        return most_seats([length for row in self.grid().rows for _, length in bits.runs(row.open)], self.groups)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a sale."""

    seats: int
    sold: int
    orphans: int  # seats that became single and stayed so
    refused: int = 0  # groups for which enough seats were free
    away: float = 0.0  # distances to the stage of those who sit together, added up
    nearest: float = 0.0  # the same if each had taken the nearest neighbouring seats, whatever is left beside them


def random_scenario(random: Random, demand: float) -> Scenario:
    """A venue of three rows with aisles and pillars, and groups that ask for `demand` times its seats in total."""
    width, gap = random.randint(10, 24), random.choice([None, None, 2, 3])
    rows, seats = [], 0
    for depth in range(3):
        kinds = [_is_wall(random, place, width, gap) for place in range(width + random.choice([0, 0, depth]))]
        rows.append(_row(kinds, depth, seats))
        seats += kinds.count(False)
    return Scenario(tuple(rows), tuple(_random_groups(random, demand * seats)))


def _is_wall(random: Random, place: int, width: int, gap: int | None) -> bool:
    return (gap is not None and place == width // gap) or random.random() < 0.02


def _row(walls: Sequence[bool], depth: int, before: int) -> Row:
    numbers = iter(range(before + 1, before + len(walls) + 1))
    seats = tuple(None if wall else next(numbers) for wall in walls)
    points = tuple((place - len(walls) / 2, depth * 1.2) for place in range(len(walls)))
    return Row(1, "stalls", chr(ord("A") + depth), seats, points, (0.0, -3.0))


def _random_groups(random: Random, people: float) -> Iterable[int]:
    people_asked = 0
    while people_asked < people:
        (size,) = random.choices(list(GROUP_SIZES), list(GROUP_SIZES.values()))
        people_asked += size
        yield size


def sell(scenario: Scenario, seller: Seller) -> Outcome:
    """Serve the groups one after the other; a group that gets no seats leaves."""
    grid, sold, refused, away, nearest = scenario.grid(), 0, 0, 0.0, 0.0
    seats = sum(row.open.bit_count() for row in grid.rows)
    born_single = [bits.lone(row.open) for row in grid.rows]
    for size in scenario.groups:
        seats_given = seller(grid, size)
        if seats_given is None:
            refused += seats - sold >= size
            continue
        least, clusters = _nearest(grid, size)[0], clusters_of(grid, seats_given)
        if len(clusters) == 1 and least is not None:
            away += clusters[0].row_state.away(clusters[0].start, size)
            nearest += least
        grid.take(seats_given)
        sold += size
    left = (bits.lone(row.open) & ~single for row, single in zip(grid.rows, born_single, strict=True))
    return Outcome(seats, sold, sum(mask.bit_count() for mask in left), refused, away, nearest)


def best_seat_seller(rules: AllocationRules) -> Seller:
    """Sell the best available seats, as the server does."""

    def seller(grid: AllocationGrid, size: int) -> Iterable[int] | None:
        result = best_available(grid, SeatRequest(size), rules)
        return result.seats if isinstance(result, Offer) else None

    return seller


def nearest_seller(grid: AllocationGrid, size: int) -> Iterable[int] | None:
    """For comparison: sell the nearest adjacent seats, whatever is left beside them."""
    _, rank, start = _nearest(grid, size)
    if rank is None:
        return None
    return [seat for seat in grid.by_rank[rank].row.seats[start : start + size] if seat is not None]


def _nearest(grid: AllocationGrid, size: int) -> tuple[float | None, int | None, int]:
    """Distance, row and place of the nearest neighbouring seats; None where no row has so many."""
    places = (
        (row.away(start, size), row.rank, start)
        for row in grid.rows
        for start in bits.places(bits.starts(row.open, size))
    )
    return min(places, default=(None, None, 0))
