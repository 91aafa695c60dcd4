"""Finds the benchmarks: each module of scripts/bench_cases is one, and its name is the benchmark's."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Protocol, cast

import scripts.bench_cases
from scripts.benchmarking.result import Result


class Bench(Protocol):
    """The interface of a module of scripts/bench_cases; the first paragraph of its docstring is its description."""

    __doc__: str | None

    def measure(self, *, quick: bool) -> Iterator[Result]:
        """Measure every case and its yardstick; `quick` gives a rough answer in under a minute."""
        ...


def names() -> list[str]:
    """The names of all benchmarks."""
    return sorted(module.name for module in pkgutil.iter_modules(scripts.bench_cases.__path__))


def bench(name: str) -> Bench:
    """The benchmark of that name."""
    return cast("Bench", importlib.import_module(f"scripts.bench_cases.{name}"))


def description(name: str) -> str:
    """What the benchmark measures, in one sentence."""
    return (bench(name).__doc__ or "").split("\n\n")[0].strip()
