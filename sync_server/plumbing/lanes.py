"""Lanes for heavy work: one piece at a time in each process, a few that wait, and no more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from shared.errors import Unavailable


class Lane:
    """What takes so much memory or processor that two at once would hurt everybody else."""

    def __init__(self, work: str, *, waiting: int, retry_after: int) -> None:
        """`waiting` may wait for their turn, each on a thread of the server; `work` says what they wait for."""
        self._work, self._retry_after = work, retry_after
        self._places = threading.BoundedSemaphore(1 + waiting)
        self._turn = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn; Unavailable where too many wait already."""
        if not self._places.acquire(blocking=False):
            raise Unavailable(
                f"The server has enough to do with {self._work}. Nothing was changed. Try again shortly.",
                retry_after=self._retry_after,
            )
        try:
            with self._turn:
                yield
        finally:
            self._places.release()
