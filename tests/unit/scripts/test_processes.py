"""Programs started by scripts and tests never outlive them, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.processes.child import Child, ProgramFailedError
from scripts.processes.ports import LOOPBACK, free_port, is_taken

FOREVER = ["sleep", "600"]
STUBBORN = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"]
PARENT = """
import sys
from pathlib import Path
from scripts.processes.child import Child
child = Child("sleeper", ["sh", "-c", "sleep 600 & echo $!; wait"], Path(sys.argv[1]))
child.start()
child.wait_until(lambda: child.output_tail() != "")
print("started", flush=True)
sys.stdin.read()
"""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def wait_for_end(pid: int) -> bool:
    for _ in range(500):
        if not is_alive(pid):
            return True
        time.sleep(0.02)
    return False


def a_child(folder: Path, command: list[str], *, stop_timeout: float = 10) -> Child:
    return Child("the program", command, folder / "output", stop_timeout=stop_timeout)


def test_a_program_can_be_stopped_and_started_again(tmp_path: Path) -> None:
    child = a_child(tmp_path, FOREVER)
    for _ in range(2):
        child.start()
        assert child.running
        assert is_alive(child.pid)
        child.stop()
        assert not child.running
        assert not is_alive(child.pid)


def test_a_program_that_ignores_the_stop_signal_is_killed(tmp_path: Path) -> None:
    child = a_child(tmp_path, STUBBORN, stop_timeout=0.1)
    child.start()
    child.wait_until(lambda: "ready" in child.output_tail())
    assert child.stop() == 128 + signal.SIGKILL


def test_the_children_of_a_killed_parent_end_too(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    output = tmp_path / "output"
    command = [sys.executable, "-c", PARENT, str(output)]
    with subprocess.Popen(
        command, cwd=pytestconfig.rootpath, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"
        grandchild = int(output.read_text())
        assert is_alive(grandchild)
        parent.kill()
    assert wait_for_end(grandchild)


def test_a_program_that_exits_while_starting_is_quoted(tmp_path: Path) -> None:
    child = a_child(tmp_path, ["sh", "-c", "echo the port is taken >&2; exit 3"])
    child.start()
    with pytest.raises(ProgramFailedError, match="the port is taken"):
        child.wait_until(lambda: False)


def test_a_program_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProgramFailedError, match="no-such-program"):
        a_child(tmp_path, ["no-such-program"]).start()


def test_a_port_in_use_is_taken(tmp_path: Path) -> None:
    port = free_port()
    assert not is_taken(port)
    server = a_child(tmp_path, [sys.executable, "-m", "http.server", str(port), "--bind", LOOPBACK])
    server.start()
    server.wait_until(lambda: is_taken(port))
    server.stop()
    assert not is_taken(port)
