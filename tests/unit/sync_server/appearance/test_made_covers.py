"""Covers that are made of a name, a date and a colour."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from sync_server.appearance.colours import READABLE, Colour, contrast
from sync_server.appearance.made_covers import HEIGHT, WIDTH, MadeCover, drawing

COVER = MadeCover("Night Music", "Sat, 4 Jul 2026", "#0f766e")
SVG = "{http://www.w3.org/2000/svg}"


def lines(cover: MadeCover) -> list[Element]:
    return fromstring(drawing(cover)).findall(f".//{SVG}tspan")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=200), st.integers(0, 0xFFFFFF))
def test_every_name_fits_and_can_be_read(name: str, colour: int) -> None:
    drawn = drawing(MadeCover(name, "4 Jul", f"#{colour:06x}"))
    picture = fromstring(drawn)
    size = float(picture.findall(f".//{SVG}text")[1].attrib["font-size"])
    shown = picture.findall(f".//{SVG}tspan")
    assert 1 <= len(shown) <= 5
    for line in shown:
        assert size < float(line.attrib["y"]) < HEIGHT
    fills = re.findall(r'<(?:rect|circle|path|g)[^>]* fill="(#[0-9a-f]{6})"', drawn)
    assert len(fills) == 4
    *behind, ink = map(Colour.of, fills)
    assert all(contrast(ink, each) >= READABLE for each in behind)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "A & B", '"quoted"'])
def test_a_name_is_only_ever_text(name: str) -> None:
    shown = "".join(line.text or "" for line in lines(MadeCover(name, "", COVER.colour)))
    assert shown.replace(" ", "") == name.replace(" ", ""), "in several lines, where it is long"


def test_long_names_become_smaller_and_no_line_is_wider_than_the_cover() -> None:
    long = MadeCover("The Long Evening of Short Operas: Twelve Premieres in One Night", "", COVER.colour)
    sizes = [float(re.findall(r'font-size="([\d.]+)"', drawing(each))[1]) for each in (COVER, long)]
    assert sizes[0] > sizes[1]
    assert all(len(line.text or "") * sizes[1] * 0.5 < WIDTH for line in lines(long))


@pytest.mark.parametrize("name", ["Weihnachtsoratorium", "Das Schauspielensemble spielt Sommernachtstraum"])
def test_words_become_smaller_before_they_are_broken(name: str) -> None:
    shown = [line.text or "" for line in lines(MadeCover(name, "", COVER.colour))]
    assert " ".join(shown).split() == name.split()


def test_the_address_changes_with_whatever_the_cover_says() -> None:
    others = [
        MadeCover("Night Music II", COVER.date, COVER.colour),
        MadeCover(COVER.name, "Sun, 5 Jul 2026", COVER.colour),
        MadeCover(COVER.name, COVER.date, "#1d4ed8"),
    ]
    paths = {each.path("marquee", "1", "en") for each in (COVER, *others)}
    assert len(paths) == 4 and COVER.path("marquee", "1", "en").startswith("/o/marquee/events/1/cover-en-0f766e-")
