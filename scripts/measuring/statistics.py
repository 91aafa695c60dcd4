"""Percentiles, medians and timing: one copy, so that every benchmark means the same by p95."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of all values do not exceed: always one that was measured."""
    if not values:
        raise ValueError("nothing was measured, so there is no percentile")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, slots=True)
class Spread:
    """How long things took, in the unit that was measured in."""

    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The three percentiles of some measurements."""
        return cls(*(percentile(values, share) for share in (0.50, 0.95, 0.99)))


def milliseconds(act: Callable[[], object]) -> float:
    """How long one call takes."""
    begun = time.perf_counter_ns()
    act()
    return (time.perf_counter_ns() - begun) / 1e6


def interleaved(acts: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Milliseconds of each act, taken in turns, so that a slow minute of the machine is slow for all of them."""
    taken: list[list[float]] = [[] for _ in acts]
    for _ in range(rounds):
        for times, act in zip(taken, acts, strict=True):
            times.append(milliseconds(act))
    return taken
