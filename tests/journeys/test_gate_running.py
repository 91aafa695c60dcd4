"""The gate as a running program, fed through its simulated scanner and stopped by a signal."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from scripts.processes.ports import free_port
from tests.gate_builders import a_code
from tests.journeys.test_gate_killed import a_gate_of_tonight

TIMEOUT_S = 30.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    gate = a_gate_of_tonight(tmp_path / "home", 5)
    gate.context.close()
    return gate.folder


@pytest.fixture
def running(home: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "gate_app", "run", "--reader", "fake", "--screen", "0", "--home", str(home)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def wait_for_line(process: subprocess.Popen[str], text: str) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return line
    pytest.fail(f"the gate never printed: {text}")


def journal(home: Path) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "gate_app", "journal", "--json", "--home", str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def presentations(home: Path, wanted: int) -> list[str]:
    pause = threading.Event()
    for _ in range(60):
        reasons = [line["reason"] for line in journal(home) if line["kind"] == "presentation"]
        if len(reasons) >= wanted:
            return reasons
        pause.wait(0.2)
    pytest.fail("the scans were never recorded")


def test_it_scans_shows_its_screen_and_stops_on_sigterm(home: Path, running: subprocess.Popen[str]) -> None:
    address = wait_for_line(running, "The gate's screen").split()[-1]
    with urllib.request.urlopen(address, timeout=TIMEOUT_S) as page:  # noqa: S310 - our own screen
        assert page.status == 200
    with (home / "scanner").open("w") as scanner:
        scanner.write(f"{a_code(1)}\n{a_code(2)}\nposter\n")
    assert presentations(home, 3) == ["admitted", "admitted", "unreadable"]
    refused = subprocess.run(
        [sys.executable, "-m", "gate_app", "scan", "X", "--home", str(home)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (refused.returncode, f"process {running.pid}".casefold() in refused.stderr.casefold()) == (1, True)
    running.send_signal(signal.SIGTERM)
    assert running.wait(TIMEOUT_S) == 0
    assert not (home / "scanner").exists()


def test_a_missing_reader_is_reported_and_nothing_starts(home: Path) -> None:
    command = [sys.executable, "-m", "gate_app", "run", "--reader", "serial", "--headless", "--home", str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "serial" in done.stderr


def what_the_screen_says(port: int) -> tuple[bool, str]:
    """Whether the gate on this port is ready, and why not; waits until its screen is served."""
    pause = threading.Event()
    for _ in range(300):
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/view", timeout=TIMEOUT_S) as view:
            condition = json.load(view)["condition"]
            return condition["ready"], condition["why"]
        pause.wait(0.1)
    pytest.fail("the screen was never served")


def test_a_service_says_on_its_screen_what_is_missing_and_works_once_it_is_plugged_in(
    home: Path, tmp_path: Path
) -> None:
    camera, manager_at, port = tmp_path / "camera", tmp_path / "manager", free_port()
    (home / "gate.toml").write_text(f'[[readers]]\nkind = "camera"\nname = "lane"\nsource = "program:{camera}"\n')
    command = [sys.executable, "-m", "gate_app", "run", "--screen", str(port), "--home", str(home)]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, ExitStack() as cleanup:
        manager.bind(str(manager_at))
        manager.settimeout(TIMEOUT_S)
        service = subprocess.Popen(command, env=os.environ | {"NOTIFY_SOCKET": str(manager_at)})
        cleanup.callback(service.wait, TIMEOUT_S)
        cleanup.callback(service.terminate)
        pause, said = threading.Event(), (False, "")
        while "There is no camera" not in said[1]:
            assert service.poll() is None, "it went away instead of waiting"
            said = what_the_screen_says(port)
            assert not said[0]
            pause.wait(0.05)
        camera.write_text("#!/bin/sh\nexec sleep 600\n")
        camera.chmod(0o700)
        assert manager.recv(100) == b"READY=1"
        assert what_the_screen_says(port) == (True, "")


def test_a_service_that_waits_for_a_reader_ends_when_it_is_told_to(home: Path) -> None:
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "gate_app",
        "run",
        "--reader",
        "camera",
        "--screen",
        str(port),
        "--home",
        str(home),
    ]
    service = subprocess.Popen(command, env=os.environ | {"NOTIFY_SOCKET": str(home / "nobody")})
    what_the_screen_says(port)
    service.terminate()
    assert service.wait(TIMEOUT_S) == 0
