"""A gate as a service: it reports to systemd, keeps the time, and holds updates back while an event is near."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from gate_app.gate_context import HostEnvironment
from gate_app.installation.home import Home
from gate_app.running.service_watch import ALIVE, READY, ServiceWatch
from gate_app.updates import reason_to_wait
from tests.architecture.tree import ROOT
from tests.gate_builders import HOUR, GateAtHome, a_gate, an_event, chance, the_house

TIME_FLOOR = ROOT / "deploy" / "gate" / "time-floor"


@pytest.mark.parametrize("name", ["notify", "@gatehouse-test"])
def test_a_service_manager_hears_of_it(tmp_path: Path, name: str) -> None:
    address = name if name.startswith("@") else str(tmp_path / name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        watch = ServiceWatch({"NOTIFY_SOCKET": address})
        watch.tell(READY)
        watch.tell(ALIVE)
        assert [manager.recv(100), manager.recv(100)] == [b"READY=1", b"WATCHDOG=1"]


def test_without_a_service_manager_nothing_happens(tmp_path: Path) -> None:
    ServiceWatch({}).tell(READY)
    ServiceWatch({"NOTIFY_SOCKET": str(tmp_path / "gone")}).tell(READY)


@pytest.mark.parametrize(
    ("hours", "waits"), [(-25, False), (-23, True), (0, True), (11, True), (13, False)], ids=lambda given: str(given)
)
def test_the_system_is_not_updated_while_an_event_is_near(tmp_path: Path, hours: int, waits: bool) -> None:
    gate = a_gate(tmp_path / "home")
    gate.hands.pass_ms(an_event().starts_at + hours * HOUR - gate.hands.true)
    reason = reason_to_wait(Home(gate.folder), environment(gate))
    gate.context.close()
    assert bool(reason) is waits
    assert ("Night Music" in reason) is waits


def test_an_event_that_was_cancelled_keeps_nobody_waiting(tmp_path: Path) -> None:
    gate = a_gate(tmp_path / "home", the_house(event=an_event(status="cancelled")))
    assert reason_to_wait(Home(gate.folder), environment(gate)) == ""
    gate.context.close()


def environment(gate: GateAtHome) -> HostEnvironment:
    return HostEnvironment(gate.hands.wall, gate.hands.monotonic, chance(), gate.boot, "test")


def time_floor(*arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Runs it with a `date` that says 1,000,000 and writes down what it is set to."""
    date = path / "date"
    date.write_text(f'#!/bin/sh\n[ "$1" = +%s ] && echo 1000000 || echo "$1" >>{path}/set\n')
    date.chmod(0o755)
    environment = os.environ | {"PATH": f"{path}:{os.environ['PATH']}"}
    return subprocess.run([TIME_FLOOR, *arguments], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("kept", "set_to"), [(1_500_000, "--set=@1500000\n"), (900_000, ""), (None, "")])
def test_a_clock_that_lost_its_time_starts_where_it_was(tmp_path: Path, kept: int | None, set_to: str) -> None:
    clock, changed = tmp_path / "clock", tmp_path / "set"
    if kept is not None:
        clock.touch()
        os.utime(clock, (kept, kept))
    assert time_floor("raise", str(clock), path=tmp_path).returncode == 0
    assert (changed.read_text() if changed.exists() else "") == set_to


def test_a_clock_that_was_set_back_does_not_take_the_floor_with_it(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    clock.touch()
    os.utime(clock, (1_500_000, 1_500_000))
    assert time_floor("keep", str(clock), path=tmp_path).returncode == 0
    assert clock.stat().st_mtime == 1_500_000
    os.utime(clock, (900_000, 900_000))
    assert time_floor("keep", str(clock), path=tmp_path).returncode == 0
    assert clock.stat().st_mtime > 1_500_000


@pytest.mark.parametrize("arguments", [(), ("keep",), ("lower", "clock")])
def test_wrong_arguments_of_the_time_floor_are_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = time_floor(*arguments, path=tmp_path)
    assert (done.returncode, done.stderr) == (2, "usage: time-floor keep|raise FILE\n")
