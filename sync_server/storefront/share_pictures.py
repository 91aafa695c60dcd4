"""Draws a made cover as PNG, in the format of pictures that are shown beside a link which somebody shares."""

from __future__ import annotations

import io
import math
from functools import lru_cache
from typing import Final

import cairocffi

from shared.drawing.pen import BOLD, Pen, Style
from sync_server.appearance import made_covers
from sync_server.appearance.made_covers import ARCH, CIRCLE, Composition, MadeCover, Shape

WIDTH: Final = 1200
HEIGHT: Final = 630
_SCALE: Final = WIDTH / made_covers.WIDTH
_CUT: Final = (made_covers.HEIGHT * _SCALE - HEIGHT) / 2
"""The cover is a little higher: so much of it is cut off above and below."""
_POINTS: Final = 0.75
"""Of a pixel, as the writer of texts counts."""
_ASCENT: Final = 1.07
"""From the top of a line to its baseline, in its size."""
_KEPT: Final = 64
"""Pictures that a process keeps: two megabytes."""


@lru_cache(maxsize=_KEPT)
def share_picture(cover: MadeCover) -> bytes:
    """The cover as PNG of 1200 by 630 pixels."""
    surface = cairocffi.ImageSurface(cairocffi.FORMAT_RGB24, WIDTH, HEIGHT)
    context = cairocffi.Context(surface)
    context.translate(0, -_CUT)
    context.scale(_SCALE, _SCALE)
    _draw(context, made_covers.composition(cover))
    out = io.BytesIO()
    surface.write_to_png(out)
    return out.getvalue()


def _draw(context: cairocffi.Context, made: Composition) -> None:
    pen = Pen(context)
    pen.area(0, 0, made_covers.WIDTH, made_covers.HEIGHT, made.ground)
    for shape in made.shapes:
        _fill(context, shape)
    date = Style(made_covers.DATE_SIZE * _POINTS, made.ink, BOLD)
    _write(pen, made.date, made_covers.DATE_AT, made_covers.DATE_SIZE, date)
    size = _fitted(pen, made)
    for y, line in made.lines:
        _write(pen, line, y, size, Style(size * _POINTS, made.ink, BOLD))


def _fitted(pen: Pen, made: Composition) -> float:
    """The size at which the longest line has room: the font here is wider than the one that browsers take."""
    room = made_covers.WIDTH - 2 * made_covers.MARGIN
    widest = max(pen.width_of(line, Style(made.size * _POINTS, made.ink, BOLD)) for _, line in made.lines)
    return made.size * min(1, room / max(widest, 1))


def _write(pen: Pen, text: str, baseline: float, size: float, style: Style) -> None:
    room = made_covers.WIDTH - 2 * made_covers.MARGIN + 1
    pen.text(text, made_covers.MARGIN, baseline - size * _ASCENT, room, style)


def _fill(context: cairocffi.Context, shape: Shape) -> None:
    context.save()
    context.set_source_rgb(*shape.fill.parts)
    context.translate(shape.x, shape.y)
    if shape.kind == CIRCLE:
        context.arc(0, 0, shape.r, 0, 2 * math.pi)
    elif shape.kind == ARCH:
        context.arc(0, 0, shape.r, math.pi, 2 * math.pi)
        context.rectangle(-shape.r, 0, 2 * shape.r, made_covers.HEIGHT)
    else:
        context.rotate(math.radians(shape.turn))
        _rounded(context, shape.side)
    context.fill()
    context.restore()


def _rounded(context: cairocffi.Context, side: float) -> None:
    """A square around the origin, its corners round."""
    inner = side / 2 - made_covers.ROUND
    for turn, (x, y) in enumerate(((1, -1), (1, 1), (-1, 1), (-1, -1))):
        begin = (turn - 1) * math.pi / 2
        context.arc(x * inner, y * inner, made_covers.ROUND, begin, begin + math.pi / 2)
    context.close_path()
