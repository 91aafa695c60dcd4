"""Layouts of badges: what can be said in them, what is refused, and what an area shows."""

from __future__ import annotations

import pytest

from shared.badges import ready_made
from shared.badges.layout import AreaKind, read_layout
from shared.errors import InvalidRequest

PAGE = 'title = "Mine"\nwidth_mm = 80\nheight_mm = 40\n'


def an_area(**changes: str | float | bool) -> str:
    fields = {"x": 1, "y": 1, "width": 70, "height": 20, "text": "{name}"} | changes
    lines = [
        f"{name} = {value if not isinstance(value, str) else chr(34) + value + chr(34)}"
        for name, value in fields.items()
    ]
    return "[[area]]\n" + "\n".join(lines).replace("True", "true") + "\n"


@pytest.mark.parametrize("name", ready_made.names())
def test_every_layout_that_comes_along_can_be_used(name: str) -> None:
    layout = ready_made.layout_of(name)
    assert layout.title
    assert any(area.kind is AreaKind.QR for area in layout.areas)


def test_there_is_none_of_another_name() -> None:
    with pytest.raises(KeyError):
        ready_made.text_of("../layout")


def test_a_layout_of_ones_own() -> None:
    layout = read_layout(PAGE + an_area(bold=True, size_mm=8))
    assert (layout.title, layout.width_mm, layout.height_mm) == ("Mine", 80, 40)
    assert layout.areas[0].bold
    assert layout.names_words == {"name"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("width_mm = ", "not TOML"),
        ("width_mm = 80\nheight_mm = 40", "1 to 24 areas"),
        (PAGE + an_area() * 25, "1 to 24 areas"),
        (PAGE.replace("80", "8000") + an_area(), "width_mm must be 10 to 420"),
        (PAGE + "colour = 3\n" + an_area(), "colour is not known"),
        (PAGE + an_area(font="Comic"), "Area 1: font is not known"),
        (PAGE + an_area(x=20), "Area 1 does not lie on the page"),
        (PAGE + an_area() + an_area(text="{email}"), "Area 2: {email} is not known"),
        (PAGE + an_area(text=""), "shows nothing"),
        (PAGE + an_area(kind="picture"), "Kinds are text, qr"),
        (PAGE + an_area(align="justify"), "align is left, centre, right"),
        (PAGE + an_area(kind="qr", width=10, height=10), "needs 14 mm"),
        (PAGE + an_area(kind="line"), "the other is 0"),
        (PAGE + an_area(bold="yes"), "bold must be true or false"),
        (PAGE + an_area(y="top"), "y must be 0 to 420"),
        (PAGE + 'logo = "no base64!"\n' + an_area(), "PNG in base64"),
        ("#" * 30_000, "longer than"),
    ],
)
def test_what_is_wrong_is_said_in_words(text: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be used") as refused:
        read_layout(text)
    assert said in refused.value.message
    assert refused.value.error_code == "layout_invalid"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{zone} · Row {row} · Seat {seat}", "Stalls · Row C"),
        ("{row} · {seat}", "C"),
        ("{name}", ""),
        ("Crew only", "Crew only"),
        ("{name} from {zone}", "from Stalls"),
        ("https://example.org/{number}", "https://example.org/N-1"),
    ],
)
def test_parts_without_words_are_left_out(text: str, shown: str) -> None:
    (area,) = read_layout(PAGE + an_area(text=text)).areas
    assert area.filled({"zone": "Stalls", "row": "C", "seat": "", "name": "", "number": "N-1"}) == shown
