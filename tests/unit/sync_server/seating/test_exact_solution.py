"""The exact solver of the allocation study is right in small cases."""

from __future__ import annotations

import pytest

from scripts.allocation_study.exact_solution import most_seats


@pytest.mark.parametrize(
    ("runs", "groups", "most"),
    [
        ([4], [2, 2], 4),
        ([3], [2, 2], 2),
        ([3, 3], [2, 4, 1], 5),  # the four would need both rows, leaving no two seats together
        ([2, 2], [4], 4),  # four in two clusters
        ([3, 3], [3, 3], 6),
        ([5], [3, 3], 3),
        ([3, 2], [5], 5),
        ([2, 1], [3], 0),  # nobody sits alone
        ([6], [1, 1], 2),
        ([4, 4], [6, 3], 6),
        ([], [2], 0),
        ([2], [], 0),
    ],
)
def test_most_that_can_be_sold(runs: list[int], groups: list[int], most: int) -> None:
    assert most_seats(runs, groups) == most
