"""Seats for open requests: gates keep theirs when browsers crowd in."""

from __future__ import annotations

import pytest

from shared.errors import Unavailable
from sync_server.plumbing.streams import Crowd, OpenStreams


def test_browsers_are_refused_first() -> None:
    seats = OpenStreams(threads=64)
    for _ in range(seats.browser_limit):
        seats.take(Crowd.BROWSER)
    with pytest.raises(Unavailable) as refusal:
        seats.take(Crowd.BROWSER)
    assert refusal.value.details == {"retry_after": 5}
    for _ in range(seats.limit - seats.browser_limit):
        seats.take(Crowd.GATE)
    with pytest.raises(Unavailable):
        seats.take(Crowd.GATE)


def test_some_threads_stay_free_for_short_requests() -> None:
    assert OpenStreams(threads=256).limit == 224


def test_a_seat_is_given_back_whatever_happens() -> None:
    seats = OpenStreams(threads=64)
    with pytest.raises(ZeroDivisionError), seats.seat(Crowd.GATE):
        _ = 1 / 0
    assert seats.count(Crowd.GATE) == 0
