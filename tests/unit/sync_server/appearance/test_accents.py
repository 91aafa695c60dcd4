"""Whatever colour an organiser chooses, pages can be read in it, by day and by night."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sync_server.appearance.accents import Accent, accent_path, by_day, by_night, stylesheet
from sync_server.appearance.colours import READABLE, VISIBLE, Colour, contrast
from tests.architecture.tree import ROOT

COLOURS = st.builds(Colour, *[st.integers(0, 255)] * 3)
PAGES = {"day": ("#ffffff", "#fbfbfc", "#f2f3f5"), "night": ("#0e1117", "#161a22", "#0a0d12")}
"""The ground of pages, as tokens.css has it."""


def assert_readable(accent: Accent, grounds: tuple[str, ...]) -> None:
    pages = [Colour.of(each) for each in grounds]
    assert contrast(accent.on_fill, accent.fill) >= READABLE
    assert contrast(accent.on_fill, accent.strong) >= contrast(accent.on_fill, accent.fill)
    assert all(contrast(accent.text, ground) >= READABLE for ground in (*pages, accent.soft))
    assert all(contrast(accent.fill, ground) >= VISIBLE for ground in pages)


@given(COLOURS)
def test_every_colour_is_held_to_contrast(colour: Colour) -> None:
    assert_readable(by_day(colour), PAGES["day"])
    assert_readable(by_night(colour), PAGES["night"])


def test_the_grounds_are_those_of_the_stylesheet() -> None:
    tokens = (ROOT / "sync_server" / "static" / "tokens.css").read_text("utf-8")
    grounds = re.findall(r"--(?:page|sheet|sunk): (?:color-mix\(in oklch, )?(#[0-9a-f]{3,6})", tokens)
    assert {"#ffffff" if ground == "#fff" else ground for ground in grounds} == {*PAGES["day"], *PAGES["night"]}


def test_the_stylesheet_sets_what_the_pages_leave_open_and_its_address_follows_its_content() -> None:
    css = stylesheet("0f766e")
    assert css.count("--accent:#") == css.count("--accent-soft:#") == css.count("--accent-text:#") == 2
    assert accent_path("#0F766E") == accent_path("0f766e") != accent_path("#0f766f")
