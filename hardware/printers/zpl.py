"""ZPL, the language of label and wristband printers: a page as one graphic, and what the printer says of itself."""

from itertools import groupby
from typing import Final

from hardware.ports import PrinterError, Sheet
from hardware.printers.faults import is_open, other, out_of_paper, paused

ASK: Final = b"~HS"
"""Host status: three lines, each between STX and ETX."""
_ANSWERS: Final = 3
_TENS: Final = 20
_LARGEST: Final = 400 + 19
STX, ETX = b"\x02", b"\x03"


def encode(sheet: Sheet) -> bytes:
    """The page as a label that is printed once."""
    length = sheet.bytes_a_row
    rows = [sheet.rows[begin : begin + length] for begin in range(0, len(sheet.rows), length)]
    graphic = _compressed(rows)
    total = len(sheet.rows)
    head = f"^XA^PW{sheet.width}^LL{sheet.height}^LH0,0^FO0,0^GFA,{total},{total},{length},"
    return (head + graphic + "^FS^PQ1^XZ\n").encode()


def _compressed(rows: list[bytes]) -> str:
    """Rows as hexadecimal digits with counts before repeated ones; a colon repeats the row above."""
    written, above = [], b""
    for row in rows:
        written.append(":" if row == above else _row(row.hex().upper()))
        above = row
    return "".join(written)


def _row(digits: str) -> str:
    kept = digits.rstrip("0")
    if len(kept) < len(digits):
        return _runs(kept) + ","
    kept = digits.rstrip("F")
    return _runs(kept) + "!" if len(kept) < len(digits) else _runs(digits)


def _runs(digits: str) -> str:
    return "".join(_run(digit, len(list(same))) for digit, same in groupby(digits))


def _run(digit: str, count: int) -> str:
    """`G` to `Y` mean 1 to 19, `g` to `z` mean 20 to 400 in twenties."""
    written = ""
    while count > _LARGEST:
        written, count = f"{written}z{digit}", count - 400
    twenties, ones = divmod(count, _TENS)
    if count > 1:
        written += chr(ord("f") + twenties) if twenties else ""
        written += chr(ord("F") + ones) if ones else ""
    return written + digit


def complete(answer: bytes) -> bool:
    """Whether a host status has come to its end."""
    return answer.count(ETX) >= _ANSWERS


def busy(answer: bytes) -> bool:
    """Whether the printer still has labels to print."""
    first, second = _lines(answer)[:2]
    return any(count.strip("0 ") for count in (first[4], second[8]))


def _lines(answer: bytes) -> list[list[str]]:
    return [part.partition(ETX)[0].decode("ascii", "replace").split(",") for part in answer.split(STX)[1:]]


def fault_in(answer: bytes, name: str) -> PrinterError | None:
    """What a host status complains of; None if the printer is ready."""
    lines = _lines(answer)
    if len(lines) < 2 or len(lines[0]) < 12 or len(lines[1]) < 9:
        return other(name, "The printer answers with something other than its status: is it set to ZPL?")
    first, second = lines[0], lines[1]
    if second[2].strip() == "1":
        return is_open(name)
    if first[1].strip() == "1":
        return out_of_paper(name)
    if second[3].strip() == "1":
        return other(name, "The printer has no ribbon.")
    if first[2].strip() == "1":
        return paused(name)
    hot = {first[10].strip(), first[11].strip()} & {"1"}
    return other(name, "The printer's head is too cold or too hot.") if hot else None
