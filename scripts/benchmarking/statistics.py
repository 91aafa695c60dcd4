"""Percentiles and timing, shared so that every benchmark means the same by p95."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest measured value that at least `share` (0 to 1) of all values do not exceed."""
    if not values:
        raise ValueError("nothing was measured, so there is no percentile")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, slots=True)
class Spread:
    """Percentiles of durations, in the unit of the measurements."""

    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The percentiles of some measurements."""
        return cls(*(percentile(values, share) for share in (0.50, 0.95, 0.99)))


def milliseconds(action: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    started = time.perf_counter_ns()
    action()
    return (time.perf_counter_ns() - started) / 1e6


def interleaved(actions: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Milliseconds of each action, run alternately, so that a slow minute of the machine slows all of them."""
    taken: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for times, action in zip(taken, actions, strict=True):
            times.append(milliseconds(action))
    return taken
