"""Telling results: a table for people, a JSON object a line for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from scripts.measuring.result import Result

#: A file has no width of its own; a table cut to a narrow one says nothing.
WIDE = 180
COLUMNS = ("bench", "case", "value", "unit", "p50", "p95", "p99", "yardstick", "ratio", "goal", "holds")


def print_lines(results: Iterable[Result]) -> bool:
    """Each result as soon as it is there; answers whether all goals hold."""
    all_hold = True
    for result in results:
        print(json.dumps(result.as_json()), flush=True)
        all_hold &= result.holds
    return all_hold


def print_table(results: Iterable[Result]) -> bool:
    """A table once all are there; answers whether all goals hold."""
    measured = list(results)
    Console(width=None if sys.stdout.isatty() else WIDE).print(table(measured))
    return all(result.holds for result in measured)


def table(results: Iterable[Result]) -> Table:
    """One row a case."""
    shown = Table(*COLUMNS)
    for result in results:
        row = result.as_json()
        shown.add_row(*(_cell(row.get(column)) for column in COLUMNS))
    return shown


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"
    return "" if value is None else str(value)
