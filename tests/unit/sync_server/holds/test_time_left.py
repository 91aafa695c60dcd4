"""How long a hold lasts is said as people say it."""

from __future__ import annotations

import pytest

from sync_server.holds.schemas import time_left


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (60, "1 minute"),
        (300, "5 minutes"),
        (299, "4:59 minutes"),
        (7_199, "119:59 minutes"),
        (7_200, "2 hours"),
        (172_799, "47 hours"),
        (1_209_554, "13 days"),
    ],
)
def test_the_longer_the_fewer_details(seconds: int, words: str) -> None:
    assert time_left(seconds) == words
