"""docs/operate.md documents every command and option of the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from sync_server.__main__ import app

PAGE = Path(__file__).parents[3] / "docs" / "operate.md"


def described() -> str:
    return PAGE.read_text("utf-8")


def commands(group: Any, *before: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *before, name)
        else:
            yield " ".join((*before, name)), command


COMMANDS = dict(commands(typer.main.get_command(app)))
OPTIONS = sorted(
    (name, option)
    for name, command in COMMANDS.items()
    for parameter in command.params
    for option in parameter.opts
    if option.startswith("--")
)


def line(name: str) -> str:
    """The line about a command; two related commands may share one."""
    found = re.search(rf"^- (?:`[^`]*`, )?`{name}[` ].*(?:\n  .*)*", described(), re.MULTILINE)
    return found[0] if found else ""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_described(name: str) -> None:
    assert line(name), f"docs/operate.md has no line for `{name}`"


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_every_option_is_described(name: str, option: str) -> None:
    assert f"`{option}`" in line(name), f"docs/operate.md does not describe `{name} {option}`"


def test_nothing_is_described_that_does_not_exist() -> None:
    lines = re.findall(r"^- `([a-z-]+(?: [a-z-]+)?)[^`]*`(.*(?:\n  .*)*)", described(), re.MULTILINE)
    assert {name for name, _ in lines} <= set(COMMANDS) and len(lines) > 10
    claimed = {(name, option) for name, text in lines for option in re.findall(r"`(--[a-z-]+)", text)}
    assert claimed and claimed <= set(OPTIONS)
