"""Covers for events without a picture: two shapes, the accent, the name in big type, and the date; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from markupsafe import escape

from shared.clock import Millis
from sync_server.appearance.colours import BLACK, READABLE, WHITE, Colour, contrast, text_on
from sync_server.appearance.moments import Style

WIDTH: Final = 1600
HEIGHT: Final = 900
MARGIN: Final = 96
CIRCLE, ARCH, SQUARE = range(3)
ROUND: Final = 48
"""The corners of a square."""
_SIZES: Final = (184, 152, 128, 108, 92, 76)
_MOST_LINES: Final = 4
_LETTERS: Final = 90
"""More of a name is cut off: the page says it in full."""
_NARROW: Final = frozenset("iljtfrI.,:;'’!|()[] -")
_WIDE: Final = frozenset("mwMWÆŒ@%&—…")
_FONT: Final = 'font-family="Inter, system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif"'


@dataclass(frozen=True, slots=True)
class MadeCover:
    """What a made cover says, and the colour that it is made of."""

    name: str
    date: str  # in words; empty where it is open
    colour: str  # such as #1d4ed8

    @classmethod
    def of(cls, name: str, starts_at: Millis | None, style: Style, colour: str) -> MadeCover:
        """The cover of an event that takes place at this time; None: the date is open."""
        return cls(name, "" if starts_at is None else style.short_day(starts_at), colour)

    def path(self, slug: str, event_id: str, language: str, kind: str = "svg") -> str:
        """The address of the drawing, at the shop of its organisation: another whenever the drawing would be."""
        name = f"cover-{language}-{self.colour.removeprefix('#').lower()}-{self.version}.{kind}"
        return f"/o/{slug}/events/{event_id}/{name}"

    @property
    def version(self) -> str:
        """Another whenever the drawing would be: who knows it knows what the cover says."""
        return blake2b(drawing(self).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Shape:
    """A circle, an arch or a tilted square."""

    kind: int
    x: float
    y: float
    r: float
    turn: float  # of a square, in degrees
    fill: Colour

    @property
    def side(self) -> float:
        """Of a square."""
        return 1.6 * self.r


@dataclass(frozen=True, slots=True)
class Composition:
    """What is drawn: the ground, two shapes, and the date above the name; a line of the name begins at its baseline."""

    ground: Colour
    ink: Colour
    shapes: Sequence[Shape]
    date: str
    size: int
    lines: Sequence[tuple[float, str]]


DATE_AT: Final = MARGIN + 44
DATE_SIZE: Final = 48


@lru_cache(maxsize=500)
def composition(cover: MadeCover) -> Composition:
    """How a cover is composed, whatever draws it."""
    draw = blake2b(cover.name.encode(), digest_size=6).digest()
    ground, fills = _palette(Colour.of(cover.colour), draw[0])
    size, lines = _fitted(cover.name[:_LETTERS])
    first = HEIGHT - MARGIN - (len(lines) - 1) * size * 1.08 - size * 0.12
    placed = tuple((first + index * size * 1.08, line) for index, line in enumerate(lines))
    shapes = _shape(draw, 1, fills[0]), _shape(draw, 3, fills[1])
    return Composition(ground, text_on(ground), shapes, cover.date, size, placed)


@lru_cache(maxsize=500)
def drawing(cover: MadeCover) -> str:
    """The cover as SVG."""
    made = composition(cover)
    spans = "".join(f'<tspan x="{MARGIN}" y="{y:.0f}">{escape(line)}</tspan>' for y, line in made.lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{made.ground}"/>'
        f"{''.join(_element(shape) for shape in made.shapes)}"
        f'<g fill="{made.ink}" {_FONT}><text x="{MARGIN}" y="{DATE_AT}" font-size="{DATE_SIZE}" font-weight="600" '
        f'letter-spacing=".5">{escape(made.date)}</text>'
        f'<text font-size="{made.size}" font-weight="750" letter-spacing="{-made.size * 0.025:.1f}">'
        f"{spans}</text></g></svg>"
    )


def _palette(colour: Colour, turn: int) -> tuple[Colour, tuple[Colour, Colour]]:
    """The ground, and two shapes on it; what is written can be read on all three."""
    ground = colour
    while max(contrast(ground, WHITE), contrast(ground, BLACK)) < 7:
        ground = ground.darker()
    ink = text_on(ground)
    towards = BLACK if ink == WHITE else WHITE
    turned = (
        Colour(ground.green, ground.blue, ground.red) if turn % 2 else Colour(ground.blue, ground.red, ground.green)
    )
    return ground, (_held(ground.mixed(turned, 0.55), ink, towards), _held(ground.mixed(ink, 0.16), ink, towards))


def _held(colour: Colour, ink: Colour, towards: Colour) -> Colour:
    while contrast(colour, ink) < READABLE:
        colour = colour.mixed(towards, 0.12)
    return colour


def _shape(draw: bytes, at: int, fill: Colour) -> Shape:
    """One in the right half, by two drawn bytes."""
    kind, place = draw[at] % 3, draw[at + 1] / 255
    x, y, r = 900 + place * 560, 120 + (draw[at] / 255) * 520, 250 + place * 190
    return Shape(kind, x, y, r, 12 + place * 50, fill)


def _element(shape: Shape) -> str:
    x, y, r, fill = shape.x, shape.y, shape.r, shape.fill
    if shape.kind == CIRCLE:
        return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{r:.0f}" fill="{fill}"/>'
    if shape.kind == ARCH:
        return f'<path d="M{x - r:.0f} {HEIGHT}V{y:.0f}a{r:.0f} {r:.0f} 0 0 1 {2 * r:.0f} 0V{HEIGHT}z" fill="{fill}"/>'
    side = shape.side
    corner = f'x="{x - side / 2:.0f}" y="{y - side / 2:.0f}" width="{side:.0f}" height="{side:.0f}" rx="{ROUND}"'
    return f'<rect {corner} fill="{fill}" transform="rotate({shape.turn:.0f} {x:.0f} {y:.0f})"/>'


def _fitted(name: str) -> tuple[int, Sequence[str]]:
    """The largest size at which the name fits, and its lines; a word is broken only where it fits at no size."""
    longest = max((_width(word) for word in name.split()), default=0)
    for size in _SIZES:
        room = (WIDTH - 2 * MARGIN) / size
        lines = _wrapped(name, room)
        if len(lines) <= _MOST_LINES - (size > _SIZES[1]) and longest <= room:
            return size, lines
    return _SIZES[-1], lines[: _MOST_LINES + 1]


def _wrapped(name: str, width: float) -> list[str]:
    lines: list[str] = []
    for word in name.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _width(longer) <= width:
            lines[-1] = longer
        else:
            lines.extend(_broken(word, width))
    return lines or [""]


def _broken(word: str, width: float) -> list[str]:
    """A word that is wider than the cover, in pieces."""
    pieces = [""]
    for letter in word:
        if _width(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _width(text: str) -> float:
    """How wide it is, in ems of bold type: an estimate, as every reader has a font of their own."""
    return sum(_em(letter) for letter in text)


def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.36
    if letter in _WIDE:
        return 0.95
    if ord(letter) > 0x2E7F:  # Chinese, Japanese, Korean
        return 1.0
    return 0.72 if letter.isupper() else 0.62
