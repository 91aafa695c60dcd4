"""A gate that starts on a full disk refuses every ticket with that reason, and recovers once there is space."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gate_builders import a_code
from tests.journeys.test_gate_killed import a_gate_of_tonight
from tests.journeys.test_gate_running import TIMEOUT_S, presentations, wait_for_line


@pytest.fixture
def home(tmp_path: Path) -> Path:
    gate = a_gate_of_tonight(tmp_path / "home", 5)
    gate.context.close()
    return gate.folder


def on_full_disk(*arguments: str, home: Path) -> list[str]:
    """The gate's command in a process that cannot write a byte to any file."""
    gate = [sys.executable, "-m", "gate_app", *arguments, "--home", str(home)]
    return ["sh", "-c", 'ulimit -S -f 0; exec "$@"', "sh", *gate]


def run_on_full_disk(*arguments: str, home: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        on_full_disk(*arguments, home=home),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def test_every_code_is_refused_with_a_reason(home: Path) -> None:
    result = run_on_full_disk("scan", "-", home=home, stdin=f"{a_code(1)}\nposter\n{a_code(2)}\n")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.returncode == 0
    assert [(line["verdict"], line["reason"], line["committed"]) for line in lines] == [
        ("deny", "cannot_record", False)
    ] * 3
    assert "Free some space" in result.stderr


def test_a_gate_without_a_database_refuses_with_the_same_reason(home: Path) -> None:
    (home / "gate.db").unlink()
    result = run_on_full_disk("scan", a_code(1), home=home)
    assert (result.returncode, json.loads(result.stdout)["reason"]) == (0, "cannot_record")


def test_read_only_commands_work(home: Path) -> None:
    status = run_on_full_disk("status", "--json", home=home)
    assert (status.returncode, json.loads(status.stdout)["enrolled"]) == (0, True)
    assert run_on_full_disk("journal", "--verify", home=home).returncode == 0


def view(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{address}view", timeout=TIMEOUT_S) as answer:  # noqa: S310 - our own screen
        shown: dict[str, Any] = json.load(answer)
    return shown


def test_a_running_gate_shows_it_and_recovers_by_itself(home: Path) -> None:
    command = on_full_disk("run", "--reader", "fake", "--screen", "0", home=home)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = wait_for_line(process, "The gate's screen").split()[-1]
            with (home / "scanner").open("w") as scanner:
                scanner.write(f"{a_code(1)}\n")
            shown = refusal(address)
            assert (shown["verdict"]["title"], shown["verdict"]["tone"]) == ("Gate cannot record", "fault")
            shown = shown_once(address, lambda view: view["condition"]["ready"] is False)  # updated every few seconds
            assert "Free some space" in shown["condition"]["why"]  # a kiosk shows no other warning
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            wait_for_line(process, "The gate's screen")
            with (home / "scanner").open("w") as scanner:
                scanner.write(f"{a_code(1)}\n")
            assert presentations(home, 1) == ["admitted"]
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT_S) == 0
        finally:
            process.kill()


def refusal(address: str) -> dict[str, Any]:
    return shown_once(address, lambda view: view["verdict"] is not None)


def shown_once(address: str, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first view for which the condition is true."""
    pause = threading.Event()
    for _ in range(int(TIMEOUT_S / 0.1)):
        shown = view(address)
        if condition(shown):
            return shown
        pause.wait(0.1)
    pytest.fail(f"the screen never showed it; it shows {shown}")
