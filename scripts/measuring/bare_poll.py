"""The yardstick of a change: the same bytes to as many long polls of a bare HTTP server, with nothing around them."""

from __future__ import annotations

import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from scripts.processes.ports import LOOPBACK

ANSWER = b"x" * 600


def change_to_polls(polls: int, rounds: int) -> list[float]:
    """Milliseconds from the word in the server to each of its clients, over all rounds."""
    bell = Bell()
    server = _Server((LOOPBACK, 0), _Answer)
    server.bell = bell
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    serving.start()
    clients = [_Client(server.server_address[1]) for _ in range(polls)]
    for client in clients:
        client.start()
    try:
        for _ in range(rounds):
            bell.wait_for(polls)
            bell.ring()
    finally:
        bell.wait_for(polls)
        bell.stop()
        for client in clients:
            client.join()
        server.shutdown()
        server.server_close()
    return [ms for client in clients for ms in client.taken][: polls * rounds]


class Bell:
    """Lets everybody who waits go at once."""

    def __init__(self) -> None:
        self._moved = threading.Condition()
        self._waiting = 0
        self._round = 0
        self.rung_at = 0
        self.stopped = False

    def wait_for(self, waiting: int) -> None:
        """Until so many wait."""
        with self._moved:
            self._moved.wait_for(lambda: self._waiting >= waiting)

    def ring(self) -> None:
        """Now."""
        with self._moved:
            self._round += 1
            self._waiting = 0
            self.rung_at = time.perf_counter_ns()
            self._moved.notify_all()

    def stop(self) -> None:
        """For good."""
        self.stopped = True
        self.ring()

    def wait(self) -> None:
        """For the next ring."""
        with self._moved:
            here = self._round
            self._waiting += 1
            self._moved.notify_all()
            self._moved.wait_for(lambda: self._round > here)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    bell: Bell


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        """Wait, then answer when the bell rang."""
        self.server.bell.wait()
        body = b"" if self.server.bell.stopped else b"%020d" % self.server.bell.rung_at + ANSWER
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
        """Nobody reads it."""


class _Client(threading.Thread):
    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.taken: list[float] = []
        self._port = port

    def run(self) -> None:
        """Ask until the server says that it is over."""
        line = http.client.HTTPConnection(LOOPBACK, self._port)
        while True:
            line.request("GET", "/")
            body = line.getresponse().read()
            if not body:
                line.close()
                return
            self.taken.append((time.perf_counter_ns() - int(body[:20])) / 1e6)
