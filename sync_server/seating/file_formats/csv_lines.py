"""Reads CSV files as people save them: with commas, semicolons or tabs, and columns in any order."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from shared.csv_cells import read_cell
from sync_server.plumbing.language.text import as_shown
from sync_server.seating.layouts.mistakes import Mistakes

Line = Mapping[str, str]


def lines(text: bytes, columns: Sequence[str], needed: str, mistakes: Mistakes) -> Iterator[tuple[int, Line]]:
    """Number and fields of each line; `needed` is the required column, or ""."""
    content = _decoded(text, mistakes)
    head = content.split("\n", 1)[0]
    reader = csv.reader(StringIO(content, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    try:
        names = [name.strip().lower() for name in next(reader, [])]
        _check_columns(names, columns, needed, mistakes)
        for values in reader:
            if len(values) > len(names):
                mistakes.add(f"line {reader.line_num}", "has more fields than the first line has columns")
            yield reader.line_num, {name: read_cell(value.strip()) for name, value in zip(names, values, strict=False)}
    except csv.Error as error:
        mistakes.add(f"line {reader.line_num}", f"is not valid CSV ({error})")
        mistakes.stop()


def _decoded(text: bytes, mistakes: Mistakes) -> str:
    try:
        return as_shown(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        mistakes.add(f"byte {error.start}", "is not UTF-8; save the file as CSV in UTF-8")
    mistakes.stop()
    return ""


def _check_columns(names: list[str], columns: Sequence[str], needed: str, mistakes: Mistakes) -> None:
    for unknown in [name for name in names if name not in columns]:
        mistakes.add("line 1", f"{unknown!r} is not a column of this format; the columns are {', '.join(columns)}")
    duplicates = {name for name in names if names.count(name) > 1}
    for duplicate in duplicates:
        mistakes.add("line 1", f"the column {duplicate!r} appears twice")
    if needed and needed not in names:
        mistakes.add("line 1", f"the column {needed!r} is missing")
    if duplicates or (needed and needed not in names):
        mistakes.stop()  # nobody knows what the other lines mean
