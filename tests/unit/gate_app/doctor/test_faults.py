"""The doctor finds the usual faults of a gate: each is made for real, and told by its name and with a remedy."""

from __future__ import annotations

import os
import socket
import sqlite3
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import monotonic_ns

import pytest
from msgspec import structs

from gate_app.doctor.examination import findings
from gate_app.doctor.finding import Finding
from gate_app.gate_context import REVOKED, HostEnvironment
from gate_app.installation.home import Home
from gate_app.installation.identity import keep, load
from hardware.machine import MachineState, machine_state
from tests.gate_builders import HOUR, GateAtHome, a_code, a_gate, chance, the_house
from tests.journeys.unwritable_disks import full, small_disk
from tests.services.certificates import own_certificate
from tests.unit.hardware.test_camera import film, shade


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[GateAtHome]:
    """An enrolled gate with tickets that heard the server's time a moment ago."""
    found = a_gate(tmp_path / "home")
    found.context.time.hear(found.hands.true, found.hands.up, found.hands.up)
    yield found
    found.context.close()


def host_of(gate: GateAtHome) -> HostEnvironment:
    return HostEnvironment(gate.hands.wall, gate.hands.monotonic, chance(), gate.boot, "test")


def no_news() -> MachineState:
    return MachineState()


def found(
    gate: GateAtHome, part: str, *, look: Callable[[], MachineState] = no_news, host: HostEnvironment | None = None
) -> Finding:
    home = Home(gate.folder)
    return next(each for each in findings(home, host or host_of(gate), look) if each.part == part)


def settings(gate: GateAtHome, text: str) -> None:
    Home(gate.folder).settings.write_text(text)


def moved(gate: GateAtHome, server: str) -> None:
    """The gate as if enrolled at this address."""
    identity = load(Home(gate.folder).identity)
    assert identity is not None
    keep(Home(gate.folder).identity, structs.replace(identity, server=server))


# -- enrolment and tickets -------------------------------------------------------------------------------------------


def test_a_machine_that_was_never_enrolled(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").ready()
    gate = GateAtHome(home.folder)
    assert found(gate, "enrolment").code == "not_enrolled"
    assert found(gate, "tickets").code == "no_tickets"
    gate.context.close()


def test_a_device_that_was_revoked(gate: GateAtHome) -> None:
    assert found(gate, "enrolment").ok
    gate.context.database.put(REVOKED, "This device was revoked by the organiser")
    told = found(gate, "enrolment")
    assert (told.code, "revoked by the organiser. Ask" in told.message) == ("revoked", True)


def test_a_device_at_no_gate(tmp_path: Path) -> None:
    gate = a_gate(tmp_path / "home", [row for row in the_house() if type(row).__name__ != "GateRow"])
    assert found(gate, "ready").code == "no_gate"
    gate.context.close()


def test_tickets_that_the_server_has_not_confirmed_for_long(gate: GateAtHome) -> None:
    assert found(gate, "tickets").ok
    gate.hands.pass_ms(HOUR)
    told = found(gate, "tickets")
    assert (told.code, "confirmed 60 min ago" in told.message) == ("tickets_old", True)


# -- clock -----------------------------------------------------------------------------------------------------------


def test_a_clock_that_was_never_set(tmp_path: Path) -> None:
    gate = a_gate(tmp_path / "home")
    assert found(gate, "clock").code == "clock_never_set"
    gate.context.close()


def test_a_clock_that_is_wrong(gate: GateAtHome) -> None:
    assert found(gate, "clock").ok
    gate.hands.wall_error = -5 * HOUR
    told = found(gate, "clock")
    assert (told.code, "18000 s behind" in told.message) == ("clock_wrong", True)


# -- the machine -----------------------------------------------------------------------------------------------------


def test_a_disk_that_is_full_or_cannot_be_written(tmp_path: Path) -> None:
    with small_disk(tmp_path / "card") as mounted:
        if not mounted:
            pytest.skip("no disk can be mounted here")
        gate = a_gate(tmp_path / "card" / "home")
        gate.context.close()
        with full(tmp_path / "card", mounted):
            assert found(gate, "disk").code == "disk_full"
        assert found(gate, "disk").code in {"", "disk_low"}
        subprocess.run(["mount", "-o", "remount,ro", tmp_path / "card"], check=True)
        assert found(gate, "disk").code == "disk_read_only"


def test_a_card_that_takes_long_to_store(gate: GateAtHome) -> None:
    assert found(gate, "disk").ok
    steps = iter(range(0, 1_000_000_000_000, 400_000_000))
    slow = replace(host_of(gate), monotonic=lambda: next(steps))
    told = found(gate, "disk", host=slow)
    assert (told.code, "takes 400 ms" in told.message) == ("disk_slow", True)
    assert not list(gate.folder.glob(".doctor*")), "the trial leaves nothing behind"


@pytest.mark.parametrize(
    ("machine", "part", "code"),
    [
        (("throttled=0x50001", 50), "power", "under_voltage"),
        (("throttled=0x0", 50), "power", ""),
        (("throttled=0x4", 70), "temperature", "overheated"),
        (("throttled=0x0", 84), "temperature", "overheated"),
        (("throttled=0x0", 50), "temperature", ""),
    ],
)
def test_weak_power_and_heat(gate: GateAtHome, tmp_path: Path, machine: tuple[str, int], part: str, code: str) -> None:
    throttled, celsius = machine
    zone = tmp_path / "sys/class/thermal/thermal_zone0"
    zone.mkdir(parents=True)
    (zone / "temp").write_text(f"{celsius}000\n")
    assert found(gate, part, look=lambda: machine_state(tmp_path, lambda: throttled)).code == code


def test_a_port_that_another_program_has(gate: GateAtHome) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        settings(gate, f"screen_port = {other.getsockname()[1]}")
        told = found(gate, "screen")
    assert (told.code, f"process {os.getpid()}" in told.message) == ("port_taken", True)
    assert found(gate, "screen").ok, "it is free again"


def test_a_screen_that_does_not_answer(gate: GateAtHome) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        settings(gate, f"screen_port = {free.getsockname()[1]}")
        with Home(gate.folder).held("run"):
            assert found(gate, "screen").code == "screen_not_reachable"


# -- devices ---------------------------------------------------------------------------------------------------------


def reader(kind: str, source: str) -> str:
    return f'[[readers]]\nkind = "{kind}"\nsource = "{source}"\n'


@pytest.fixture
def pty() -> Iterator[tuple[int, str]]:
    """A device file that is neither a camera nor in use by anybody else."""
    controller, device = os.openpty()
    try:
        yield device, os.ttyname(device)
    finally:
        os.close(controller)
        os.close(device)


@pytest.mark.parametrize(("kind", "code"), [("camera", "camera_missing"), ("serial", "scanner_missing")])
def test_a_device_that_is_missing(gate: GateAtHome, kind: str, code: str) -> None:
    settings(gate, reader(kind, "/dev/nothing-plugged-in"))
    assert found(gate, "scanner").code == code


@pytest.mark.parametrize(("kind", "code"), [("camera", "camera_no_permission"), ("serial", "scanner_no_permission")])
def test_a_device_that_this_user_may_not_use(gate: GateAtHome, pty: tuple[int, str], kind: str, code: str) -> None:
    settings(gate, reader(kind, pty[1]))
    Path(pty[1]).chmod(0o000)
    with as_somebody_else(gate.folder):
        told = found(gate, "scanner")
    assert (told.code, "usermod" in told.message) == (code, True)


@contextmanager
def as_somebody_else(folder: Path) -> Iterator[None]:
    """Root may do everything, so it steps down for a moment; the folder is opened for that long."""
    if os.geteuid() != 0:
        yield
        return
    opened = [path for path in (*folder.parents, folder, *folder.rglob("*")) if path.stat().st_mode & 0o5 != 0o5]
    before = {path: path.stat().st_mode for path in opened}
    for path, mode in before.items():
        path.chmod(mode | (0o055 if path.is_dir() else 0o044))
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        for path, mode in before.items():
            path.chmod(mode)


@pytest.mark.parametrize(("kind", "code"), [("camera", "camera_busy"), ("serial", "scanner_busy")])
def test_a_device_that_another_program_uses(gate: GateAtHome, pty: tuple[int, str], kind: str, code: str) -> None:
    settings(gate, reader(kind, pty[1]))
    with subprocess.Popen(["sleep", "60"], stdin=pty[0]) as other:
        try:
            told = found(gate, "scanner")
        finally:
            other.kill()
    assert (told.code, f"sleep (process {other.pid})" in told.message) == (code, True)


def test_a_camera_that_sees_nothing(gate: GateAtHome, tmp_path: Path) -> None:
    settings(gate, reader("camera", str(film(tmp_path / "cap.avi", [shade(4)] * 3))))
    with_time = replace(host_of(gate), monotonic=monotonic_ns)
    assert found(gate, "scanner", host=with_time).code == "camera_dark"
    settings(gate, reader("camera", str(film(tmp_path / "day.avi", [shade(120)] * 3))))
    assert found(gate, "scanner", host=with_time).ok


def test_a_machine_that_cannot_make_a_sound(gate: GateAtHome, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings(gate, 'indicators = ["sound"]')
    monkeypatch.setenv("PATH", str(tmp_path))
    told = found(gate, "sound")
    assert (told.code, "alsa-utils" in told.message) == ("sound_fails", True)


# -- journal ---------------------------------------------------------------------------------------------------------


def test_a_journal_that_is_damaged(gate: GateAtHome) -> None:
    for number in (1, 2, 3):
        gate.scan(a_code(number))
    assert found(gate, "journal").ok
    with closing(sqlite3.connect(gate.folder / "gate.db")) as connection, connection:
        connection.execute("UPDATE journal SET body = x'c1' WHERE place = (SELECT max(place) - 1 FROM journal)")
    assert found(gate, "journal").code == "journal_damaged"


def test_entries_that_wait_for_long(gate: GateAtHome) -> None:
    gate.scan(a_code(1))
    assert found(gate, "unsent").ok, "they were recorded a moment ago"
    gate.hands.pass_ms(HOUR)
    told = found(gate, "unsent")
    assert (told.code, "the oldest for 60 min" in told.message) == ("unsent_old", True)


# -- network ---------------------------------------------------------------------------------------------------------


@contextmanager
def answering(status: int, body: bytes, safely: ssl.SSLContext | None = None) -> Iterator[str]:
    """Something that answers every request alike."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Location", "http://login.example/")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    if safely:
        server.socket = safely.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"{'https' if safely else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (200, b'{"status":"ok"}', ""),
        (302, b"", "captive_portal"),
        (200, b"<title>Welcome to our hotel</title>", "captive_portal"),
        (403, b"no", "refused"),
        (502, b"down", "server_trouble"),
    ],
)
def test_what_answers_for_the_server(gate: GateAtHome, status: int, body: bytes, code: str) -> None:
    with answering(status, body) as address:
        moved(gate, address)
        assert found(gate, "network").code == code


def test_a_network_that_is_down(gate: GateAtHome) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        moved(gate, f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert found(gate, "network").code == "network_down"


def test_a_name_that_nobody_resolves(gate: GateAtHome) -> None:
    moved(gate, "https://tickets.invalid")
    told = found(gate, "network")
    assert (told.code, "tickets.invalid cannot be resolved" in told.message) == ("dns", True)


def test_a_certificate_that_nobody_vouches_for(gate: GateAtHome, tmp_path: Path) -> None:
    certificate, context = own_certificate(tmp_path, "server")
    with answering(200, b'{"status":"ok"}', context) as address:
        moved(gate, address)
        told = found(gate, "network")
        assert (told.code, "ca_file" in told.message) == ("tls", True)
        settings(gate, f'ca_file = "{certificate}"')
        assert found(gate, "network").ok
