"""A small HTTP server for /metrics, on a port of its own for each process."""

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
from sync_server.plumbing.telemetry.metrics import CONTENT_TYPE, Metrics

PORTS: Final = 16
"""Processes on one machine share one setting: each takes the first free port of these."""


def serve_metrics(host: str, port: int, metrics: Metrics) -> tuple[int, Callable[[], None]]:
    """Start the server; returns its port, and a function that stops it. SettingsError where no port is free."""
    server = _first_free(host, port, _handler_class(metrics))
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return int(server.server_address[1]), stop


class _Server(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


def _first_free(host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> ThreadingTCPServer:
    problem: OSError | None = None
    for candidate in range(port, min(port + PORTS, 65_536)):
        try:
            family = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0][0]
            return (_Server6 if family == socket.AF_INET6 else _Server)((host, candidate), handler)
        except OSError as taken:
            problem = taken
    raise SettingsError(
        f"Cannot listen for Prometheus at {host} port {port}, nor at the {PORTS - 1} ports after it: "
        f"{problem.strerror if problem else ''}. Choose another metrics_address."
    )


def _handler_class(metrics: Metrics) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10  # an idle client must not keep a thread

        def do_GET(self) -> None:
            if self.path.partition("?")[0] == "/metrics":
                self._send(HTTPStatus.OK, CONTENT_TYPE, metrics.text())
            else:
                error = {"code": "not_found", "message": "This address serves metrics only: GET /metrics."}
                self._send(HTTPStatus.NOT_FOUND, "application/json", orjson.dumps({"error": error}))

        def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """No log line for each scrape."""

    return Handler
