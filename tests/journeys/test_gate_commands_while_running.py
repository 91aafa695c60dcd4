"""The commands of supervisors reach the gate that is running: nobody stops a gate to open its doors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gate_builders import PIN, a_code
from tests.journeys.test_gate_killed import a_gate_of_tonight
from tests.journeys.test_gate_running import presentations, wait_for_line

TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gate = a_gate_of_tonight(tmp_path_factory.mktemp("running") / "home", 5)
    gate.context.close()
    return gate.folder


@pytest.fixture(scope="module")
def running(home: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "gate_app", "run", "--reader", "fake", "--screen", "0", "--home", str(home)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for_line(process, "The gate's screen")
        yield process
        process.terminate()
        assert process.wait(TIMEOUT_S) == 0
        assert not (home / "control.json").exists()


def typed(home: Path, *arguments: str, stdin: str = f"{PIN}\n") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gate_app", *arguments, "--home", str(home)]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=TIMEOUT_S, check=False)


def line(home: Path, *arguments: str) -> dict[str, Any]:
    done = typed(home, *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return answer


@pytest.mark.usefixtures("running")
def test_a_supervisor_acts_on_the_running_gate(home: Path) -> None:
    with (home / "scanner").open("w") as scanner:
        scanner.write(f"{a_code(1)}\n")
    assert presentations(home, 1) == ["admitted"]
    found = line(home, "find", "C 1")
    assert (found["number"], found["row"], found["seat"]) == ("NIGHT-000001", "C", "1")
    assert line(home, "doors", "open")["details"]["opened"] is True
    assert line(home, "train", "on")["details"] == {"training": True}
    with (home / "scanner").open("w") as scanner:
        scanner.write(f"{a_code(2)}\n")
    assert presentations(home, 2) == ["admitted", "test_ok"]
    assert line(home, "train", "off")["details"] == {"training": False}
    seq = json.loads(typed(home, "annul", "--json").stdout)["seq"]
    assert line(home, "annul", str(seq), "--reason", "turned round")["kind"] == "annulment"


@pytest.mark.usefixtures("running")
def test_a_wrong_pin_and_an_unknown_gate_are_one_line(home: Path) -> None:
    for arguments, stdin, said, status in (
        (("doors", "open"), "000000\n", "The PIN is wrong", 1),
        (("stand", "Z"), f"{PIN}\n", "There is no gate Z", 1),
        (("annul", "999"), f"{PIN}\n", "not an admission", 1),
        (("empty-house", "--event", "99"), f"{PIN}\n", "Name the event", 2),
        (("screens", "--remove", "lost"), "", "There is no screen lost", 1),
        (("party",), "", "This list is over", 1),
    ):
        done = typed(home, *arguments, stdin=stdin)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (status, "", 1), done.stderr
        assert said in done.stderr


@pytest.mark.usefixtures("running")
def test_a_link_for_a_stewards_telephone_is_printed_with_its_code(home: Path) -> None:
    done = typed(home, "pair", "steward")
    assert json.loads(done.stdout)["link"].startswith("http://127.0.0.1:")
    assert "█" in done.stderr
    assert [json.loads(one)["role"] for one in typed(home, "screens").stdout.splitlines()] == []


@pytest.mark.usefixtures("running")
def test_nobody_else_on_the_machine_commands_the_gate(home: Path) -> None:
    assert (home / "control.json").stat().st_mode & 0o077 == 0
    told = json.loads((home / "control.json").read_text())
    kept = (home / "control.json").read_text()
    (home / "control.json").write_text(json.dumps({**told, "token": "0" * 48}))
    done = typed(home, "find", "C 1")
    (home / "control.json").write_text(kept)
    assert (done.returncode, done.stdout) == (1, "")


def test_where_no_gate_is_running_a_screen_cannot_be_paired(tmp_path: Path) -> None:
    gate = a_gate_of_tonight(tmp_path / "home", 1)
    gate.context.close()
    done = typed(gate.folder, "pair", "steward")
    assert (done.returncode, "Start it with" in done.stderr, len(done.stderr.splitlines())) == (1, True, 1)
