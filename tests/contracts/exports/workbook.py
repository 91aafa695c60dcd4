"""Reads the first sheet of a workbook as spreadsheets do, from its XML."""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def cells(content: bytes) -> list[list[str]]:
    """The texts and numbers of all rows; fails for a formula."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))  # noqa: S314
    assert not list(sheet.iter(f"{_MAIN}f")), "no formulas"
    return [_row(row) for row in sheet.iter(f"{_MAIN}row")]


def _row(row: ElementTree.Element) -> list[str]:
    found: dict[int, str] = {}
    for cell in row.iter(f"{_MAIN}c"):
        text = "".join(part.text or "" for part in cell.iter() if part.tag in {f"{_MAIN}v", f"{_MAIN}t"})
        found[_column(cell.get("r", ""))] = text
    return [found.get(column, "") for column in range(max(found, default=-1) + 1)]


def _column(name: str) -> int:
    number = 0
    for letter in name.rstrip("0123456789"):
        number = number * 26 + ord(letter) - 64
    return number - 1
