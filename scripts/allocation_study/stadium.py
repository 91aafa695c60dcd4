"""A stadium of 60,000 seats, and ways to fill it."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin
from random import Random
from typing import Final

from scripts.allocation_study.scenarios import GROUP_SIZES
from sync_server.seating.search.allocation import best_available
from sync_server.seating.search.allocation_grid import AllocationGrid, Row
from sync_server.seating.search.offers import AllocationRules, Offer, SeatRequest

SECTIONS: Final = 60
ROWS: Final = 40
SEATS_A_ROW: Final = 25
SEATS: Final = SECTIONS * ROWS * SEATS_A_ROW


def stadium() -> AllocationGrid:
    """Sections around a pitch, with the stage at its northern end."""
    return AllocationGrid.of(_row(section, depth) for section in range(SECTIONS) for depth in range(ROWS))


def _row(section: int, depth: int) -> Row:
    first = (section * ROWS + depth) * SEATS_A_ROW + 1
    radius, start = 40 + 0.9 * depth, 2 * pi * section / SECTIONS
    angles = (start + 0.0040 * place * pi for place in range(SEATS_A_ROW))
    points = tuple((radius * cos(angle), radius * sin(angle)) for angle in angles)
    return Row(1, f"block {section}", str(depth), tuple(range(first, first + SEATS_A_ROW)), points, (0.0, 30.0))


def scatter(grid: AllocationGrid, random: Random, share: float) -> None:
    """Take random seats until that share is taken, which is worse than any real sale."""
    grid.take(random.sample(range(1, SEATS + 1), round(share * SEATS)))


def sell_up_to(grid: AllocationGrid, random: Random, share: float) -> None:
    """Sell to groups, as the server does, until that share is sold or no offer is found."""
    taken = SEATS - sum(row.open.bit_count() for row in grid.rows)
    for size in _random_groups(random):
        result = best_available(grid, SeatRequest(size), AllocationRules())
        if taken >= share * SEATS or not isinstance(result, Offer):
            return
        grid.take(result.seats)
        taken += size


def _random_groups(random: Random) -> Iterator[int]:
    while True:
        yield from random.choices(list(GROUP_SIZES), list(GROUP_SIZES.values()), k=100)
