"""The exact solver that the house is measured against is measured against small truths itself."""

from __future__ import annotations

import pytest

from scripts.selling_out.exactly import most_seats


@pytest.mark.parametrize(
    ("runs", "parties", "most"),
    [
        ([4], [2, 2], 4),
        ([3], [2, 2], 2),
        ([3, 3], [2, 4, 1], 5),  # the four would need both rows, and leave no two beside each other
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
def test_most_that_can_be_sold(runs: list[int], parties: list[int], most: int) -> None:
    assert most_seats(runs, parties) == most
