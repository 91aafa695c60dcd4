"""Undoing keyboard layouts other than the scanner's US layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.layout_tables import KEYS, LAYOUTS, Layout
from shared.layouts import LONGEST, MARK, normalise
from tests.vectors.make_tickets import CODE, typed

WITNESS = json.loads(Path("tests/vectors/keyboards.json").read_text())
# A dead key swallows the digit: nothing is left by which it could be known.
HOPELESS = {("br", "shift held, as by a shift lock")}


def keyboards() -> list[tuple[str, str]]:
    """Every layout and habit that the keyboard driver was asked for."""
    return sorted({(case["layout"], case["habit"]) for case in WITNESS["cases"]} - HOPELESS)


@pytest.mark.parametrize(("layout", "habit"), keyboards())
def test_what_a_real_keyboard_driver_typed_is_undone(layout: str, habit: str) -> None:
    seen = [case for case in WITNESS["cases"] if (case["layout"], case["habit"]) == (layout, habit)]
    # A scanner that holds Shift throughout makes no sense of a prefix's own signs.
    wanted = [case["typed"] for case in seen if not (case["prefix"] and "shift held" in habit)]
    assert [normalise(text) for text in wanted] == [WITNESS["text"]] * len(wanted)
    assert wanted


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@given(body=st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", max_size=80))
def test_any_code_typed_on_any_layout_comes_back(layout: Layout, body: str) -> None:
    text = f"{MARK}1{body}"
    assert normalise(typed(text, layout)) == text
    assert normalise(typed(text, layout, shift=False)) == text


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_row_names_every_key_once(layout: Layout) -> None:
    assert len(KEYS) == len(set(KEYS)) == len(layout.plain) == len(layout.shifted) == 36


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_that_leaves_the_mark_alone_leaves_letters_and_digits_alone(layout: Layout) -> None:
    """This is why a text of letters and digits that begins with the mark needs no second look."""
    if typed(f"{MARK}1", layout) == f"{MARK}1":
        ascii_typed = [(typed(key, layout), key) for key in KEYS if typed(key, layout).isascii()]
        assert all(character == key for character, key in ascii_typed)


def test_a_text_that_two_layouts_make_different_codes_of_is_left_alone() -> None:
    """With a shift lock & is 7 on US keyboards and 6 on Italian ones, and nothing else here tells them apart."""
    assert normalise("MAY!AB&") == "MAY!AB&"


def test_more_of_the_text_tells_layouts_apart() -> None:
    assert normalise("MAY!AB&@") == "MAY1AB72"
    assert normalise("MAY!AB&/£") == "MAY1AB673"


def test_digits_are_typed_all_with_shift_or_all_without() -> None:
    """A sign that some layout has on a digit's key does not stand for the digit in the middle of plain ones."""
    altered = CODE.replace("2", "@", 1)
    assert altered != CODE
    assert normalise(altered) == altered


@pytest.mark.parametrize("prefix", ["]Q1", "]q3", "]d2", "\\000026", "]Q2\\000026"])
@pytest.mark.parametrize("around", ["{}", "{}\r\n", "\t{} ", "\x02{}\x03", "\ufeff{}"])
def test_prefixes_and_framing_are_taken_off(prefix: str, around: str) -> None:
    assert normalise(around.format(prefix + CODE)) == CODE
    assert normalise(around.format(prefix + CODE.lower())) == CODE


@pytest.mark.parametrize(
    ("named", "prefix"),
    [
        ("German", "+Q1"),
        ("German", "#000026"),
        ("French", "$A&"),
        ("Swiss", "Q1"),
        ("Swiss", "¨Q1"),
        ("Turkish F", "wf1"),
    ],
)
def test_a_prefix_that_the_layout_mangled_is_taken_off(named: str, prefix: str) -> None:
    layout = next(layout for layout in LAYOUTS if layout.name.startswith(named))
    assert normalise(prefix + typed(CODE, layout)) == CODE


def test_other_codes_of_the_house_are_undone_too() -> None:
    german = next(layout for layout in LAYOUTS if layout.name.startswith("German"))
    assert normalise(typed("MAYE1ABCXYZ", german)) == "MAYE1ABCXYZ"


@given(st.text(max_size=3_000) | st.text(st.sampled_from("MAYmayZz1&,?+]\\Q0 \n26")))
def test_any_text_is_answered_and_cut(text: str) -> None:
    assert len(normalise(text)) <= LONGEST + 1


@pytest.mark.parametrize(
    "text", ["", "Hello", "https://example.org/MAY1", "Ma Y1", "\ud800", "\0", "\u041c\u0410\u04231", "🎫"]
)
def test_what_is_no_code_comes_back_as_it_is(text: str) -> None:
    assert normalise(text) == text.strip("\0")
