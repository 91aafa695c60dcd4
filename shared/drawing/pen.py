"""Draws text, areas and codes on a page; lengths are points, counted from the top left corner."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import cairocffi
import pangocairocffi
import pangocffi

FAMILIES: Final = (
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans CJK JP",
    "DejaVu Sans",
    "sans-serif",
)
"""In this order; Pango takes the first that has a letter, and any other of the system where none has it."""
REGULAR: Final = 400
BOLD: Final = 700
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})
_STRONG: Final = frozenset({"L", *_RIGHT_TO_LEFT})


class Colour(Protocol):
    """A colour of any kind."""

    @property
    def parts(self) -> tuple[float, float, float]:
        """Red, green and blue, each from 0 to 1."""
        ...


@dataclass(frozen=True, slots=True)
class Style:
    """How a text looks."""

    size: float
    colour: Colour
    weight: int = REGULAR
    spacing: float = 0  # between lines
    lines: int = 0  # more are cut off with an ellipsis; 0: as many as there are
    height: float = 0  # what has no room in it is cut off likewise; 0: any
    at_right: bool = False
    centred: bool = False
    whole_words: bool = False  # a word too long for a line makes the text smaller instead of being broken


class Pen:
    """Draws on one page."""

    def __init__(self, context: cairocffi.Context) -> None:
        self._context = context

    def text(self, text: str, x: float, y: float, width: float, style: Style) -> float:
        """Write a text with its upper left corner there; returns its height."""
        layout = self._layout(text, width, style)
        self._context.set_source_rgb(*style.colour.parts)
        self._context.move_to(x, y)
        pangocairocffi.show_layout(self._context, layout)
        return _height(layout)

    def fitted(self, text: str, width: float, height: float, style: Style, sizes: Sequence[float]) -> Style:
        """The style in the first of these sizes, or else the last, in which the text has room."""
        for size in sizes:
            fitting = replace(style, size=size, lines=0)
            layout = self._layout(text, width, fitting)
            if _height(layout) <= height and _width(layout) <= width:
                return fitting
        return replace(style, size=sizes[-1], lines=0, height=height)

    def height_of(self, text: str, width: float, style: Style) -> float:
        """How high a text is in lines of this width."""
        return _height(self._layout(text, width, style))

    def width_of(self, text: str, style: Style) -> float:
        """How wide a text is in one line."""
        return _width(self._layout(text, None, style))

    def _layout(self, text: str, width: float | None, style: Style) -> pangocffi.Layout:
        layout = pangocairocffi.create_layout(self._context)
        font = pangocffi.FontDescription()
        font.family, font.weight = ",".join(FAMILIES), style.weight
        font.size = pangocffi.units_from_double(style.size)
        layout.font_description = font
        layout.text = text
        if width is not None:
            layout.width = pangocffi.units_from_double(width)
            layout.wrap = pangocffi.WrapMode.WORD if style.whole_words else pangocffi.WrapMode.WORD_CHAR
        layout.alignment = _alignment(text, style)
        layout.spacing = pangocffi.units_from_double(style.spacing)
        if style.lines or style.height:
            layout.height = pangocffi.units_from_double(style.height) if style.height else -style.lines
            layout.ellipsize = pangocffi.EllipsizeMode.END
        return layout

    def area(self, x: float, y: float, width: float, height: float, colour: Colour) -> None:
        """Fill a rectangle."""
        self._context.set_source_rgb(*colour.parts)
        self._context.rectangle(x, y, width, height)
        self._context.fill()

    def line(self, x: float, y: float, width: float, colour: Colour, *, dashed: bool = False) -> None:
        """Draw a horizontal line."""
        self._context.set_source_rgb(*colour.parts)
        self._context.set_line_width(0.75)
        self._context.set_dash([3, 3] if dashed else [])
        self._context.move_to(x, y)
        self._context.line_to(x + width, y)
        self._context.stroke()

    def modules(self, matrix: Sequence[Sequence[int]], x: float, y: float, side: float, colour: Colour) -> None:
        """Draw the dark modules of a code as rectangles: each run of a row is one, so that no reader sees seams."""
        size = side / len(matrix)
        self._context.set_source_rgb(*colour.parts)
        for row, modules in enumerate(matrix):
            for begin, end in _runs(modules):
                self._context.rectangle(x + begin * size, y + row * size, (end - begin) * size, size)
        self._context.fill()

    def on_dot(self, x: float, y: float) -> tuple[float, float]:
        """The point nearest to this one that lies on the corner of a dot, on pages that have dots."""
        across, down = self._context.user_to_device(x, y)
        nearest: tuple[float, float] = self._context.device_to_user(round(across), round(down))
        return nearest

    def picture(self, surface: cairocffi.ImageSurface, x: float, y: float, height: float) -> None:
        """Draw a picture with this height."""
        scale = height / surface.get_height()
        self._context.save()
        self._context.translate(x, y)
        self._context.scale(scale, scale)
        self._context.set_source_surface(surface, 0, 0)
        self._context.paint()
        self._context.restore()


def is_right_to_left(text: str) -> bool:
    """Whether the first letter that has a direction is written from the right."""
    directions = (unicodedata.bidirectional(letter) for letter in text)
    return next((each for each in directions if each in _STRONG), "L") in _RIGHT_TO_LEFT


def _alignment(text: str, style: Style) -> pangocffi.Alignment:
    if style.centred:
        return pangocffi.Alignment.CENTER
    # Pango's left is where a line begins: of Hebrew and Arabic that is the right.
    return pangocffi.Alignment.RIGHT if is_right_to_left(text) is not style.at_right else pangocffi.Alignment.LEFT


def _runs(modules: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for column, dark in enumerate(modules):
        if dark and found and found[-1][1] == column:
            found[-1] = found[-1][0], column + 1
        elif dark:
            found.append((column, column + 1))
    return found


def _height(layout: pangocffi.Layout) -> float:
    return float(pangocffi.units_to_double(layout.get_size()[1]))


def _width(layout: pangocffi.Layout) -> float:
    return float(pangocffi.units_to_double(layout.get_size()[0]))
