"""Generates docs/figures.md from the figures that `scripts/bench --record` has kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.benchmarking import registry
from scripts.benchmarking.record import FILE as FIGURES

FILE = "docs/figures.md"
HEAD = Path(__file__).with_name("figures.head.md")
COLUMNS = ("case", "figure", "p50", "p95", "p99", "yardstick", "ratio", "goal", "holds")


def text() -> str:
    """The whole page: first what misses its goal, then every benchmark."""
    kept = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    return HEAD.read_text("utf-8") + _missed(kept) + "".join(_section(name, kept[name]) for name in sorted(kept))


def _missed(kept: dict[str, Any]) -> str:
    rows = [f"| {name} {_row(case)}" for name in sorted(kept) for case in kept[name]["cases"] if not case["holds"]]
    if not rows:
        return "\nEvery goal holds.\n" if kept else "\nNone are kept yet.\n"
    return f"\n## What misses its goal\n\n{_head('bench', *COLUMNS)}{''.join(rows)}"


def _section(name: str, run: dict[str, Any]) -> str:
    how = "`--quick`" if run["quick"] else "whole"
    circumstances = (
        f"{run['day']}, {how}, load average {run['load']} before, {run['cores']} cores of {run['processor']}."
    )
    rows = "".join(map(_row, run["cases"]))
    return f"\n## {name}\n\n{registry.description(name)} {circumstances}\n\n{_head(*COLUMNS)}{rows}"


def _head(*columns: str) -> str:
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"


def _row(case: dict[str, Any]) -> str:
    return f"| {' | '.join(_cells(case))} |\n"


def _cells(case: dict[str, Any]) -> Iterator[str]:
    yield case["case"]
    yield f"{_number(case['value'])} {case['unit']}"
    yield from (_number(case.get(name)) for name in ("p50", "p95", "p99", "yardstick", "ratio"))
    yield case["goal"].replace(">=", "≥").replace("<=", "≤")
    yield "yes" if case["holds"] else "**no**"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
