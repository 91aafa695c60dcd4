"""Badges as dots for printers, as pictures of these dots, and as pages of a PDF: all drawn by the same code."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import pi
from typing import Final

import cairocffi

from shared.badges.drawing import POINTS_A_MM, draw
from shared.badges.layout import Layout

SCREEN_DPI: Final = 300
"""Of previews: the finer of the usual resolutions of badge printers."""
_BLACK_BELOW: Final = 128
_SHARPENED: Final = bytes(0 if level < _BLACK_BELOW else 255 for level in range(256))
_INK: Final = bytes(ord("1") if level < _BLACK_BELOW else ord("0") for level in range(256))


@dataclass(frozen=True, slots=True)
class Dots:
    """A page in black and white: rows of whole bytes, the leftmost dot first, black is 1."""

    width: int
    height: int
    rows: bytes


def dots_of(layout: Layout, words: Mapping[str, str], dpi: int, turn: int = 0) -> Dots:
    """A badge as a printer with this resolution prints it, turned clockwise by 0, 90, 180 or 270 degrees."""
    surface = _drawn(layout, words, dpi, turn)
    width, height, stride = surface.get_width(), surface.get_height(), surface.get_stride()
    # Of the four bytes of a dot one is enough: everything on it is as red as it is blue.
    levels = bytes(surface.get_data())[::4].translate(_INK)
    length, across = (width + 7) // 8, stride // 4
    padding = b"0" * (length * 8 - width)
    rows = (levels[row * across : row * across + width] + padding for row in range(height))
    return Dots(width, height, b"".join(int(row, 2).to_bytes(length, "big") for row in rows))


def png_of(layout: Layout, words: Mapping[str, str], dpi: int = SCREEN_DPI, turn: int = 0) -> bytes:
    """The same as a picture."""
    surface = _drawn(layout, words, dpi, turn)
    surface.get_data()[:] = bytes(surface.get_data()).translate(_SHARPENED)
    surface.mark_dirty()
    out = io.BytesIO()
    surface.write_to_png(out)
    return out.getvalue()


def pdf_of(badges: Iterable[tuple[Layout, Mapping[str, str]]], title: str, turn: int = 0) -> bytes:
    """Badges as a PDF, one on each page of its own size, with the fonts that it needs."""
    out = io.BytesIO()
    surface = cairocffi.PDFSurface(out, 72, 72)
    surface.set_metadata(cairocffi.PDF_METADATA_TITLE, title)
    surface.set_metadata(cairocffi.PDF_METADATA_CREATOR, "Gatehouse")
    context = cairocffi.Context(surface)
    for layout, words in badges:
        width, height = layout.width_mm * POINTS_A_MM, layout.height_mm * POINTS_A_MM
        surface.set_size(*_turned(width, height, turn))
        context.save()
        _turn(context, width, height, turn)
        draw(context, layout, words)
        context.restore()
        context.show_page()
    surface.finish()
    return out.getvalue()


def _drawn(layout: Layout, words: Mapping[str, str], dpi: int, turn: int) -> cairocffi.ImageSurface:
    width, height = (round(length / 25.4 * dpi) for length in (layout.width_mm, layout.height_mm))
    surface = cairocffi.ImageSurface(cairocffi.FORMAT_RGB24, *map(int, _turned(width, height, turn)))
    context = cairocffi.Context(surface)
    _turn(context, width, height, turn)
    context.scale(dpi / 72)
    draw(context, layout, words, dot=72 / dpi)
    surface.flush()
    return surface


def _turned(width: float, height: float, turn: int) -> tuple[float, float]:
    return (height, width) if turn in {90, 270} else (width, height)


def _turn(context: cairocffi.Context, width: float, height: float, turn: int) -> None:
    across, down = _turned(width, height, turn)
    context.translate(across / 2, down / 2)
    context.rotate(turn * pi / 180)
    context.translate(-width / 2, -height / 2)
