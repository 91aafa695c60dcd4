"""A spreadsheet shows what it is given, and runs nothing of it."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from shared.csv_cells import read_cell, write_lines


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+49 170 1", "'+49 170 1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("Ada", "Ada"),
        ("'tis", "'tis"),
        ("-5", "-5"),
        (-5, "-5"),
        (2.5, "2.5"),
        (None, ""),
    ],
)
def test_what_a_cell_says(value: object, cell: str) -> None:
    file = StringIO(newline="")
    write_lines(file, [[value, "end"]])
    (line,) = csv.reader(StringIO(file.getvalue(), newline=""))
    assert line == [cell, "end"]
    assert read_cell(line[0]) == ("" if value is None else str(value))
