"""The accent that is taken from a cover."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageDraw

from sync_server.appearance import accents
from sync_server.appearance.accents import stylesheet
from sync_server.appearance.cover_colours import colour_of


def picture(ground: str, *spots: tuple[str, int]) -> bytes:
    """A ground with bars of these colours, each so many pixels wide."""
    drawn, at = Image.new("RGB", (320, 180), ground), 0
    for colour, width in spots:
        ImageDraw.Draw(drawn).rectangle((at, 0, at + width - 1, 180), fill=colour)
        at += width
    out = io.BytesIO()
    drawn.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("cover", "hue"),
    [
        (picture("#101010", ("#d01030", 80)), "red"),  # a red light on a dark stage
        (picture("#f4f4f4", ("#1040c0", 60), ("#20a040", 20)), "blue"),  # more of the one than of the other
        (picture("#808080", ("#18a050", 60)), "green"),
    ],
)
def test_the_vivid_colour_that_there_is_most_of_is_taken(cover: bytes, hue: str) -> None:
    found = colour_of(cover)
    assert found is not None
    parts = {"red": found.red, "green": found.green, "blue": found.blue}
    assert max(parts, key=parts.__getitem__) == hue, found


@pytest.mark.parametrize("ground", ["#000000", "#ffffff", "#7f7f7f", "#8a8682"])
def test_a_grey_picture_has_none(ground: str) -> None:
    assert colour_of(picture(ground)) is None


def test_a_speck_is_no_colour_of_a_picture() -> None:
    assert colour_of(picture("#202020", ("#ff0000", 1))) is None


def test_whatever_it_is_a_stylesheet_is_made_of_it() -> None:
    found = colour_of(picture("#ffff00"))
    assert found is not None
    assert accents.COLOUR.fullmatch(str(found)[1:])
    assert "--on-accent" in stylesheet(str(found)[1:])
