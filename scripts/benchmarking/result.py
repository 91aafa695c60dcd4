"""The result of a benchmark: a figure, its yardstick from the same run, and whether the goal holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scripts.benchmarking.statistics import Spread

OPTIONAL = ("p50", "p95", "p99", "yardstick", "ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The figures of one measured case."""

    value: float
    unit: str
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    yardstick: float | None = None
    ratio: float | None = None

    @classmethod
    def of_spread(cls, spread: Spread, unit: str, yardstick: float | None = None) -> Figure:
        """A figure of durations: its value is the median, its ratio is of the medians."""
        ratio = spread.p50 / yardstick if yardstick else None
        percentiles = {"p50": spread.p50, "p95": spread.p95, "p99": spread.p99}
        return cls(value=spread.p50, unit=unit, yardstick=yardstick, ratio=ratio, **percentiles)


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure has to reach, as text and as a predicate."""

    text: str
    reached: Callable[[Figure], bool]


ANY = Goal("for comparison", lambda _figure: True)
"""Of figures that explain others."""


def at_most(limit: float, field: str = "value") -> Goal:
    """The field must not exceed the limit."""
    return Goal(f"{field} <= {limit:g}", lambda figure: _measured(figure, field) <= limit)


def at_least(limit: float, field: str = "value") -> Goal:
    """The field must reach the limit."""
    return Goal(f"{field} >= {limit:g}", lambda figure: _measured(figure, field) >= limit)


def both(first: Goal, second: Goal) -> Goal:
    """Both goals must be reached."""
    text = f"{first.text}, {second.text}"
    return Goal(text, lambda figure: first.reached(figure) and second.reached(figure))


def _measured(figure: Figure, field: str) -> float:
    value = getattr(figure, field)
    if value is None:
        raise ValueError(f"the goal names {field}, which was not measured")
    return float(value)


@dataclass(frozen=True, slots=True)
class Result:
    """A figure with its names and its goal."""

    bench: str
    case: str
    figure: Figure
    goal: Goal

    @property
    def holds(self) -> bool:
        """Whether the goal is reached."""
        return self.goal.reached(self.figure)

    def as_json(self) -> dict[str, Any]:
        """The result as a JSON object, without the fields that were not measured."""
        figure = self.figure
        optional = {name: _rounded(value) for name in OPTIONAL if (value := getattr(figure, name)) is not None}
        head = {"bench": self.bench, "case": self.case, "value": _rounded(figure.value), "unit": figure.unit}
        return {**head, **optional, "goal": self.goal.text, "holds": self.holds}


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
