"""Writes CSV that a spreadsheet shows and does not run, and reads its cells again."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO, Any, Final

_RUN: Final = ("=", "+", "-", "@", "\t", "\r")
_NUMBER: Final = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", re.ASCII)


def write_lines(file: IO[str], lines: Iterable[Iterable[Any]]) -> None:
    """Write lines of cells. Numbers stay numbers; a text that a spreadsheet would run gets an apostrophe before it."""
    csv.writer(file).writerows([_cell(value) for value in line] for line in lines)


def _cell(value: Any) -> Any:
    runs = isinstance(value, str) and value.startswith(_RUN) and not _NUMBER.fullmatch(value)
    return f"'{value}" if runs else value


def read_cell(text: str) -> str:
    """The text of a cell as it was before it was written."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_RUN) else text
