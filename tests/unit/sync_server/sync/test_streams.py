"""Slots for open streams: gates keep theirs when browsers take all they may."""

from __future__ import annotations

import pytest

from shared.errors import Unavailable
from sync_server.plumbing.api.open_streams import OpenStreams, StreamKind


def test_browsers_are_refused_first() -> None:
    streams = OpenStreams(threads=64)
    for _ in range(streams.browser_limit):
        streams.acquire(StreamKind.BROWSER)
    with pytest.raises(Unavailable) as refusal:
        streams.acquire(StreamKind.BROWSER)
    assert refusal.value.details == {"retry_after": 5}
    for _ in range(streams.limit - streams.browser_limit):
        streams.acquire(StreamKind.GATE)
    with pytest.raises(Unavailable):
        streams.acquire(StreamKind.GATE)


def test_some_threads_stay_free_for_short_requests() -> None:
    assert OpenStreams(threads=256).limit == 224


def test_a_slot_is_released_after_an_error() -> None:
    streams = OpenStreams(threads=64)
    with pytest.raises(ZeroDivisionError), streams.slot(StreamKind.GATE):
        _ = 1 / 0
    assert streams.count(StreamKind.GATE) == 0
