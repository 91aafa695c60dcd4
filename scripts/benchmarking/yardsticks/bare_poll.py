"""The yardstick of `propagate`: the same number of bytes to as many long polls of a bare HTTP server."""

from __future__ import annotations

import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from scripts.processes.ports import LOOPBACK

BODY = b"x" * 600


def change_to_polls(polls: int, rounds: int) -> list[float]:
    """Milliseconds from a change in the server to each of its clients, over all rounds."""
    change = ChangeSignal()
    server = _Server((LOOPBACK, 0), _Handler)
    server.change = change
    server_thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    server_thread.start()
    clients = [_Client(server.server_address[1]) for _ in range(polls)]
    for client in clients:
        client.start()
    try:
        for _ in range(rounds):
            change.wait_for(polls)
            change.notify()
    finally:
        change.wait_for(polls)
        change.stop()
        for client in clients:
            client.join()
        server.shutdown()
        server.server_close()
    return [ms for client in clients for ms in client.taken][: polls * rounds]


class ChangeSignal:
    """Wakes all waiting requests at once."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting = 0
        self._round = 0
        self.changed_at = 0
        self.stopped = False

    def wait_for(self, waiting: int) -> None:
        """Block until so many requests wait."""
        with self._condition:
            self._condition.wait_for(lambda: self._waiting >= waiting)

    def notify(self) -> None:
        """Wake all waiting requests."""
        with self._condition:
            self._round += 1
            self._waiting = 0
            self.changed_at = time.perf_counter_ns()
            self._condition.notify_all()

    def stop(self) -> None:
        """Wake all waiting requests for the last time."""
        self.stopped = True
        self.notify()

    def wait(self) -> None:
        """Wait for the next change."""
        with self._condition:
            seen = self._round
            self._waiting += 1
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._round > seen)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    change: ChangeSignal


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        """Wait for a change, then send the time of the change."""
        self.server.change.wait()
        body = b"" if self.server.change.stopped else b"%020d" % self.server.change.changed_at + BODY
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
        """Log nothing."""


class _Client(threading.Thread):
    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.taken: list[float] = []
        self._port = port

    def run(self) -> None:
        """Poll until the server sends an empty body."""
        connection = http.client.HTTPConnection(LOOPBACK, self._port)
        while True:
            connection.request("GET", "/")
            body = connection.getresponse().read()
            if not body:
                connection.close()
                return
            self.taken.append((time.perf_counter_ns() - int(body[:20])) / 1e6)
