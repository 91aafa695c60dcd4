"""The demo event behind a real server process, for tests that kill it."""

from __future__ import annotations

import http.client
import json
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import text

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from sync_server.commands import demo
from sync_server.config import check
from sync_server.migrations import schema
from sync_server.runtime import build_runtime, prepare_database

ROOT = Path(__file__).parents[2]


class MortalServer:
    """A server and a worker that are not started yet, the demo organisation, and its database from the inside."""

    def __init__(self, url: str, folder: Path, **more: str) -> None:
        """`more` is for the environment of both."""
        key = folder / "master.key"
        key.write_text("11" * 32)
        self.runtime = build_runtime(check({"database_url": url, "master_key_file": key, "log_level": "error"}))
        schema.upgrade(self.runtime.parts.database.engine)
        prepare_database(self.runtime)
        self.demo = demo.make_demo(self.runtime)
        self.event: str = self.demo["event"]["id"]
        self.port = free_port()
        environment = {
            "GATEHOUSE_DATABASE_URL": url,
            "GATEHOUSE_MASTER_KEY_FILE": str(key),
            "GATEHOUSE_LOG_LEVEL": "error",
            **more,
        }
        program = [sys.executable, "-m", "sync_server"]
        serve = [*program, "serve", "--port", str(self.port)]
        self.server = Child("the server", serve, folder / "log", environment, ROOT)
        self.worker = Child("the worker", [*program, "worker"], folder / "worker.log", environment, ROOT)

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        self.server.start()
        self.server.wait_until(self._ready)

    def close(self) -> None:
        """Kill what still runs."""
        self.server.kill()
        self.worker.kill()
        self.runtime.close()

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: Any = None
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        """Status, JSON and headers of an answer; an error of the connection where there is none."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=60)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, body=sent, headers=headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null"), response.headers
        finally:
            connection.close()

    def rows(self, query: str) -> list[Any]:
        """What the database has."""
        with self.runtime.parts.database.reading() as session:
            return [tuple(row) for row in session.execute(text(query))]

    def _ready(self) -> bool:
        try:
            return self.ask("GET", "/readyz", {})[0] == 200
        except OSError:
            return False
