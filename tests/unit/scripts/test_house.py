"""scripts/run says plainly what stands in its way, and leaves nothing behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.house.demo import EVENING_S, remember, remembered
from scripts.house.organiser import Organiser, RefusedError
from scripts.house.place import FolderTakenError, Place, PortTakenError
from scripts.house.programs import CommandFailedError, ask
from scripts.house.scanner import scan, wanted
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


def test_two_houses_never_share_a_folder_whatever_their_ports(tmp_path: Path) -> None:
    taken = pytest.raises(FolderTakenError, match="other ports do not help")
    with a_place(tmp_path).alone(), taken, a_place(tmp_path).alone():
        pass
    with a_place(tmp_path).alone():
        pass  # and it is free again


def test_a_folder_that_cannot_be_written_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderTakenError, match="cannot be written"), a_place(tmp_path / "file" / "var").alone():
        pass


def test_a_command_that_fails_is_told_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError, match="the disk is full"):
        ask(a_place(tmp_path), [sys.executable, "-c", "import sys; sys.exit('the disk is full')"])


def test_a_command_answers_with_its_lines_of_json(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print('{\"code\": \"' + sys.stdin.read() + '\"}'); print()"]
    assert ask(a_place(tmp_path), command, "MAY1") == [{"code": "MAY1"}]


def test_enter_scans_the_next_demo_ticket_and_a_pasted_code_itself() -> None:
    lines = ["", "", "MAY1PASTED", "", ""]
    assert list(wanted(lines, ["A", "B", "C"])) == ["A", "B", "MAY1PASTED", "C", "A"]


def test_a_code_reaches_a_gate_that_listens(tmp_path: Path) -> None:
    pipe = tmp_path / "scanner"
    os.mkfifo(pipe)
    listening = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    scan(pipe, "MAY1CODE")
    assert os.read(listening, 100) == b"MAY1CODE\n"
    os.close(listening)


def test_a_gate_that_does_not_listen_keeps_nobody_waiting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scan(tmp_path / "scanner", "MAY1CODE")
    assert "scanner is not there" in capsys.readouterr().out
    assert not (tmp_path / "scanner").exists()


def test_the_demo_is_remembered_for_its_evening_and_its_address_only(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    remember(place, {"tickets": []})
    assert remembered(place) is not None
    assert remembered(a_place(tmp_path, port=place.port + 1)) is None
    yesterday = time.time() - EVENING_S - 1
    os.utime(tmp_path / "demo.json", (yesterday, yesterday))
    assert remembered(place) is None


def test_nobody_else_may_read_the_remembered_password(tmp_path: Path) -> None:
    remember(a_place(tmp_path), {"login": {"password": "guess"}})
    assert (tmp_path / "demo.json").stat().st_mode & 0o077 == 0


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
