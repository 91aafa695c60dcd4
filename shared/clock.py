"""The only place that reads the system clocks: composition roots pass these functions on as arguments."""

from __future__ import annotations

import time
from collections.abc import Callable

Millis = int
"""Milliseconds since 1970 in UTC, the unit in which every time is stored, synced and signed."""

Clock = Callable[[], Millis]
MonotonicClock = Callable[[], int]
"""A monotonic clock in nanoseconds."""


def wall_clock() -> Millis:
    """The machine's wall clock, right or wrong."""
    return time.time_ns() // 1_000_000


def monotonic_clock() -> int:
    """Monotonic nanoseconds; includes time asleep where the system supports that."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
