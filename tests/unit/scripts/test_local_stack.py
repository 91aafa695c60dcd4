"""scripts/run explains what stops it from starting, and leaves nothing behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.local_stack.demo import DEMO_LIFETIME_S, load_demo, print_demo, save_demo
from scripts.local_stack.layout import FolderTakenError, PortTakenError, StackLayout
from scripts.local_stack.organiser import Organiser, RefusedError
from scripts.local_stack.programs import CommandFailedError, run_command
from scripts.local_stack.scanner import codes_to_scan, scan
from scripts.processes.ports import LOOPBACK, free_port


def a_layout(folder: Path, *, port: int | None = None, gate_port: int | None = None) -> StackLayout:
    return StackLayout(folder, port or free_port(), gate_port or free_port())


@pytest.mark.parametrize(("taken", "option"), [("port", "--port"), ("gate_port", "--gate-port")])
def test_a_taken_port_is_refused_with_what_to_do(tmp_path: Path, taken: str, option: str) -> None:
    with socket.create_server((LOOPBACK, 0)) as somebody:
        number = somebody.getsockname()[1]
        with pytest.raises(PortTakenError, match=f"Port {number} .* {option} {number + 1}"):
            a_layout(tmp_path, **{taken: number}).require_free_ports()


@pytest.mark.parametrize("further", [0, 1])
def test_the_gate_does_not_get_a_port_that_the_server_takes(tmp_path: Path, further: int) -> None:
    layout = a_layout(tmp_path, port=8765, gate_port=8765 + further)
    with pytest.raises(PortTakenError, match=r"takes the ports 8765 and 8766.* --gate-port 8767"):
        layout.require_free_ports()


def test_two_free_ports_are_fine(tmp_path: Path) -> None:
    a_layout(tmp_path).require_free_ports()


def test_two_stacks_never_share_a_folder_whatever_their_ports(tmp_path: Path) -> None:
    taken = pytest.raises(FolderTakenError, match="other ports do not help")
    with a_layout(tmp_path).locked(), taken, a_layout(tmp_path).locked():
        pass
    with a_layout(tmp_path).locked():
        pass  # the lock was released


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderTakenError, match="is not writable"), a_layout(tmp_path / "file" / "var").locked():
        pass


def test_a_failed_command_is_reported_with_its_own_message(tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError, match="the disk is full"):
        run_command(a_layout(tmp_path), [sys.executable, "-c", "import sys; sys.exit('the disk is full')"])


def test_a_command_returns_its_lines_of_json(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print('{\"code\": \"' + sys.stdin.read() + '\"}'); print()"]
    assert run_command(a_layout(tmp_path), command, "MAY1") == [{"code": "MAY1"}]


def test_enter_scans_the_next_demo_ticket_and_a_pasted_code_is_scanned_itself() -> None:
    lines = ["", "", "MAY1PASTED", "", ""]
    assert list(codes_to_scan(lines, ["A", "B", "C"])) == ["A", "B", "MAY1PASTED", "C", "A"]


def test_a_code_reaches_a_listening_gate(tmp_path: Path) -> None:
    pipe = tmp_path / "scanner"
    os.mkfifo(pipe)
    listening = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    scan(pipe, "MAY1CODE")
    assert os.read(listening, 100) == b"MAY1CODE\n"
    os.close(listening)


def test_a_gate_that_does_not_listen_blocks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scan(tmp_path / "scanner", "MAY1CODE")
    assert "scanner is not available" in capsys.readouterr().out
    assert not (tmp_path / "scanner").exists()


def test_a_saved_demo_is_loaded_only_while_recent_and_at_its_address(tmp_path: Path) -> None:
    layout = a_layout(tmp_path)
    save_demo(layout, {"tickets": []})
    assert load_demo(layout) is not None
    assert load_demo(a_layout(tmp_path, port=layout.port + 1)) is None
    yesterday = time.time() - DEMO_LIFETIME_S - 1
    os.utime(tmp_path / "demo.json", (yesterday, yesterday))
    assert load_demo(layout) is None


def test_nobody_else_may_read_the_saved_password(tmp_path: Path) -> None:
    save_demo(a_layout(tmp_path), {"login": {"password": "guess"}})
    assert (tmp_path / "demo.json").stat().st_mode & 0o077 == 0


def test_a_server_that_is_not_gatehouse_is_quoted(tmp_path: Path) -> None:
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
    command = [sys.executable, "-m", "scripts.local_stack", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("port", ["0", "65536", "eighty", "-1"])
def test_an_invalid_port_is_refused_in_one_line(pytestconfig: pytest.Config, port: str) -> None:
    done = run(f"--port={port}", root=pytestconfig.rootpath)
    assert done.returncode == 2
    assert "ports are numbers from 1 to 65535" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_ends_the_script_without_a_traceback(pytestconfig: pytest.Config) -> None:
    with socket.create_server((LOOPBACK, 0)) as somebody:
        done = run("--check", f"--port={somebody.getsockname()[1]}", root=pytestconfig.rootpath)
    assert done.returncode == 1
    assert "is already in use" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_demo_says_where_its_shop_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout = a_layout(tmp_path)
    login, supervisor = {"email": "owner@demo.example", "password": "secret"}, {"number": 1, "pin": "123456"}
    organisation = {"id": "1", "slug": "marquee"}
    print_demo(
        layout, {"organisation": organisation, "login": login, "supervisor": supervisor, "api_token": "ght_demo"}
    )
    assert f"{layout.address}/o/marquee" in capsys.readouterr().out
