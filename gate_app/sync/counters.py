"""Request counters: every signed request bears one that was never used, even after a power cut."""

from __future__ import annotations

import threading
from typing import Protocol

BLOCK = 1_000
"""So many are reserved on the disk at once; a restart skips what is left of them."""


class Marks(Protocol):
    """Where the end of the reserved block is kept."""

    def mark(self, name: str, value: str | int | bytes) -> None:
        """Keeps it durably."""
        ...

    def marked(self, name: str) -> str | int | bytes | None:
        """What was kept."""
        ...


class Counters:
    """One rising number for each channel."""

    def __init__(self, marks: Marks) -> None:
        """Nothing is reserved before the first request."""
        self._marks = marks
        self._lock = threading.Lock()
        self._next: dict[str, int] = {}
        self._reserved: dict[str, int] = {}

    def take(self, channel: str) -> int:
        """The next number of this channel; reserved on the disk before it is used."""
        with self._lock:
            number = self._next.get(channel) or self._kept(channel) + 1
            if number > self._reserved.get(channel, 0):
                self._reserve(channel, number + BLOCK)
            self._next[channel] = number + 1
            return number

    def go_above(self, channel: str, last: int) -> None:
        """The server has seen a higher one: a restored card, or another machine with this key."""
        with self._lock:
            if self._next.get(channel, 0) <= last:
                self._next[channel] = last + 1

    def _kept(self, channel: str) -> int:
        value = self._marks.marked(f"counter:{channel}")
        return value if isinstance(value, int) else 0

    def _reserve(self, channel: str, until: int) -> None:
        self._marks.mark(f"counter:{channel}", until)
        self._reserved[channel] = until
