"""Draws a badge for the printer; the libraries for that are an extra of the gate, asked for when they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from gate_app.installation.config import PrinterSettings
from hardware.ports import DeviceError, Sheet
from shared.badges.layout import Layout

REMEDY = (
    "Install them: pip install -r requirements/print.txt in a checkout of Gatehouse, and on Debian: apt install"
    " libpangocairo-1.0-0 fonts-noto-core fonts-noto-cjk"
)


def drawing() -> ModuleType:
    """What draws badges. Raises DeviceError where its libraries are missing."""
    try:
        from shared.badges import sheets
    except (ImportError, OSError) as why:  # a missing library of the system is an OSError
        raise DeviceError("printer", f"Libraries for drawing badges are missing ({why}).", f"{REMEDY}.") from why
    return sheets


def sheet_of(layout: Layout, words: Mapping[str, str], settings: PrinterSettings) -> Sheet:
    """The badge as dots of this printer, or as a PDF for queues of the system. Raises DeviceError."""
    sheets = drawing()
    title = words.get("number") or layout.title
    if settings.kind == "cups":
        width, height = layout.width_mm, layout.height_mm
        if settings.turn in {90, 270}:
            width, height = height, width
        return Sheet(0, 0, b"", sheets.pdf_of([(layout, words)], title, settings.turn), width, height, title)
    dots = sheets.dots_of(layout, words, settings.dpi, settings.turn)
    return Sheet(dots.width, dots.height, dots.rows, title=title)
