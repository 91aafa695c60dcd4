"""Colours, and which of them can be read on which, by the contrast that WCAG defines: pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

READABLE: Final = 4.5
"""The least contrast of text of ordinary size: WCAG 2.2, level AA."""
VISIBLE: Final = 3.0
"""The least contrast of the shape of a button or a field."""


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour by its red, green and blue, each from 0 to 255."""

    red: int
    green: int
    blue: int

    @classmethod
    def of(cls, text: str) -> Colour:
        """A colour as #1d4ed8."""
        return cls(*bytes.fromhex(text.removeprefix("#")))

    def __str__(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"

    @property
    def parts(self) -> tuple[float, float, float]:
        """Red, green and blue, each from 0 to 1."""
        return self.red / 255, self.green / 255, self.blue / 255

    @property
    def luminance(self) -> float:
        """How bright it is, from 0 to 1."""
        red, green, blue = (_linear(part) for part in self.parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def darker(self) -> Colour:
        """A little darker."""
        return Colour(self.red * 9 // 10, self.green * 9 // 10, self.blue * 9 // 10)

    def lighter(self) -> Colour:
        """A little lighter: nearer to white by at least one step, so that it gets there."""
        return Colour(*(255 - (255 - part) * 9 // 10 for part in (self.red, self.green, self.blue)))

    def mixed(self, other: Colour, share: float) -> Colour:
        """This colour with such a share of another."""
        ours, theirs = (self.red, self.green, self.blue), (other.red, other.green, other.blue)
        return Colour(*(round(one * (1 - share) + two * share) for one, two in zip(ours, theirs, strict=True)))


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


BLACK: Final = Colour(0, 0, 0)
WHITE: Final = Colour(255, 255, 255)


def contrast(one: Colour, other: Colour) -> float:
    """From 1, the same, to 21, black on white."""
    dark, bright = sorted((one.luminance, other.luminance))
    return (bright + 0.05) / (dark + 0.05)


def text_on(background: Colour) -> Colour:
    """White or black, whichever can be read better; one of them always can."""
    return max((WHITE, BLACK), key=lambda colour: contrast(colour, background))


def readable(colour: Colour, *backgrounds: Colour, least: float = READABLE) -> Colour:
    """The colour itself if it has this contrast to all backgrounds, which are bright or all dark, else one that has.

    Without a background it is read on white.
    """
    behind = backgrounds or (WHITE,)
    away: Callable[[Colour], Colour] = Colour.darker if text_on(behind[0]) == BLACK else Colour.lighter
    while min(contrast(colour, each) for each in behind) < least:
        colour = away(colour)
    return colour
