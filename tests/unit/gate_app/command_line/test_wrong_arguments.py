"""A newcomer at the command line: mistakes are one line, and nothing is made or lost by them."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from typer.main import get_command

from gate_app.__main__ import app
from gate_app.installation.home import Home
from shared.release import DISTRIBUTION
from tests.gate_builders import PIN
from tests.gate_commands import Type


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan",),
        ("scan", "--direction", "sideways", "X"),
        ("scan", "--mode", "loud", "X"),
        ("nonsense",),
        ("scan", "--no-such-option", "X"),
        ("run", "--screen", "notaport"),
        ("enrol", "http://somewhere"),
        ("journal", "--verfy"),
        ("decode",),
        ("whatif",),
        ("whatif", "/nowhere/cases"),
        ("annul", "abc"),
        ("annul", "0"),
        ("doors", "sideways"),
        ("doors", "open", "--event", "x"),
        ("export", "journal", "evening.doc"),
        ("run", "--reader", "banana"),
        ("status", "extra"),
        ("enrol", "http://somewhere", "HELLO"),
        ("enrol", "http://", "MAYE-000G-40R4-0M30-E209-AV5W-B339-NWBA"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(type_: Type, arguments: tuple[str, ...]) -> None:
    said = type_(*arguments, at=None)
    assert (said.status, said.out, len(said.err.strip().splitlines())) == (2, "", 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", "--at", "yesterday", "X"),
        ("scan", "--at", "2026-07-04", "X"),
        ("scan", "--override-pin", PIN, "X"),
        ("set-time", "noon"),
        ("doors", "open", "--pin", PIN),
        ("empty-house", "--event", "99"),
    ],
)
def test_a_value_that_cannot_be_right_is_one_line_and_status_2(type_: Type, arguments: tuple[str, ...]) -> None:
    said = type_(*arguments)
    assert (said.status, said.out, len(said.err.strip().splitlines())) == (2, "", 1)
    assert PIN not in said.err


@pytest.mark.parametrize("arguments", [("scan", "--at", "yesterday", "X"), ("set-time", "noon")])
def test_a_wrong_value_is_said_before_what_else_is_in_the_way(
    type_: Type, home: Path, arguments: tuple[str, ...]
) -> None:
    with Home(home).held("run"):
        said = type_(*arguments)
    assert (said.status, "is not a time" in said.err, len(said.err.strip().splitlines())) == (2, True, 1)


@pytest.mark.parametrize("how", [("--all", "--nobody"), ("--all", "--only", "N-1"), ("--only", "N-1", "--nobody")])
def test_a_party_is_let_in_or_not(type_: Type, how: tuple[str, ...]) -> None:
    said = type_("party", *how)
    assert (said.status, said.out, len(said.err.strip().splitlines())) == (2, "", 1)


COMMANDS = sorted(get_command(app).commands)  # type: ignore[attr-defined]  # the app is a group of commands
TAKE_MANY = {"scan", "decode"}
MISTAKES = [(command, "--no-such-option") for command in COMMANDS]
MISTAKES += [(command, *("surplus",) * 9) for command in COMMANDS if command not in TAKE_MANY]


@pytest.mark.parametrize("arguments", MISTAKES, ids=lambda arguments: " ".join(arguments[:2]))
def test_every_command_says_a_mistake_in_one_line(type_: Type, arguments: tuple[str, ...]) -> None:
    said = type_(*arguments, at=None)
    assert (said.status, said.out, len(said.err.strip().splitlines())) == (2, "", 1)


def test_without_a_command_it_prints_its_help(type_: Type) -> None:
    said = type_(at=None)
    assert (said.status, said.out) == (2, "")
    listed = {line.split()[0] for line in said.err.splitlines() if line.strip()}
    assert {"Usage:", "enrol", "scan", "run", "doctor", "export"} <= listed
    assert type_("-h", at=None).out == type_("--help", at=None).out != ""


def test_it_tells_its_version(type_: Type) -> None:
    said = type_("--version", at=None)
    assert (said.status, said.err) == (0, "")
    assert said.out == f"gatehouse-gate {version(DISTRIBUTION)}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", "X"),
        ("sync", "--once"),
        ("run", "--reader", "fake", "--headless"),
        ("doors", "open"),
        ("annul", "1"),
        ("status",),
        ("journal",),
        ("doctor",),
        ("enrol", "http://127.0.0.1:9", "HELLO"),
        ("enrol", "http://127.0.0.1:9", "MAYE-000G-40R4-0M30-E209-AV5W-B339-NWBA"),
    ],
    ids=" ".join,
)
def test_a_mistyped_home_is_not_made(type_: Type, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    said = type_(*arguments, at=tmp_path / "hoem", stdin=b"1\n")
    assert said.status in (1, 2)
    assert not (tmp_path / "hoem").exists()


def test_a_folder_of_something_else_becomes_no_gate(type_: Type, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "holiday.jpg").touch()
    said = type_("scan", "X", at=tmp_path / "photos")
    assert (said.status, "There is no gate in" in said.err) == (1, True)
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["holiday.jpg"]
