"""Colours, and which of them can be read on which, by the contrast that WCAG defines: pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

READABLE: Final = 4.5
"""The least contrast of text of ordinary size: WCAG 2.2, level AA."""


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


def readable(colour: Colour, background: Colour = WHITE) -> Colour:
    """The colour itself if it can be read on a bright background, else a darker one that can."""
    while contrast(colour, background) < READABLE:
        colour = colour.darker()
    return colour
