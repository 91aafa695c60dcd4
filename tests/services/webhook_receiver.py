"""A receiver of webhooks: a real HTTP server that keeps what it gets, and answers as it is told to."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

__all__ = ["receiver"]


@dataclass(frozen=True)
class Arrived:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """What the body says."""
        return json.loads(self.body)

    @property
    def id(self) -> str:
        """The id of the message."""
        return self.headers["webhook-id"]


@dataclass
class Receiver:
    """What arrived, and how it answers: the next of `answers`, afterwards `status`."""

    arrived: list[Arrived] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    refused_facts: dict[str, int] = field(default_factory=dict)  # by fact: the status that it always gets
    status: int = 204
    said: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    silent: bool = False  # takes requests, and says nothing until it is released
    asked: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self.port = 0

    def start(self, context: ssl.SSLContext | None = None) -> None:
        """Listen, with TLS where a context is given; the port stays the same."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver._take(self)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # whoever hangs up is no news
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self) -> None:
        """Listen no longer; what arrived stays."""
        self.release.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = None

    def _take(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in request.headers.items()}
        arrived = Arrived(request.path, headers, body)
        self.arrived.append(arrived)
        self.asked.set()
        if self.silent:
            self.release.wait(30)
            return
        status = self.refused_facts.get(arrived.json["fact"]) or (self.answers.pop(0) if self.answers else self.status)
        request.send_response(status)
        for name, value in self.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(self.said)))
        request.end_headers()
        request.wfile.write(self.said)

    @property
    def url(self) -> str:
        """Its address, without encryption."""
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def facts(self) -> list[str]:
        """What arrived, by name."""
        return [each.json["fact"] for each in self.arrived]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that takes everything."""
    made = Receiver()
    made.start()
    yield made
    made.stop()
