"""Which of a seat's neighbours may be taken so that taking the seat leaves no single seat, worked out beforehand."""

from __future__ import annotations

from functools import cache
from typing import Final

from sync_server.seating.search.allocation_grid import AllocationGrid, Row
from sync_server.seating.search.clusters import leaves_no_singles
from sync_server.seating.search.offers import clusters_of

NEIGHBOUR_BITS: Final = (1, 2, 4, 8)
"""For the seats two and one to the left, and one and two to the right."""
EVERY_PATTERN: Final = 0xFFFF


@cache
def tidy_patterns() -> int:
    """The patterns of taken neighbours with which one seat may be taken without leaving a single seat; one bit each.

    Computed once from the rule itself, so that callers with only the pattern at hand need not repeat the rule.
    """
    return sum(1 << pattern for pattern in range(16) if _tidy(pattern))


def _tidy(pattern: int) -> bool:
    left_far, left, seat, right, right_far = range(1, 6)
    row = Row(1, "", "", range(1, 6), tuple((float(x), 0.0) for x in range(5)), (0.0, 0.0))
    grid = AllocationGrid.of([row], sizes=())
    around = zip(NEIGHBOUR_BITS, (left_far, left, right, right_far), strict=True)
    grid.take(number for bit, number in around if pattern & bit)
    return leaves_no_singles(clusters_of(grid, [seat]))
