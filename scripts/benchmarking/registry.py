"""Finds the benchmarks: each module in a room of scripts/bench_cases is one, and its name is the benchmark's."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType
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
    return sorted(modules(scripts.bench_cases))


def bench(name: str) -> Bench:
    """The benchmark of that name."""
    return cast("Bench", importlib.import_module(modules(scripts.bench_cases)[name]))


def description(name: str) -> str:
    """What the benchmark measures, in one sentence."""
    return (bench(name).__doc__ or "").split("\n\n")[0].strip()


@cache  # looking for them imports each room
def modules(cases: ModuleType) -> dict[str, str]:
    """Where each benchmark is, by its name."""
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(cases.__path__, f"{cases.__name__}."):
        name = module.name.rpartition(".")[2]
        if not module.ispkg and found.setdefault(name, module.name) != module.name:
            raise ValueError(f"two benchmarks are called {name}: {found[name]} and {module.name}")
    return found
