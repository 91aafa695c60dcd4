"""docs/gate.md describes every command and option of the gate, and docs/gate-hardware.md every reader; no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from gate_app.__main__ import app
from hardware.devices import READERS

DOCS = Path(__file__).parents[4] / "docs"
PAGE = DOCS / "gate.md"
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # typer calls a group a command


def described() -> str:
    return PAGE.read_text("utf-8")


def options() -> list[tuple[str, str]]:
    return [
        (name, option)
        for name, command in COMMANDS.items()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--")
    ]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_described(name: str) -> None:
    assert re.search(rf"^\| `{name}[` ]", described(), re.MULTILINE), f"docs/gate.md has no line for `{name}`"


@pytest.mark.parametrize(("name", "option"), sorted(options()))
def test_every_option_is_described(name: str, option: str) -> None:
    line = re.search(rf"^- `{name}`: .*(?:\n  .*)*", described(), re.MULTILINE)
    assert option == "--home" or (line and f"`{option}" in line[0]), f"docs/gate.md does not tell `{name} {option}`"


def test_nothing_is_described_that_does_not_exist() -> None:
    listed = re.findall(r"^- `([a-z-]+)`:((?:.|\n  )*)", described(), re.MULTILINE)
    claimed = {(name, option) for name, text in listed for option in re.findall(r"`(--[a-z-]+)", text)}
    assert claimed
    opposites = {
        (name, other) for name, one in COMMANDS.items() for each in one.params for other in each.secondary_opts
    }
    assert claimed <= set(options()) | opposites


def test_every_reader_is_described() -> None:
    readers = (DOCS / "gate-hardware.md").read_text("utf-8").split("## Readers")[1].split("\n#")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", readers, re.MULTILINE)) == set(READERS)
