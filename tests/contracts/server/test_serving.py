"""Server and worker processes over real HTTP: metrics, and streams that end cleanly on shutdown."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from scripts.processes.streams_address import opened_stream
from tests.services.mortal_server import MortalServer

ROOT = Path(__file__).parents[3]


def is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def read(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def delivered(port: int) -> float:
    """The number of facts delivered, from the metrics at this port; -1 if nothing answers yet."""
    try:
        lines = read(port, "/metrics")[1].splitlines()
    except OSError:
        return -1
    return next(float(line.split()[-1]) for line in lines if line.startswith("gatehouse_outbox_delivered_total "))


def environment_of(demo: MortalServer) -> dict[str, str]:
    """For other programs on its database; it is closed here, as SQLite belongs to one process."""
    demo.runtime.close()
    return dict(demo.server.environment)


def test_a_standalone_worker_serves_metrics(sqlite_url: str, tmp_path: Path) -> None:
    environment = environment_of(MortalServer(sqlite_url, tmp_path))
    command = [sys.executable, "-m", "sync_server"]
    with socket.create_server((LOOPBACK, 0)) as listener:
        taken = int(listener.getsockname()[1])
        worker = Child(
            "the worker", [*command, "worker", "--metrics", f"{LOOPBACK}:{taken}"], tmp_path / "log", environment, ROOT
        )
        worker.start()
        try:
            worker.wait_until(lambda: "metrics are at port" in (tmp_path / "log").read_text("utf-8"))
            found = re.search(r"at port (\d+)", (tmp_path / "log").read_text("utf-8"))
            port = int(found[1]) if found else 0
            assert port > taken, "that port is in use, so it takes the next"
            worker.wait_until(lambda: delivered(port) > 0)
            assert read(port, "/healthz")[0] == 404, "it serves nothing else"
        finally:
            worker.stop()


def test_a_worker_reports_an_unusable_metrics_address(tmp_path: Path) -> None:
    environment = {"GATEHOUSE_DATABASE_URL": f"sqlite:///{tmp_path}/gatehouse.db"}
    nowhere = "192.0.2.1:9464"  # an address that no machine has
    done = subprocess.run(
        [sys.executable, "-m", "sync_server", "worker", "--metrics", nowhere],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "metrics_address" in done.stderr


def test_open_streams_end_when_the_server_stops(sqlite_url: str, tmp_path: Path) -> None:
    demo = MortalServer(sqlite_url, tmp_path)
    demo.runtime.close()
    demo.start()
    try:
        signed_in = {"Authorization": f"Bearer {demo.demo['api_token']}"}
        _, stream = opened_stream(f"{LOOPBACK}:{demo.port}", "/api/live", signed_in, 30)
        first = b"".join(stream.readline() for _ in range(3))
        assert b"event: ready" in first
        demo.server.stop()
        rest = stream.read()  # raises IncompleteRead if the connection was cut
        assert b"event:" not in rest
    finally:
        demo.close()


def test_streams_may_have_a_process_of_their_own(postgres_url: str, tmp_path: Path) -> None:
    port, streams_port = free_port(), free_port()
    demo = MortalServer(postgres_url, tmp_path, GATEHOUSE_STREAMS_URL=f"http://{LOOPBACK}:{streams_port}")
    environment, token = environment_of(demo), demo.demo["api_token"]
    command = [sys.executable, "-m", "sync_server"]
    programs = {
        "server": ["serve", "--port", str(port), "--processes", "1", "--streams", "off"],
        "streams": ["streams", f"{LOOPBACK}:{streams_port}"],
        "worker": ["worker"],
    }
    children = [
        Child(f"the {name}", [*command, *arguments], tmp_path / name, environment, ROOT)
        for name, arguments in programs.items()
    ]
    try:
        for child in children:
            child.start()
        children[0].wait_until(lambda: is_ready(port))
        children[1].wait_until(lambda: "Streams are at" in (tmp_path / "streams").read_text("utf-8"))
        signed_in = {"Authorization": f"Bearer {token}"}
        _, stream = opened_stream(f"{LOOPBACK}:{port}", "/api/live", signed_in, 60)
        while b"event: ready" not in stream.readline():
            pass
        writing = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
        venue = json.dumps({"name": "Quay", "timezone": "Europe/Berlin"})
        writing.request("POST", "/api/venues", venue, signed_in | {"Content-Type": "application/json"})
        created = json.loads(writing.getresponse().read())["id"].encode()
        while created not in stream.readline():  # the worker may still be at the demo's own facts
            pass
        assert children[1].stop() == 0
        assert b"event:" not in stream.read(), "it ended properly"
    finally:
        for child in children:
            child.stop()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_child_is_replaced(postgres_url: str, tmp_path: Path, processes: int) -> None:
    port = free_port()
    environment = {
        "GATEHOUSE_DATABASE_URL": postgres_url,
        "GATEHOUSE_MASTER_KEY_FILE": str(tmp_path / "master.key"),
        "GATEHOUSE_LOG_LEVEL": "error",
        "GATEHOUSE_METRICS_ADDRESS": "off",
    }
    (tmp_path / "master.key").write_text("11" * 32)
    command = [sys.executable, "-m", "sync_server"]
    serving = ["serve", "--port", str(port), "--processes", str(processes)]
    server = Child("the server", [*command, *serving], tmp_path / "log", environment, ROOT)
    server.start()
    try:
        server.wait_until(lambda: is_ready(port))
        before = children_of(server.pid)
        assert len(before) >= processes
        os.kill(max(before), signal.SIGKILL)
        server.wait_until(lambda: max(before) not in children_of(server.pid))
        server.wait_until(lambda: len(children_of(server.pid)) == len(before))
        server.wait_until(lambda: is_ready(port))
        assert server.running
    finally:
        server.stop()


def children_of(pid: int) -> set[int]:
    """The processes that this one has started, and that still run."""
    found = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return {child for child in found if Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"}
