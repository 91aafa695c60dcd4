"""Prints results: a table for people, one JSON object per line for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from scripts.benchmarking.result import Result

#: Width of a table that is not printed to a terminal: wide enough to cut nothing off.
FILE_WIDTH = 180
COLUMNS = ("bench", "case", "value", "unit", "p50", "p95", "p99", "yardstick", "ratio", "goal", "holds")


def print_lines(results: Iterable[Result]) -> bool:
    """Print each result as soon as it is measured; return whether all goals hold."""
    all_hold = True
    for result in results:
        print(json.dumps(result.as_json()), flush=True)
        all_hold &= result.holds
    return all_hold


def print_table(results: Iterable[Result]) -> bool:
    """Print a table once all results are measured; return whether all goals hold."""
    measured = list(results)
    Console(width=None if sys.stdout.isatty() else FILE_WIDTH).print(table(measured))
    return all(result.holds for result in measured)


def table(results: Iterable[Result]) -> Table:
    """One row per case."""
    rendered = Table(*COLUMNS)
    for result in results:
        row = result.as_json()
        rendered.add_row(*(_cell(row.get(column)) for column in COLUMNS))
    return rendered


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"
    return "" if value is None else str(value)
