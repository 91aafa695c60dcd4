"""Looking up the pattern of a seat's neighbours gives the same result as the rule for a whole row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.search.allocation_grid import AllocationGrid, Row
from sync_server.seating.search.clusters import leaves_no_singles
from sync_server.seating.search.offers import clusters_of
from sync_server.seating.search.tidy_patterns import NEIGHBOUR_BITS, tidy_patterns

ROW = 30


@given(taken=st.sets(st.integers(1, ROW), max_size=ROW // 2), seat=st.integers(1, ROW))
def test_pattern_agrees_with_the_rule(taken: set[int], seat: int) -> None:
    """As long as the row is not nearly sold, which the pattern cannot tell."""
    taken -= {seat}
    row = Row(1, "", "A", tuple(range(1, ROW + 1)), tuple((float(x), 0.0) for x in range(ROW)), (0.0, 0.0))
    grid = AllocationGrid.of([row], sizes=())
    grid.take(taken)
    beside = (seat - 2, seat - 1, seat + 1, seat + 2)
    unavailable = [not 1 <= number <= ROW or number in taken for number in beside]
    pattern = sum(bit for bit, blocked in zip(NEIGHBOUR_BITS, unavailable, strict=True) if blocked)
    assert bool(tidy_patterns() >> pattern & 1) == leaves_no_singles(clusters_of(grid, [seat]))
