"""The pattern of a seat's neighbours decides as the rule itself would in a whole row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.clusters import tidy_enough
from sync_server.seating.hall import Hall, Row
from sync_server.seating.offers import clusters_of
from sync_server.seating.spots import EVERY_PATTERN, WALL, Spot, tidy_patterns

ROW = 30


@given(taken=st.sets(st.integers(1, ROW), max_size=ROW // 2), seat=st.integers(1, ROW))
def test_looking_up_the_pattern_answers_like_the_rule(taken: set[int], seat: int) -> None:
    """As long as the row is not nearly sold, which the pattern cannot know: then the whole house is asked."""
    taken -= {seat}
    row = Row(1, "", "A", tuple(range(1, ROW + 1)), tuple((float(x), 0.0) for x in range(ROW)), (0.0, 0.0))
    hall = Hall.of([row], sizes=())
    hall.take(taken)
    beside = (seat - 2, seat - 1, seat + 1, seat + 2)
    gone = [not 1 <= number <= ROW or number in taken for number in beside]
    pattern = sum(bit for bit, is_gone in zip((1, 2, 4, 8), gone, strict=True) if is_gone)
    assert bool(tidy_patterns() >> pattern & 1) == tidy_enough(clusters_of(hall, [seat]))


def test_walls_are_part_of_the_pattern() -> None:
    spot = Spot(1, "id", "A-1", 1, "", "A", "1", (WALL, WALL, 2, 3), special=False, blocked=False)
    assert spot.walls == 0b0011
    assert tidy_patterns() < EVERY_PATTERN
