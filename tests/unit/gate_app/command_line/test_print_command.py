"""The command `print`: a preview in a file, a trial on the printer, and mistakes in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate_app.command_line.badge_commands import SAMPLE
from gate_app.installation.home import Home
from hardware.devices import decode_image
from shared.badges import ready_made
from tests.gate_commands import Type
from tests.services.paper_printer import Cable, PaperPrinter


def test_a_preview_is_what_would_be_printed(type_: Type, tmp_path: Path) -> None:
    picture = tmp_path / "badge.png"
    said = type_("print", "--preview", str(picture), "--layout", "wristband", at=None)
    assert (said.status, json.loads(said.out)["layout"]) == (0, ready_made.layout_of("wristband").title)
    assert [found.text for found in decode_image(picture).found] == [SAMPLE["code"]]
    assert type_("print", "--preview", str(tmp_path / "badge.pdf"), at=None).status == 0
    assert (tmp_path / "badge.pdf").read_bytes().startswith(b"%PDF")


def test_a_layout_of_ones_own(type_: Type, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(ready_made.text_of("slip").replace("Slip", "Ours"))
    said = type_("print", "--preview", str(tmp_path / "own.png"), "--layout", str(own), at=None)
    assert "Ours" in said.out
    own.write_text("width_mm = 2")
    said = type_("print", "--preview", str(tmp_path / "own.png"), "--layout", str(own), at=None)
    assert (said.status, "cannot be used" in said.err) == (2, True)


def test_a_trial_on_the_printer(type_: Type, home: Path) -> None:
    paper = PaperPrinter()
    cable = Cable(paper)
    Home(home).settings.write_text(f'[printer]\nkind = "zpl"\nat = "{cable.port()}"\nturn = 90\n')
    assert type_("print", "--test", "--layout", "label").status == 0
    assert (paper.printed[0].width, paper.printed[0].height) == (496, 799)
    paper.paper = False
    said = type_("print", "--test")
    cable.close()
    assert (said.status, "no paper" in said.err) == (1, True)
    assert len(paper.printed) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--preview"),
        (("--preview", "x.png", "--test"), "--preview"),
        (("--preview", "badge.gif"), ".png or .pdf"),
        (("--preview", "x.png", "--layout", "nowhere"), "one of badge"),
    ],
)
def test_wrong_arguments_are_one_line(type_: Type, arguments: tuple[str, ...], said: str) -> None:
    told = type_("print", *arguments)
    assert (told.status, said in told.err) == (2, True)
    assert len(told.err.strip().splitlines()) == 1


def test_a_gate_without_a_printer_and_one_that_is_not_running(type_: Type) -> None:
    assert "name no printer" in type_("print", "--test").err
    assert "No gate is running" in type_("print", "NIGHT-000001").err
