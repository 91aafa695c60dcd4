"""Deadlines for bodies of requests: whoever dribbles one does not keep a thread from everybody else.

The server reads a body on the thread of its request, and nothing interrupts that but the end of the connection. So the
threads that may read at once are counted, and a connection whose body comes too slowly is ended. Behind nginx bodies
arrive whole, and nothing here ever happens.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, Final, NamedTuple
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from shared.clock import MonotonicClock
from shared.errors import Unavailable
from sync_server.plumbing.connections import stop_reading
from sync_server.plumbing.requests.addresses import tells_apart
from sync_server.plumbing.telemetry.logs import LOG

PIECE: Final = 64 * 1024
LOOK_EVERY_S: Final = 1.0


class _Reading(NamedTuple):
    """A thread that waits for a piece of a body."""

    address: str
    port: int
    since: int


class BodyReads:
    """The bodies that threads of this process are waiting for."""

    def __init__(self, threads: int, within_s: int, monotonic: MonotonicClock) -> None:
        """Each piece of a body must arrive within that time, on three quarters of the threads at most."""
        self._most, self._most_of_one = threads * 3 // 4, threads // 4
        self._within_s, self._monotonic = within_s, monotonic
        self._lock = threading.Lock()
        self._numbers = count()
        self._open: dict[int, _Reading] = {}
        self._by_address: Counter[str] = Counter()

    def begin(self, address: str, port: int) -> int:
        """Note a thread that begins to wait; Unavailable where too many do."""
        with self._lock:
            greedy = self._by_address[address] >= self._most_of_one and tells_apart(address)
            if greedy or len(self._open) >= self._most:
                raise Unavailable(
                    "The server is waiting for too many bodies of other requests. Nothing was changed. Try again."
                )
            number = next(self._numbers)
            self._open[number] = _Reading(address, port, self._monotonic())
            self._by_address[address] += 1
            return number

    def end(self, number: int) -> None:
        """The thread waits no longer."""
        with self._lock:
            address = self._open.pop(number).address
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def end_overdue(self) -> int:
        """End the connections whose piece is overdue; how many."""
        latest = self._monotonic() - self._within_s * 1_000_000_000
        with self._lock:
            overdue = {(each.address, each.port) for each in self._open.values() if each.since <= latest}
        ended = sum(stop_reading(*peer, quiet_s=self._within_s) for peer in overdue)
        if ended:
            LOG.info("slow_bodies", connections=ended)
        return ended

    def watch(self, stop: threading.Event) -> None:
        """End overdue connections until the server stops."""
        while not stop.wait(LOOK_EVERY_S):
            self.end_overdue()


class BodyDeadlines:
    """WSGI middleware that has every body read through `BodyReads`."""

    def __init__(self, app: WSGIApplication, reads: BodyReads) -> None:
        self._app, self._reads = app, reads

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        if environ.get("CONTENT_LENGTH", "0") != "0" or "HTTP_TRANSFER_ENCODING" in environ:
            environ["wsgi.input"] = _Body(environ, self._reads)
        return self._app(environ, start_response)


class _Body:
    """A body that is read piece by piece."""

    def __init__(self, environ: WSGIEnvironment, reads: BodyReads) -> None:
        self._body: Any = environ["wsgi.input"]
        self._from = environ.get("REMOTE_ADDR", ""), int(environ.get("SERVER_PORT") or 0)
        size = environ.get("CONTENT_LENGTH") or ""
        self._missing = int(size) if size.isdigit() else 0
        self._reads = reads

    def read(self, size: int = -1) -> bytes:
        """As many bytes, or all; fewer at the end of the body."""
        pieces, left = [], size
        while left:
            wanted = PIECE if left < 0 else min(left, PIECE)
            number = self._reads.begin(*self._from)
            try:
                piece: bytes = self._body.read(wanted)
            finally:
                self._reads.end(number)
            pieces.append(piece)
            self._missing -= len(piece)
            left -= len(piece) if left > 0 else 0
            if len(piece) < wanted:
                self._require_all()
                break
        return b"".join(pieces)

    def _require_all(self) -> None:
        """ConnectionResetError where the sender has left before the end: what came may well look whole."""
        if self._missing > 0:
            raise ConnectionResetError

    def readline(self, size: int = -1) -> bytes:
        """One line."""
        number = self._reads.begin(*self._from)
        try:
            line: bytes = self._body.readline() if size < 0 else self._body.readline(size)
        finally:
            self._reads.end(number)
        self._missing -= len(line)
        if not line:
            self._require_all()
        return line

    def readlines(self, _hint: int = -1) -> list[bytes]:
        """All lines."""
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line
