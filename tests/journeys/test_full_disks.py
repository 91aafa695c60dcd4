"""A gate that starts on a disk without any room left says so to every guest, and works again once there is room."""

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
from tests.journeys.test_gate_killed import a_home_of_tonight
from tests.journeys.test_gate_running import PATIENCE_S, presentations, told


@pytest.fixture
def home(tmp_path: Path) -> Path:
    gate = a_home_of_tonight(tmp_path / "home", 5)
    gate.lodge.close()
    return gate.folder


def without_room(*words: str, home: Path) -> list[str]:
    """The gate's command, in a process of which not a byte more fits into any file."""
    gate = [sys.executable, "-m", "gate_app", *words, "--home", str(home)]
    return ["sh", "-c", 'ulimit -S -f 0; exec "$@"', "sh", *gate]


def type_on_a_full_disk(*words: str, home: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        without_room(*words, home=home),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def test_every_code_is_refused_in_words_and_none_is_swallowed(home: Path) -> None:
    said = type_on_a_full_disk("scan", "-", home=home, stdin=f"{a_code(1)}\nposter\n{a_code(2)}\n")
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    assert said.returncode == 0
    assert [(line["verdict"], line["reason"], line["committed"]) for line in lines] == [
        ("deny", "cannot_record", False)
    ] * 3
    assert "Free some space" in said.stderr


def test_a_gate_whose_memory_was_never_made_says_the_same(home: Path) -> None:
    (home / "gate.db").unlink()
    said = type_on_a_full_disk("scan", a_code(1), home=home)
    assert (said.returncode, json.loads(said.stdout)["reason"]) == (0, "cannot_record")


def test_whoever_only_looks_is_answered(home: Path) -> None:
    status = type_on_a_full_disk("status", "--json", home=home)
    assert (status.returncode, json.loads(status.stdout)["enrolled"]) == (0, True)
    assert type_on_a_full_disk("journal", "--verify", home=home).returncode == 0


def view(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{address}view", timeout=PATIENCE_S) as answer:  # noqa: S310 - our own screen
        shown: dict[str, Any] = json.load(answer)
    return shown


def test_a_gate_at_work_shows_it_and_opens_by_itself_when_there_is_room_again(home: Path) -> None:
    command = without_room("run", "--reader", "fake", "--screen", "0", home=home)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = told(process, "The gate's screen").split()[-1]
            with (home / "scanner").open("w") as scanner:
                scanner.write(f"{a_code(1)}\n")
            shown = refusal(address)
            assert (shown["verdict"]["title"], shown["verdict"]["tone"]) == ("Gate cannot record", "fault")
            shown = shown_once(address, lambda view: view["condition"]["ready"] is False)  # told every few seconds
            assert any("Free some space" in words for words in shown["condition"]["warnings"])
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            told(process, "The gate's screen")
            with (home / "scanner").open("w") as scanner:
                scanner.write(f"{a_code(1)}\n")
            assert presentations(home, 1) == ["admitted"]
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()


def refusal(address: str) -> dict[str, Any]:
    return shown_once(address, lambda view: view["verdict"] is not None)


def shown_once(address: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first view of which that is true."""
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.1)):
        shown = view(address)
        if wanted(shown):
            return shown
        pause.wait(0.1)
    pytest.fail(f"the screen never came to show it; it shows {shown}")
