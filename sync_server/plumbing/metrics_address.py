"""An address of a process's own for its measures: a worker answers nothing else, and of several servers one does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Final

import orjson

from shared.errors import SettingsError
from sync_server.plumbing.metrics import CONTENT_TYPE, Metrics

PORTS: Final = 16
"""Processes of one machine share one setting: each takes the first of so many ports that is free."""


def tell_at(host: str, port: int, metrics: Metrics) -> tuple[int, Callable[[], None]]:
    """Answer there from now on; the port that was free, and what ends it. SettingsError where none was."""
    server = _first_free(host, port, _answering(metrics))
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()

    def end() -> None:
        server.shutdown()
        server.server_close()

    return int(server.server_address[1]), end


class _Server(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


def _first_free(host: str, port: int, answer: type[BaseHTTPRequestHandler]) -> ThreadingTCPServer:
    problem: OSError | None = None
    for one in range(port, min(port + PORTS, 65_536)):
        try:
            family = socket.getaddrinfo(host, one, type=socket.SOCK_STREAM)[0][0]
            return (_Server6 if family == socket.AF_INET6 else _Server)((host, one), answer)
        except OSError as taken:
            problem = taken
    raise SettingsError(
        f"Nobody can listen for Prometheus at {host} port {port}, nor at the {PORTS - 1} after it: "
        f"{problem.strerror if problem else ''}. Choose another metrics_address."
    )


def _answering(metrics: Metrics) -> type[BaseHTTPRequestHandler]:
    class Answer(BaseHTTPRequestHandler):
        timeout = 10  # whoever asks and says nothing keeps no thread

        def do_GET(self) -> None:
            if self.path.partition("?")[0] == "/metrics":
                self._send(HTTPStatus.OK, CONTENT_TYPE, metrics.text())
            else:
                words = {"code": "not_found", "message": "This address tells measures only: GET /metrics."}
                self._send(HTTPStatus.NOT_FOUND, "application/json", orjson.dumps({"error": words}))

        def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_told: object) -> None:
            """Whoever reads measures every few seconds is not worth a line."""

    return Answer
