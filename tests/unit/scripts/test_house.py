"""scripts/run says plainly what stands in its way, and leaves nothing behind."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.house.organiser import Organiser, RefusedError
from scripts.house.place import Place, PortTakenError
from scripts.house.programs import CommandFailedError, ask
from scripts.processes.ports import LOOPBACK, free_port


def a_place(folder: Path, *, port: int | None = None, gate_port: int | None = None) -> Place:
    return Place(folder, port or free_port(), gate_port or free_port())


@pytest.mark.parametrize(("taken", "option"), [("port", "--port"), ("gate_port", "--gate-port")])
def test_a_taken_port_is_refused_with_what_to_do(tmp_path: Path, taken: str, option: str) -> None:
    with socket.create_server((LOOPBACK, 0)) as somebody:
        number = somebody.getsockname()[1]
        with pytest.raises(PortTakenError, match=f"Port {number} .* {option} {number + 1}"):
            a_place(tmp_path, **{taken: number}).require_free_ports()


def test_two_free_ports_are_fine(tmp_path: Path) -> None:
    a_place(tmp_path).require_free_ports()


def test_a_command_that_fails_is_told_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError, match="the disk is full"):
        ask(a_place(tmp_path), [sys.executable, "-c", "import sys; sys.exit('the disk is full')"])


def test_a_command_answers_with_its_lines_of_json(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print('{\"code\": \"' + sys.stdin.read() + '\"}'); print()"]
    assert ask(a_place(tmp_path), command, "MAY1") == [{"code": "MAY1"}]


def test_a_server_that_is_no_gatehouse_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("a page")
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", LOOPBACK]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        wait_for(port)
        with pytest.raises(RefusedError, match="GET /nowhere: 404"):
            Organiser(f"http://{LOOPBACK}:{port}", "token").get("/nowhere")
        server.terminate()


def wait_for(port: int) -> None:
    while True:
        try:
            socket.create_connection((LOOPBACK, port)).close()
        except ConnectionRefusedError:
            continue
        return


def run(*arguments: str, root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.house", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("word", ["0", "65536", "eighty", "-1"])
def test_a_port_that_is_none_is_refused_in_one_line(pytestconfig: pytest.Config, word: str) -> None:
    done = run(f"--port={word}", root=pytestconfig.rootpath)
    assert done.returncode == 2
    assert "ports are numbers from 1 to 65535" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_ends_the_script_without_a_traceback(pytestconfig: pytest.Config) -> None:
    with socket.create_server((LOOPBACK, 0)) as somebody:
        done = run("--check", f"--port={somebody.getsockname()[1]}", root=pytestconfig.rootpath)
    assert done.returncode == 1
    assert "is in use" in done.stdout
    assert "Traceback" not in done.stderr
