"""Writes tables as CSV and as workbooks, line by line: neither is ever in memory as a whole."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, Final

import xlsxwriter

from shared.csv_cells import write_lines
from sync_server.exports.cells import Amount, Cell, Moment

CSV: Final = "text/csv; charset=utf-8"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_PIECE: Final = 64 * 1024
_LONGEST: Final = 32_767
"""What a cell of a workbook can hold."""
MOST_ROWS: Final = 1_048_575
"""What a sheet of a workbook can hold, below its first line."""


def csv_pieces(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """The table as CSV in UTF-8, as spreadsheets recognise it, in pieces."""
    buffer = io.StringIO()
    buffer.write("\ufeff")
    write_lines(buffer, [columns])
    for row in rows:
        write_lines(buffer, [[_as_text(cell) for cell in row]])
        if buffer.tell() >= _PIECE:
            yield _taken(buffer)
    yield _taken(buffer)


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()


def _as_text(cell: Cell) -> Any:
    if isinstance(cell, Amount):
        return f"{cell.decimal:.2f}"
    if isinstance(cell, Moment):
        return cell.local.isoformat(timespec="seconds")
    return "" if cell is None else cell


def workbook(columns: Sequence[str], rows: Iterable[Sequence[Cell]], title: str) -> IO[bytes]:
    """The table as a workbook, in a temporary file that goes with its last reader. No text becomes a formula or a link.

    Rows beyond what a sheet can hold go on in another one.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever sends it closes it
    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    book = xlsxwriter.Workbook(file, options)
    writer = _SheetWriter(book, columns, title)
    for row in rows:
        writer.add(row)
    book.close()
    file.seek(0)
    return file


class _SheetWriter:
    """Writes rows into sheets."""

    def __init__(self, book: Any, columns: Sequence[str], title: str) -> None:
        self._book, self._columns, self._title = book, columns, title
        self._bold = book.add_format({"bold": True})
        self._money = book.add_format({"num_format": "#,##0.00"})
        self._time = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._sheets = 0
        self._begin()

    def _begin(self) -> None:
        self._sheets += 1
        name = self._title if self._sheets == 1 else f"{self._title} {self._sheets}"
        self._sheet, self._line = self._book.add_worksheet(name), 0
        self._sheet.freeze_panes(1, 0)
        self._sheet.set_column(0, len(self._columns) - 1, 18)
        self._sheet.write_row(0, 0, self._columns, self._bold)

    def add(self, row: Sequence[Cell]) -> None:
        """Write the next row."""
        if self._line >= MOST_ROWS:
            self._begin()
        self._line += 1
        for column, cell in enumerate(row):
            self._write(column, cell)

    def _write(self, column: int, cell: Cell) -> None:
        where = self._line, column
        if isinstance(cell, Amount):
            self._sheet.write_number(*where, cell.decimal, self._money)
        elif isinstance(cell, Moment):
            self._sheet.write_datetime(*where, cell.local.replace(tzinfo=None), self._time)
        elif isinstance(cell, int):
            self._sheet.write_number(*where, cell)
        elif cell:
            self._sheet.write_string(*where, cell[:_LONGEST])


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    """A file in pieces; it is closed at the end, or when nobody wants more."""
    with file:
        while piece := file.read(_PIECE):
            yield piece
