"""Limits long polls and event streams, so that browsers leave slots for gates."""

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
"""Threads that open streams may not take: short requests and health checks need them."""


class StreamKind(StrEnum):
    """The kind of client that holds a request open."""

    GATE = "gate"
    BROWSER = "browser"  # signed in
    VISITOR = "visitor"  # not signed in


class OpenStreams:
    """Slots for the long polls and event streams of one process."""

    def __init__(self, threads: int) -> None:
        """`threads` serve requests; browsers get a quarter of the slots, visitors half of that."""
        self.limit = max(threads - SPARE_THREADS, threads // 4, 1)
        self.browser_limit = max(self.limit // 4, 1)
        self.visitor_limit = max(self.browser_limit // 2, 1)
        self._open: Counter[StreamKind] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def slot(self, kind: StreamKind) -> Iterator[None]:
        """Take a slot for a block; Unavailable (503, Retry-After) where none is left for this kind."""
        self.acquire(kind)
        try:
            yield
        finally:
            self.release(kind)

    def acquire(self, kind: StreamKind) -> None:
        """Take a slot until `release`: for streams that outlive the view function."""
        with self._lock:
            share = {StreamKind.BROWSER: self.browser_limit, StreamKind.VISITOR: self.visitor_limit}.get(
                kind, self.limit
            )
            if self._open.total() >= self.limit or self._open[kind] >= share:
                raise Unavailable(
                    "This server has no room for another live stream. Try again in a few seconds.",
                    code="too_many_streams",
                    retry_after=5,
                )
            self._open[kind] += 1

    def release(self, kind: StreamKind) -> None:
        """Give a slot back."""
        with self._lock:
            self._open[kind] -= 1

    def count(self, kind: StreamKind) -> int:
        """How many streams of this kind are open."""
        with self._lock:
            return self._open[kind]


def streams() -> OpenStreams:
    """The slots of the server of this request."""
    extensions = current_app.extensions
    present: OpenStreams | None = extensions.get(_EXTENSION)
    return present or extensions.setdefault(_EXTENSION, OpenStreams(parts().config.blocking_threads))
