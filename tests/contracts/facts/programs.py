"""Server and worker as the processes that operators start, and readers of streams over real HTTP."""

from __future__ import annotations

import http.client
import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from scripts.processes.streams_address import opened_stream
from sync_server.commands import demo
from tests.contracts.facts.world import Sender

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60
Answer = tuple[int, dict[str, Any]]


class Programs:
    """The demo organisation and processes that serve it; `ends` stops them."""

    def __init__(self, sender: Sender, folder: Path, ends: ExitStack, **settings: str) -> None:
        self._folder, self._ends = folder, ends
        self.made = demo.make_demo(sender.runtime)
        config = sender.config
        named = {
            "DATABASE_URL": config.database_url,
            "REDIS_URL": config.redis_url,
            "AMQP_URL": config.amqp_url,
            "MASTER_KEY_FILE": str(config.master_key_file),
            "LOG_LEVEL": "error",
        } | settings
        self._environment = {f"GATEHOUSE_{name}": value for name, value in named.items() if value}
        self.event = f"/api/events/{self.made['event']['id']}"
        self.signed_in = {"Authorization": f"Bearer {self.made['api_token']}"}

    def server(self) -> Server:
        """One more server process, on a port of its own; wait for it with `up`."""
        server = Server(free_port(), self)
        server.child = self._start("serve", "--port", str(server.port), "--processes", "1")
        return server

    def worker(self) -> Child:
        """One more worker."""
        return self._start("worker")

    def _start(self, *arguments: str) -> Child:
        log = self._folder / f"{arguments[0]}.log"
        child = Child(arguments[0], [sys.executable, "-m", "sync_server", *arguments], log, self._environment, ROOT)
        child.start()
        self._ends.callback(child.stop)
        return child


@dataclass
class Server:
    """One server process."""

    port: int
    programs: Programs
    child: Child | None = None

    def up(self) -> Server:
        """Return once it answers."""
        assert self.child is not None
        self.child.wait_until(self._answers)
        return self

    def ask(self, method: str, path: str, body: object = None, *, guest: bool = False) -> Answer:
        """Ask it something; status and body."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=PATIENCE_S)
        headers = {"Content-Type": "application/json"} | ({} if guest else self.programs.signed_in)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def ready(self) -> Answer:
        """What it says of itself and of what it leans on."""
        return self.ask("GET", "/readyz", guest=True)

    def change(self, description: str) -> None:
        """Another description for the event."""
        status, response = self.ask("PATCH", self.programs.event, {"description": description})
        assert status == 200, response

    def _answers(self) -> bool:
        try:
            return self.ready()[0] == 200
        except OSError:
            return False


class Stream:
    """An open stream; close it, or use it as a context."""

    def __init__(self, server: Server, path: str, last_seen: str = "", *, guest: bool = False) -> None:
        headers = {} if guest else dict(server.programs.signed_in)
        headers |= {"Last-Event-ID": last_seen} if last_seen else {}
        netloc = f"{LOOPBACK}:{server.port}"
        self._connection, self.answer = opened_stream(netloc, path, headers, PATIENCE_S)

    def next(self) -> dict[str, str]:
        """The next frame with a name, by its fields; of those that say nothing a minute's worth at most."""
        for _ in range(20):
            fields: dict[str, str] = {}
            while line := self.answer.readline().decode().strip():
                name, _, value = line.partition(": ")
                fields[name] = value
            if "event" in fields:
                return fields
        raise AssertionError("the stream says nothing")

    def until(self, name: str) -> list[dict[str, str]]:
        """All frames up to the first of that name."""
        frames = [self.next()]
        while frames[-1]["event"] != name:
            assert len(frames) < 50, f"nobody tells {name}"
            frames.append(self.next())
        return frames

    def close(self) -> None:
        self._connection.close()
        self.answer.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
