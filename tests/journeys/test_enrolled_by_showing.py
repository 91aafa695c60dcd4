"""From a bare machine to the first correct scan without network: nobody types anything but the server's address bar."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scripts.benchmarking.rows.sold_tickets import issue_tickets
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.processes.ports import free_port
from shared.wire.enrolment import parse
from tests.journeys.test_gate_commands_while_running import line, typed
from tests.journeys.test_gate_running import presentations
from tests.unit.hardware.images import code as drawn
from tests.unit.hardware.images import held_up, room

TIMEOUT_S = 30.0
CAMERA = """#!{python}
import sys, time
from pathlib import Path
try:
    while True:
        sys.stdout.buffer.write(Path({picture!r}).read_bytes())
        sys.stdout.buffer.flush()
        time.sleep(0.05)
except BrokenPipeError:
    sys.stderr.close()
"""
SETTINGS = """[[readers]]
kind = "camera"
source = "program:{camera}"
"""


@pytest.fixture
def server() -> Iterator[MeasuredServer]:
    with measured_server("sqlite") as filled:
        yield filled


class BareMachine:
    """A machine as scripts/install-gate leaves it: settings, a camera, and a service manager that starts the gate."""

    def __init__(self, folder: Path) -> None:
        self.home, self._picture, self.port = folder / "home", folder / "seen", free_port()
        self.home.mkdir()
        self.sees(None)
        camera = folder / "camera"
        camera.write_text(CAMERA.format(python=sys.executable, picture=str(self._picture)))
        camera.chmod(0o700)
        (self.home / "gate.toml").write_text(SETTINGS.format(camera=camera))
        self._manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._manager.bind(str(folder / "manager"))
        self._manager.setblocking(False)
        command = [sys.executable, "-m", "gate_app", "run", "--screen", str(self.port), "--home", str(self.home)]
        self.gate = subprocess.Popen(command, env=os.environ | {"NOTIFY_SOCKET": str(folder / "manager")})

    def sees(self, text: str | None) -> None:
        """What is held before the camera from now on."""
        picture = room(640, 480)
        if text is not None:
            picture = held_up(drawn(text, 4), picture, (40, 20))
        fresh = self._picture.with_suffix(".new")
        fresh.write_bytes(
            b"GHF1GREY" + (640).to_bytes(2) + (480).to_bytes(2) + picture.size.to_bytes(4) + picture.tobytes()
        )
        fresh.rename(self._picture)

    def says(self, words: str) -> str:
        """What the screen says, once these words are there."""
        pause, shown = threading.Event(), ""
        for _ in range(300):
            with (
                suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/view", timeout=TIMEOUT_S) as view,
            ):
                shown = json.load(view)["condition"]["why"]
                if words in shown:
                    return shown
            pause.wait(0.1)
        pytest.fail(f"the screen never said {words}, but {shown}")

    def until(self, reached: Callable[[dict[str, Any]], bool]) -> None:
        """Waits until the status beside the running gate is so."""
        pause = threading.Event()
        for _ in range(150):
            if reached(line(self.home, "status", "--json")):
                return
            pause.wait(0.1)
        pytest.fail("it never came so far")

    def told(self) -> list[bytes]:
        """What the service manager was told."""
        heard: list[bytes] = []
        with suppress(BlockingIOError):
            while True:
                heard.append(self._manager.recv(100))
        return heard

    def switched_off(self) -> int:
        self.gate.send_signal(signal.SIGTERM)
        ended = self.gate.wait(TIMEOUT_S)
        self._manager.close()
        return ended


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[BareMachine]:
    bare = BareMachine(tmp_path)
    yield bare
    bare.gate.kill()
    bare.gate.wait()


def shown_code(server: MeasuredServer) -> str:
    return parse(server.new_device("West lane")).shown(server.layout.address)


def check_number(server: MeasuredServer) -> str:
    """The six digits on the server's page of the code."""
    (device,) = [one for one in server.organiser.get("/api/devices")["items"] if one["name"] == "West lane"]
    return str(server.organiser.get(f"/api/devices/{device['id']}/enrolment")["check_number"])


def test_a_bare_machine_is_shown_a_code_and_then_scans_without_a_server(
    server: MeasuredServer, machine: BareMachine
) -> None:
    (ticket,) = issue_tickets(server, 1)
    running = server.serve()
    machine.says("not enrolled")
    machine.sees(shown_code(server))
    assert machine.says("the same number").endswith(check_number(server))
    machine.until(lambda status: bool(status["ready"]))
    running.stop()
    machine.sees(ticket)
    assert presentations(machine.home, 1) == ["admitted"]
    assert b"STOPPING=1" not in machine.told(), "a service manager would end it"
    assert machine.switched_off() == 0


def test_a_code_that_leads_nowhere_is_said_and_the_next_one_works(server: MeasuredServer, machine: BareMachine) -> None:
    running = server.serve()
    machine.says("not enrolled")
    code = parse(server.new_device("West lane"))
    machine.sees(code.shown(f"http://127.0.0.1:{free_port()}"))
    machine.says("does not answer")
    machine.sees(code.text)
    machine.says("does not say where its server is")
    machine.sees(code.shown(server.layout.address))
    machine.says(check_number(server) if machine.says("the same number") else "")
    running.stop()


def test_the_command_reaches_a_machine_that_waits_for_its_camera(server: MeasuredServer, machine: BareMachine) -> None:
    running = server.serve()
    machine.says("not enrolled")
    code = server.new_device("West lane")
    done = line(machine.home, "enrol", server.layout.address, code)
    assert machine.says("the same number").endswith(done["check"])
    again = typed(machine.home, "enrol", server.layout.address, server.new_device("Another"))
    assert (again.returncode, "enrolled already" in again.stderr) == (1, True)
    running.stop()
