"""ESC/POS, the language of receipt printers: a page as rows of dots, and what the printer says of itself."""

from typing import Final

from hardware.ports import PrinterError, Sheet
from hardware.printers.faults import is_open, no_answer, other, out_of_paper, paused

BEGIN: Final = b"\x1b@"
FEED: Final = b"\x1bJ\x10"
CUT: Final = b"\x1dVB\x00"
"""Feeds to the knife and cuts."""
BAND: Final = 128
"""Rows sent at once: small printers have little memory, and print one band while the next one comes."""
ASK_PRINTER, ASK_OFFLINE, ASK_PAPER = b"\x10\x04\x01", b"\x10\x04\x02", b"\x10\x04\x04"
"""Real-time requests, which are answered with one byte each, even while the printer has no paper."""
ASK_IN_TURN: Final = b"\x1dr\x01"
"""A request that stands in the row with all that was sent before, and is answered when that is printed."""
_FIXED, _FIXED_AS = 0b10010011, 0b00010010
"""The bits that every answer has."""


def encode(sheet: Sheet, *, cut: bool) -> bytes:
    """The page, and a cut after it if the printer has a knife."""
    length = sheet.bytes_a_row
    parts = [BEGIN]
    for first in range(0, sheet.height, BAND):
        rows = sheet.rows[first * length : (first + BAND) * length]
        count = len(rows) // length
        parts += [b"\x1dv0\x00", length.to_bytes(2, "little"), count.to_bytes(2, "little"), rows]
    return b"".join([*parts, FEED, CUT if cut else b""])


def fault_in(state: int, offline: int, paper: int, name: str) -> PrinterError | None:
    """What the answers to the three requests complain of; None if the printer is ready."""
    if any(answer & _FIXED != _FIXED_AS for answer in (state, offline, paper)):
        return no_answer(name)
    if offline & 0b100:
        return is_open(name)
    if paper & 0b1100000 or offline & 0b100000:
        return out_of_paper(name)
    if offline & 0b1000000:
        return other(name, "The printer reports a fault of its knife or its head.")
    return paused(name) if state & 0b1000 else None
