"""A real server process over real HTTP: what is open when it is told to end is ended, not torn."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port

ROOT = Path(__file__).parents[3]


def answers(port: int) -> bool:
    line = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
    try:
        line.request("GET", "/readyz")
        return line.getresponse().status == 200
    except OSError:
        return False
    finally:
        line.close()


def read(port: int, path: str) -> tuple[int, str]:
    line = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
    try:
        line.request("GET", path)
        answer = line.getresponse()
        return answer.status, answer.read().decode()
    finally:
        line.close()


def delivered(port: int) -> float:
    """How many facts the process that tells its measures there has delivered; -1 where nobody answers yet."""
    try:
        lines = read(port, "/metrics")[1].splitlines()
    except OSError:
        return -1
    return next(float(line.split()[-1]) for line in lines if line.startswith("gatehouse_outbox_delivered_total "))


def test_a_worker_that_is_alone_tells_what_it_has_delivered(tmp_path: Path) -> None:
    environment = {
        "GATEHOUSE_DATABASE_URL": f"sqlite:///{tmp_path}/gatehouse.db",
        "GATEHOUSE_MASTER_KEY_FILE": str(tmp_path / "master.key"),
        "GATEHOUSE_LOG_LEVEL": "error",
    }
    command = [sys.executable, "-m", "sync_server"]
    subprocess.run([*command, "demo"], cwd=ROOT, env=environment, capture_output=True, check=True)
    with socket.create_server((LOOPBACK, 0)) as another:
        taken = int(another.getsockname()[1])
        worker = Child(
            "the worker", [*command, "worker", "--metrics", f"{LOOPBACK}:{taken}"], tmp_path / "log", environment, ROOT
        )
        worker.start()
        try:
            worker.wait_until(lambda: "measures are at port" in (tmp_path / "log").read_text("utf-8"))
            told = re.search(r"at port (\d+)", (tmp_path / "log").read_text("utf-8"))
            port = int(told[1]) if told else 0
            assert port > taken, "another process has that port: it takes the next"
            worker.wait_until(lambda: delivered(port) > 0)
            assert read(port, "/healthz")[0] == 404, "it answers nothing else"
        finally:
            worker.stop()


def test_a_worker_that_can_tell_its_measures_nowhere_says_so(tmp_path: Path) -> None:
    environment = {"GATEHOUSE_DATABASE_URL": f"sqlite:///{tmp_path}/gatehouse.db"}
    nowhere = "192.0.2.1:9464"  # an address that no machine has
    told = subprocess.run(
        [sys.executable, "-m", "sync_server", "worker", "--metrics", nowhere],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, "Traceback" in told.stderr) == (2, False)
    assert "metrics_address" in told.stderr


def test_an_open_stream_is_ended_when_the_server_is_told_to_end(tmp_path: Path) -> None:
    port = free_port()
    environment = {
        "GATEHOUSE_DATABASE_URL": f"sqlite:///{tmp_path}/gatehouse.db",
        "GATEHOUSE_MASTER_KEY_FILE": str(tmp_path / "master.key"),
        "GATEHOUSE_LOG_LEVEL": "error",
    }
    command = [sys.executable, "-m", "sync_server"]
    made = subprocess.run(
        [*command, "demo", "--json"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    token = json.loads(made.stdout.splitlines()[0])["api_token"]
    server = Child("the server", [*command, "serve", "--port", str(port)], tmp_path / "log", environment, ROOT)
    server.start()
    try:
        server.wait_until(lambda: answers(port))
        line = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
        line.request("GET", "/api/live", headers={"Authorization": f"Bearer {token}"})
        stream = line.getresponse()
        first = b"".join(stream.readline() for _ in range(3))
        assert b"event: ready" in first
        server.stop()
        rest = stream.read()  # raises IncompleteRead where the line was torn
        assert b"event:" not in rest
    finally:
        server.stop()
