"""A real server process over real HTTP: what is open when it is told to end is ended, not torn."""

from __future__ import annotations

import http.client
import json
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
