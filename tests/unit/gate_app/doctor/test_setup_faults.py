"""The doctor finds what is wrong before a gate is set up, and after it was set up wrongly."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from gate_app.doctor.examination import findings
from gate_app.installation.home import Home
from gate_app.journal.forks import note_twin
from hardware.machine import MachineState
from tests.gate_builders import GateAtHome, a_code, a_gate
from tests.unit.gate_app.doctor.test_faults import as_somebody_else, found, gate, host_of, no_news, reader, settings

__all__ = ["gate"]


def test_a_folder_without_a_gate(gate: GateAtHome, tmp_path: Path) -> None:
    told = {each.part: each.code for each in findings(Home(tmp_path / "nothing"), host_of(gate), no_news)}
    assert (told["disk"], told["ready"], told["tickets"]) == ("no_home", "not_used", "no_tickets")


def test_a_folder_of_another_user(gate: GateAtHome, tmp_path: Path) -> None:
    (tmp_path / "seen").mkdir()
    gate.folder.chmod(0o000)
    try:
        with as_somebody_else(tmp_path / "seen"):
            told = [(each.part, each.code) for each in findings(Home(gate.folder), host_of(gate), no_news)]
    finally:
        gate.folder.chmod(0o700)
    assert told == [("home", "home_unreadable")], "of what it may not read it says nothing else"


def test_settings_with_a_mistake(gate: GateAtHome) -> None:
    settings(gate, "screen_prot = 8200")
    told = found(gate, "settings")
    assert (told.code, "screen_prot" in told.message) == ("settings", True)
    assert found(gate, "tickets").ok, "the rest is examined all the same"


def test_an_identity_that_a_card_has_damaged(gate: GateAtHome) -> None:
    Home(gate.folder).identity.write_bytes(b"a card that forgets")
    told = found(gate, "enrolment")
    assert (told.code, bool(told.message)) == ("unknown", True)
    assert found(gate, "journal").ok, "the rest is examined all the same"


def test_a_machine_that_could_let_nobody_in(tmp_path: Path) -> None:
    gate = GateAtHome(Home(tmp_path / "home").ready().folder)
    told = found(gate, "ready")
    assert (told.code, "not enrolled" in told.message) == ("not_ready", True)
    gate.context.close()


def test_a_machine_without_what_reads_pictures(gate: GateAtHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zxingcpp", None)
    assert found(gate, "camera").ok, "a gate with a scanner needs no library for cameras"
    settings(gate, reader("camera", "/dev/video7"))
    told = found(gate, "camera")
    assert (told.code, "requirements/camera.txt" in told.message) == ("camera_libraries", True)


def test_a_gate_whose_first_camera_is_not_plugged_in(
    gate: GateAtHome, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("gate_app.doctor.devices.DEVICES", tmp_path)
    assert found(gate, "camera").ok, "none is wanted"
    settings(gate, reader("camera", ""))
    told = found(gate, "camera")
    assert (told.code, "Plug one in" in told.message) == ("camera_missing", True)
    (tmp_path / "video0").touch()
    assert found(gate, "camera").ok


def test_a_machine_on_its_battery(gate: GateAtHome) -> None:
    told = found(gate, "power", look=lambda: MachineState(on_battery=True, battery_percent=40))
    assert (told.code, "40 %" in told.message) == ("on_battery", True)


def test_a_screen_at_an_address_that_this_machine_has_not(gate: GateAtHome) -> None:
    settings(gate, 'screen_host = "192.0.2.77"')
    assert found(gate, "screen").code == "screen_address"


def test_a_clock_that_somebody_set(tmp_path: Path) -> None:
    gate = a_gate(tmp_path / "home")
    gate.context.time.set_by_hand(gate.hands.true)
    assert found(gate, "clock").code == "clock_by_hand"
    gate.context.close()


def test_tickets_that_cannot_be_read_any_more(gate: GateAtHome) -> None:
    assert found(gate, "tickets").ok
    for file in Home(gate.folder).snapshots.glob("event-*.rows"):
        file.write_bytes(b"a card that forgets" * 500)
    assert found(gate, "tickets").code == "tickets_damaged"


@pytest.mark.parametrize(
    ("written", "part", "code"),
    [
        ('barrier = "portcullis"', "gpio", "gpio_fails"),
        ('[[readers]]\nkind = "serial"\nsource = "Nobody makes this one"', "scanner", "scanner_fails"),
    ],
)
def test_a_device_that_does_not_work(gate: GateAtHome, written: str, part: str, code: str) -> None:
    settings(gate, written)
    assert found(gate, part).code == code


def test_two_machines_that_work_with_one_key(gate: GateAtHome) -> None:
    gate.scan(a_code(1))
    note_twin(gate.context.journal)
    assert found(gate, "journal").code == "two_gates"


def test_entries_of_an_earlier_enrolment(gate: GateAtHome) -> None:
    gate.scan(a_code(1))
    assert found(gate, "unsent").ok
    with closing(sqlite3.connect(gate.folder / "gate.db")) as connection, connection:
        connection.execute("UPDATE branches SET device = device + 1")
    told = found(gate, "unsent")
    assert (told.code, "export journal" in told.message) == ("stranded", True)
    with closing(sqlite3.connect(gate.folder / "gate.db")) as connection, connection:
        connection.execute("UPDATE branches SET device = 0")
    assert found(gate, "unsent").ok, "what a machine of nobody refused is missed by no server"
