"""The accent of pages: a stylesheet that sets what tokens.css leaves open, made of one colour, held to contrast."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from sync_server.appearance.colours import BLACK, VISIBLE, WHITE, Colour, readable, text_on

DEFAULT: Final = "#3f4fd8"
"""The accent of tokens.css, for organisers who have chosen none."""
COLOUR: Final = re.compile("[0-9a-f]{6}")

# The ground of pages as tokens.css has it, at its least favourable: --sunk by day, --sheet by night.
_DAY: Final = Colour.of("#eceef1")
_NIGHT: Final = Colour.of("#1b202b")
_SOFT_BY_DAY: Final = 0.9
_SOFT_BY_NIGHT: Final = 0.82
_STRONGER: Final = 0.16


@dataclass(frozen=True, slots=True)
class Accent:
    """The values of one scheme: what fills, what is written on it, what is written on the page, and a wash."""

    fill: Colour
    on_fill: Colour
    text: Colour
    soft: Colour
    strong: Colour  # the fill while it is pointed at

    def declarations(self) -> str:
        """As CSS."""
        return (
            f"--accent:{self.fill};--on-accent:{self.on_fill};--accent-text:{self.text};"
            f"--accent-soft:{self.soft};--accent-strong:{self.strong}"
        )


def by_day(colour: Colour) -> Accent:
    """On bright pages."""
    return _accent(colour, _DAY, colour.mixed(WHITE, _SOFT_BY_DAY))


def by_night(colour: Colour) -> Accent:
    """On dark pages."""
    return _accent(colour, _NIGHT, colour.mixed(_NIGHT, _SOFT_BY_NIGHT))


def _accent(colour: Colour, ground: Colour, soft: Colour) -> Accent:
    fill = readable(colour, ground, least=VISIBLE)
    on_fill = text_on(fill)
    # Away from what is written on it: pointing at a button never makes it harder to read.
    strong = fill.mixed(BLACK if on_fill == WHITE else WHITE, _STRONGER)
    return Accent(fill, on_fill, readable(colour, ground, soft), soft, strong)


@lru_cache(maxsize=1_000)
def stylesheet(colour: str) -> str:
    """The stylesheet of an accent, by a colour such as 1d4ed8."""
    base = Colour.of(colour)
    day, night = by_day(base).declarations(), by_night(base).declarations()
    return f":root{{{day}}}@media (prefers-color-scheme:dark){{:root{{{night}}}}}\n"


@lru_cache(maxsize=1_000)
def accent_path(colour: str) -> str:
    """The address of the stylesheet of a colour such as #1d4ed8; another whenever its content would be."""
    name = colour.removeprefix("#").lower()
    return f"/accents/{name}.css?v={blake2b(stylesheet(name).encode(), digest_size=6).hexdigest()}"
