"""How many requests may stay open at once; gates keep their share when browsers crowd in."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from flask import current_app

from shared.errors import Unavailable
from sync_server.plumbing.parts import parts

_EXTENSION = "gatehouse.streams"
SPARE_THREADS = 32
"""Threads that no open stream may take: short requests and health checks live on them."""


class Crowd(StrEnum):
    """Who holds a request open."""

    GATE = "gate"
    BROWSER = "browser"  # somebody who is signed in
    VISITOR = "visitor"  # anybody


class OpenStreams:
    """Seats for long polls and event streams of one process."""

    def __init__(self, threads: int) -> None:
        """`threads` answer requests; browsers get a quarter of what may stay open, visitors half as much."""
        self.limit = max(threads - SPARE_THREADS, threads // 4, 1)
        self.browser_limit = max(self.limit // 4, 1)
        self.visitor_limit = max(self.browser_limit // 2, 1)
        self._open: Counter[Crowd] = Counter()
        self._turn = threading.Lock()

    @contextmanager
    def seat(self, crowd: Crowd) -> Iterator[None]:
        """Hold one seat; Unavailable (503, Retry-After) where none is left for this crowd."""
        self.take(crowd)
        try:
            yield
        finally:
            self.give_back(crowd)

    def take(self, crowd: Crowd) -> None:
        """Take a seat that `give_back` returns: for streams that outlive the view function."""
        with self._turn:
            share = {Crowd.BROWSER: self.browser_limit, Crowd.VISITOR: self.visitor_limit}.get(crowd, self.limit)
            if self._open.total() >= self.limit or self._open[crowd] >= share:
                raise Unavailable(
                    "As many gates and pages are listening as this server can serve. Try again in a few seconds.",
                    code="too_many_streams",
                    retry_after=5,
                )
            self._open[crowd] += 1

    def give_back(self, crowd: Crowd) -> None:
        """Return a seat."""
        with self._turn:
            self._open[crowd] -= 1

    def count(self, crowd: Crowd) -> int:
        """How many of them are open now."""
        with self._turn:
            return self._open[crowd]


def streams() -> OpenStreams:
    """The seats of the server that is answering this request."""
    extensions = current_app.extensions
    known: OpenStreams | None = extensions.get(_EXTENSION)
    return known or extensions.setdefault(_EXTENSION, OpenStreams(parts().config.blocking_threads))
