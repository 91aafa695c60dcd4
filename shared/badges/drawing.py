"""Draws a badge on a Cairo context: Pango finds fonts for all scripts, so that no printer needs any."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import pi
from typing import Final

import cairocffi
import segno

from shared.badges.layout import Align, Area, AreaKind, Layout
from shared.drawing.pen import BOLD, REGULAR, Pen, Style

POINTS_A_MM: Final = 72 / 25.4
QUIET_ZONE: Final = 4
_STEPS: Final = 14  # steps from the largest letters to the smallest
_SMALLEST: Final = 5.0  # points
_LINE_TO_SIZE: Final = 1.36  # of the fonts that there are; a line is that much higher than its letters' size


@dataclass(frozen=True, slots=True)
class Ink:
    """Black, or the white of the paper."""

    parts: tuple[float, float, float]


BLACK: Final = Ink((0, 0, 0))
WHITE: Final = Ink((1, 1, 1))


def draw(context: cairocffi.Context, layout: Layout, words: Mapping[str, str], dot: float = 0) -> None:
    """Draw a badge; lengths of the context are points. Modules of codes are made of whole dots, as large as `dot`."""
    context.set_source_rgb(*WHITE.parts)
    context.paint()
    for area in layout.areas:
        context.save()
        context.translate(area.x * POINTS_A_MM, area.y * POINTS_A_MM)
        width, height = area.width * POINTS_A_MM, area.height * POINTS_A_MM
        if area.turned:
            context.translate(width, height)
            context.rotate(pi)
        if area.kind is AreaKind.LINE:
            _line(context, width, height)
        elif area.kind is AreaKind.LOGO:
            _logo(Pen(context), layout.logo, width, height)
        else:
            _written(Pen(context), area, area.filled(words), width, height, dot=dot)
        context.restore()


def _written(pen: Pen, area: Area, text: str, width: float, height: float, *, dot: float) -> None:
    if area.kind is AreaKind.BLOCK:
        pen.area(0, 0, width, height, WHITE if area.white else BLACK)
    elif text and area.kind is AreaKind.QR:
        _code(pen, text, min(width, height), dot)
    elif text:
        _text(pen, area, text, width, height)


def _text(pen: Pen, area: Area, text: str, width: float, height: float) -> None:
    largest = (area.size_mm * POINTS_A_MM if area.size_mm else height) / _LINE_TO_SIZE
    smallest = min(_SMALLEST, largest)
    sizes = [largest * (smallest / largest) ** (step / _STEPS) for step in range(_STEPS + 1)]
    style = Style(
        largest,
        WHITE if area.white else BLACK,
        BOLD if area.bold else REGULAR,
        at_right=area.align is Align.RIGHT,
        centred=area.align is Align.CENTRE,
        whole_words=True,
    )
    # Where even the smallest letters leave a word too long, it is broken, and what has no room is cut off.
    fitting = replace(pen.fitted(text, width, height, style, sizes), whole_words=False)
    y = max(0.0, (height - pen.height_of(text, width, fitting)) / 2)
    pen.text(text, 0, y, width, fitting)


def _line(context: cairocffi.Context, width: float, height: float) -> None:
    context.set_source_rgb(*BLACK.parts)
    context.set_line_width(0.75)
    context.set_dash([3, 3])
    context.move_to(0, 0)
    context.line_to(width, height)
    context.stroke()


def _logo(pen: Pen, logo: bytes, width: float, height: float) -> None:
    if not logo:
        return
    picture = cairocffi.ImageSurface.create_from_png(io.BytesIO(logo))
    scale = min(width / picture.get_width(), height / picture.get_height())
    across, down = picture.get_width() * scale, picture.get_height() * scale
    pen.picture(picture, (width - across) / 2, (height - down) / 2, down)


def _code(pen: Pen, text: str, side: float, dot: float) -> None:
    matrix = tuple(segno.make_qr(text, error="m", boost_error=False).matrix)
    module = side / (len(matrix) + 2 * QUIET_ZONE)
    if dot and module > dot:
        # As many dots each: where some modules had one more, readers would lose the grid.
        module -= module % dot
    begin = (side - module * len(matrix)) / 2
    x, y = pen.on_dot(begin, begin) if dot else (begin, begin)
    pen.area(0, 0, side, side, WHITE)
    pen.modules(matrix, x, y, module * len(matrix), BLACK)
