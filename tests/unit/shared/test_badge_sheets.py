"""Badges on paper: codes are read back by the gate's own decoder, texts out of the PDF, and dots are the preview's."""

from __future__ import annotations

import base64
import io
import subprocess
from pathlib import Path

import cairocffi
import pytest

from hardware.devices import decode_image
from shared.badges import ready_made
from shared.badges.layout import read_layout
from shared.badges.sheets import dots_of, pdf_of, png_of
from tests.unit.hardware.images import ticket_text

WORDS = {
    "name": "Zoë Müller-Ångström",
    "type": "Weekend pass",
    "zone": "Balcony left",
    "row": "Row 4",
    "seat": "Seat 12",
    "number": "FEST-000123",
    "event": "Night of Songs",
    "date": "2026-11-19",
    "code": ticket_text(4),
}
#: A person's name in eight scripts, one font for none of them.
NAMES = ["Zoë Müller", "Łukasz Żółć", "Иван Петров", "Αλέξης", "नेहा", "李小龍", "김민준", "ก้องภพ"]


def read_back(png: bytes, folder: Path) -> list[str]:
    path = folder / "badge.png"
    path.write_bytes(png)
    return [found.text for found in decode_image(path).found]


def text_of(pdf: bytes, folder: Path) -> str:
    path = folder / "badge.pdf"
    path.write_bytes(pdf)
    return subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("name", ready_made.names())
def test_the_code_on_each_badge_is_read_at_the_coarsest_resolution(name: str, turn: int, tmp_path: Path) -> None:
    png = png_of(ready_made.layout_of(name), WORDS, 203, turn)
    assert read_back(png, tmp_path) == [WORDS["code"]]


@pytest.mark.parametrize("name", ready_made.names())
def test_the_words_stand_in_the_pdf(name: str, tmp_path: Path) -> None:
    text = " ".join(text_of(pdf_of([(ready_made.layout_of(name), WORDS)], "Badges"), tmp_path).split())
    shown = ready_made.layout_of(name).names_words - {"code"}
    assert shown
    for word in shown:
        for part in WORDS[word].split():
            assert part in text, word


def test_every_badge_has_a_page_of_its_own_size(tmp_path: Path) -> None:
    badges = [(ready_made.layout_of(name), WORDS) for name in ("badge", "wristband")]
    (tmp_path / "two.pdf").write_bytes(pdf_of(badges, "Two"))
    told = subprocess.run(["pdfinfo", "-l", "2", tmp_path / "two.pdf"], capture_output=True, check=True).stdout.decode()
    sizes = [line.split()[3:6:2] for line in told.splitlines() if line.startswith("Page ") and " size:" in line]
    assert [[round(float(side) * 25.4 / 72) for side in size] for size in sizes] == [[86, 54], [254, 25]]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_any_script_are_drawn_with_letters_of_their_own(name: str, tmp_path: Path) -> None:
    layout = ready_made.layout_of("badge")
    pdf = pdf_of([(layout, {"name": name})], "Badge")
    assert text_of(pdf, tmp_path).strip().replace(" ", "") == name.replace(" ", "")
    fonts = subprocess.run(["pdffonts", tmp_path / "badge.pdf"], capture_output=True, check=True).stdout.decode()
    assert fonts.count("yes yes yes") >= 1, "embedded, so that no printer needs it"


def test_the_dots_are_those_of_the_preview() -> None:
    layout = ready_made.layout_of("label")
    dots, png = dots_of(layout, WORDS, 203), png_of(layout, WORDS, 203)
    picture = cairocffi.ImageSurface.create_from_png(io.BytesIO(png))
    assert (picture.get_width(), picture.get_height()) == (dots.width, dots.height) == (799, 496)
    stride, across = picture.get_stride(), (dots.width + 7) // 8
    for y in range(0, dots.height, 7):
        row = bytes(picture.get_data())[y * stride : y * stride + dots.width * 4 : 4]
        printed = "".join(f"{byte:08b}" for byte in dots.rows[y * across : (y + 1) * across])
        assert printed == "".join("1" if level == 0 else "0" for level in row).ljust(across * 8, "0")
        assert set(row) <= {0, 255}


def test_modules_of_a_code_have_the_same_number_of_dots() -> None:
    area = '[[area]]\nkind = "qr"\ntext = "{code}"\nx = 1.3\ny = 1.7\nwidth = 27\nheight = 27\n'
    text = f"width_mm = 30\nheight_mm = 30\n{area}"
    dots = dots_of(read_layout(text), {"code": ticket_text(1)}, 203)
    across = (dots.width + 7) // 8
    first = next(y for y in range(dots.height) if any(dots.rows[y * across : (y + 1) * across]))
    row = "".join(f"{byte:08b}" for byte in dots.rows[first * across : (first + 1) * across]).strip("0")
    runs = {len(run) for run in row.replace("10", "1 0").replace("01", "0 1").split()}
    module = min(runs)
    assert module >= 3
    assert {run % module for run in runs} == {0}


def test_a_long_name_becomes_smaller_and_keeps_its_words(tmp_path: Path) -> None:
    name = "Maria Wolfeschlegelsteinhausenbergerdorff-Fernández de la Cruz"
    layout = ready_made.layout_of("badge")
    words = text_of(pdf_of([(layout, {"name": name})], "Badge"), tmp_path).split()
    assert words == name.split() or "".join(words) == name.replace(" ", "")


def test_a_logo_is_drawn_where_the_layout_has_one() -> None:
    surface = cairocffi.ImageSurface(cairocffi.FORMAT_RGB24, 30, 10)
    out = io.BytesIO()
    surface.write_to_png(out)
    base = 'width_mm = 40\nheight_mm = 20\n[[area]]\nkind = "logo"\nx = 5\ny = 5\nwidth = 30\nheight = 10\n'
    empty = dots_of(read_layout(base), {}, 100)
    drawn = dots_of(read_layout(f'logo = "{base64.b64encode(out.getvalue()).decode()}"\n{base}'), {}, 100)
    assert not any(empty.rows)
    assert sum(byte.bit_count() for byte in drawn.rows) == pytest.approx(30 * 10 * (100 / 25.4) ** 2, rel=0.05)
