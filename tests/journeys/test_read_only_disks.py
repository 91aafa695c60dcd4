"""A card that became read-only, as failing ones do: the gate says so, lets nobody in, and delivers what it recorded."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate_app.sync.client import HttpRequest
from tests.gate_builders import a_code
from tests.journeys.simulated_gate import SimulatedGate
from tests.journeys.test_full_disks import refusal, shown_once
from tests.journeys.test_gate_killed import a_gate_of_tonight
from tests.journeys.test_gate_running import TIMEOUT_S, wait_for_line
from tests.journeys.unwritable_disks import full, gate_command, read_only, small_disk
from tests.journeys.world import World


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of a gate that lost its power after one admission, so that its last entries are in the log only."""
    tmp_path.chmod(0o755)
    gate = a_gate_of_tonight(tmp_path / "running", 5)
    os.mkfifo(gate.folder / "scanner")
    assert gate.scan(a_code(1))["reason"] == "admitted"
    shutil.copytree(gate.folder, tmp_path / "home", ignore=shutil.ignore_patterns("scanner", "*-shm"))
    os.mkfifo(tmp_path / "home" / "scanner")
    gate.context.close()
    for path in [tmp_path / "home", *(tmp_path / "home").rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path / "home"


def run(prefix: list[str], *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    command = [*prefix, *gate_command(*arguments, home=home)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)


def test_every_ticket_is_refused_and_the_reason_is_the_disk(home: Path) -> None:
    with read_only(home) as prefix:
        result = run(prefix, "scan", a_code(1), a_code(2), home=home)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["reason"], line["committed"]) for line in lines] == [("cannot_record", False)] * 2
    assert "tickets" not in result.stderr.replace("sent", "")
    assert any(said in result.stderr for said in ("The disk is read-only", "may not write"))


def test_whoever_looks_sees_everything_that_was_recorded(home: Path) -> None:
    with read_only(home) as prefix:
        status, journal, doctor = (
            run(prefix, *asked, home=home) for asked in (("status", "--json"), ("journal",), ("doctor",))
        )
    found = json.loads(status.stdout)
    assert (found["inside"], found["unsent"] > 0, found["events"][0]["tickets"]) == (1, True, 5)
    assert "admitted" in journal.stdout
    if os.geteuid() == 0 and not prefix:  # mounted so; permissions are of this user only
        parts = {line["part"]: line for line in map(json.loads, doctor.stdout.splitlines())}
        assert [parts[part]["ok"] for part in ("ready", "disk", "journal")] == [False, False, True]
        assert found["not_ready"].startswith("The disk is read-only")
    assert "Traceback" not in doctor.stderr


def test_its_screen_says_so(home: Path) -> None:
    with read_only(home) as prefix:
        command = [*prefix, *gate_command("run", "--reader", "fake", "--screen", "0", home=home)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                address = wait_for_line(process, "The gate's screen").split()[-1]
                shown = shown_once(address, lambda view: view["condition"]["ready"] is False)
                warnings = shown["condition"]["why"]  # a kiosk shows why it is not ready, and no other warning
                assert any(said in warnings for said in ("The disk is read-only", "may not write"))
                assert "cannot be read" not in warnings
                with (home / "scanner").open("w") as scanner:
                    scanner.write(f"{a_code(2)}\n")
                assert refusal(address)["verdict"]["title"] == "Gate cannot record"
                process.send_signal(signal.SIGTERM)
                assert process.wait(TIMEOUT_S) == 0
            finally:
                process.kill()


def test_a_disk_that_fills_up_in_the_middle_is_told_and_forgotten_once_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "card") as mounted:
        gate = a_gate_of_tonight(tmp_path / "card" / "home", 5)
        context = gate.context
        assert gate.scan(a_code(1))["reason"] == "admitted"
        with full(tmp_path / "card", mounted):
            assert gate.scan(a_code(2))["reason"] == "cannot_record"
            found = context.readiness()
            assert not found.can_record
            assert ("The disk is full" if mounted else "cannot be written") in found.why
            context.database.try_to_write()
            assert not context.readiness().can_record
        context.database.try_to_write()
        assert context.readiness().can_record
        assert gate.scan(a_code(2), reader="another")["reason"] == "admitted"
        context.close()


class CardThatFails:
    """Makes the database refuse every write, as a card that turns read-only under a running gate does."""

    def __init__(self, gate: SimulatedGate) -> None:
        self.connection = gate.context.database.connection
        self.connection.execute("PRAGMA query_only = ON")

    def mend(self) -> None:
        self.connection.execute("PRAGMA query_only = OFF")


@pytest.fixture
def many_entries(world: World) -> Iterator[tuple[World, SimulatedGate]]:
    gate = world.gate("A")
    world.cut_network()
    for ticket in world.sell(3):
        gate.scan(ticket.code)
    world.mend_network()
    yield world, gate


def test_entries_reach_the_server_though_its_mark_cannot_be_stored(
    many_entries: tuple[World, SimulatedGate], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, gate = many_entries
    monkeypatch.setattr("gate_app.sync.push.MAX_ENTRIES", 1)
    card = CardThatFails(gate)
    sent = gate.unsent
    assert sent >= 3
    while gate.pusher.run_once():
        pass
    assert (gate.unsent, world.counts()) == (0, {"admitted": 3})
    gate.puller.mark_offline()  # as after any failed request; it must not end the thread
    card.mend()
    gate.switch_off()
    gate.switch_on()
    assert gate.unsent == sent, "the mark was in memory only"
    gate.sync()
    assert (gate.unsent, world.counts()) == (0, {"admitted": 3})


def test_entries_are_delivered_from_a_card_that_is_read_only_at_the_start(
    many_entries: tuple[World, SimulatedGate], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, gate = many_entries
    gate.lose_power()
    monkeypatch.setattr("gate_app.storage.database.os.access", lambda _path, _how: False)
    gate.boot_up()
    assert gate.context.database.cannot_write
    assert gate.reason(world.sell_one().code) == "cannot_record"
    asked: list[str] = []
    sent = gate.link.send

    def noting(request: HttpRequest) -> Any:
        asked.append(request.url.rpartition("/")[2])
        return sent(request)

    gate.link.send = noting  # type: ignore[method-assign]
    result = gate.sync()
    assert "nobody is let in" in result["error"]
    assert (result["unsent"], gate.unsent, world.counts()) == (0, 0, {"admitted": 3})
    assert set(asked) == {"journal"}, "nothing new could be stored, so nothing else is fetched"
