"""The doctor finds the faults of a gate's printer: each is made for real, and nothing is printed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic_ns

import pytest

from tests.gate_builders import GateAtHome, a_gate
from tests.services.paper_printer import Cable, PaperPrinter
from tests.unit.gate_app.doctor.test_faults import found, host_of, settings


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[GateAtHome]:
    made = a_gate(tmp_path / "home")
    yield made
    made.context.close()


@contextmanager
def a_printer(gate: GateAtHome, **state: bool) -> Iterator[PaperPrinter]:
    """A label printer on the network, in the settings of the gate."""
    paper = PaperPrinter(**state)
    cable = Cable(paper)
    settings(gate, f'[printer]\nkind = "zpl"\nat = "{cable.port()}"\n')
    try:
        yield paper
    finally:
        cable.close()


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ({}, ""),
        ({"paper": False}, "printer_no_paper"),
        ({"closed": False}, "printer_open"),
        ({"paused": True}, "printer_paused"),
        ({"silent": True}, "printer_no_answer"),
    ],
)
def test_a_printer_says_how_it_is(
    gate: GateAtHome, state: dict[str, bool], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hardware.printers.label_printers.ANSWER_S", 0.3)
    with a_printer(gate, **state) as paper:
        told = found(gate, "printer", host=replace(host_of(gate), monotonic=monotonic_ns))
    assert (told.code, told.ok) == (code, not code)
    assert paper.printed == [], "it is only asked"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('kind = "zpl"\nat = "127.0.0.1:9"', "printer_unplugged"),
        ('kind = "escpos"\nat = "/dev/usb/lp77"', "printer_unplugged"),
        ('kind = "zpl"\nat = "not an address"', "printer_fails"),
        ('kind = "zpl"', "printer_settings"),
        ('kind = "cups"\nat = "nowhere"', "printer_no_queue"),
    ],
)
def test_a_printer_that_is_not_there(
    gate: GateAtHome, line: str, code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # without CUPS
    settings(gate, f"[printer]\n{line}\n")
    told = found(gate, "printer")
    assert (told.ok, told.code) == (False, code)
    assert told.message


def test_a_printer_that_this_user_may_not_use(gate: GateAtHome, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_arguments: object) -> int:
        raise PermissionError(13, "Permission denied")

    settings(gate, '[printer]\nkind = "zpl"\nat = "/dev/null"\n')
    monkeypatch.setattr("hardware.printers.lines.os.open", refused)
    told = found(gate, "printer")
    assert (told.code, "usermod --append --groups" in told.message) == ("printer_no_permission", True)


def test_a_machine_without_what_draws_badges(gate: GateAtHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairocffi", None)
    for name in ("shared.badges.sheets", "shared.badges.drawing", "shared.drawing.pen"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr("shared.badges.sheets", raising=False)
    settings(gate, '[printer]\nkind = "fake"\n')
    told = found(gate, "printer")
    assert (told.code, "requirements/print.txt" in told.message) == ("printer_libraries", True)
