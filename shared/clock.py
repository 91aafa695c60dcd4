"""The one place that reads the clocks: composition roots hand these callables on, the rest takes them as arguments."""

from __future__ import annotations

import time
from collections.abc import Callable

Millis = int
"""Whole milliseconds since 1970 in UTC: how every time is stored, synced and signed."""

Clock = Callable[[], Millis]
MonotonicClock = Callable[[], int]
"""Nanoseconds that never run backwards while the machine is up."""


def wall_clock() -> Millis:
    """The machine's own idea of the time, right or wrong."""
    return time.time_ns() // 1_000_000


def monotonic_clock() -> int:
    """Nanoseconds since some start; includes time asleep where the system can tell."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
