"""Request counters: each signed request carries a number that was never used before, even after a power cut."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from typing import Protocol

BLOCK = 1_000
"""How many numbers are reserved on the disk at once; a restart skips the rest of a block."""


class KeyValueStore(Protocol):
    """Where the end of the reserved block is stored."""

    def put(self, name: str, value: str | int | bytes) -> None:
        """Stores a value durably."""
        ...

    def get(self, name: str) -> str | int | bytes | None:
        """The stored value; None if there is none."""
        ...


class Counters:
    """One increasing number per channel."""

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._next: dict[str, int] = {}
        self._reserved: dict[str, int] = {}

    def take(self, channel: str) -> int:
        """The next number of a channel, reserved on the disk before it is used."""
        with self._lock:
            number = self._next.get(channel) or self._stored(channel) + 1
            if number > self._reserved.get(channel, 0):
                self._reserve(channel, number + BLOCK)
            self._next[channel] = number + 1
            return number

    def go_above(self, channel: str, last: int) -> None:
        """Skips to above `last`, which the server has seen: a restored card, or another machine with this key."""
        with self._lock:
            if self._next.get(channel, 0) <= last:
                self._next[channel] = last + 1

    def _stored(self, channel: str) -> int:
        value = self._store.get(f"counter:{channel}")
        return value if isinstance(value, int) else 0

    def _reserve(self, channel: str, until: int) -> None:
        # A full disk must not keep the journal from the server. A number used twice is refused, and then skipped.
        with suppress(sqlite3.Error):
            self._store.put(f"counter:{channel}", until)
        self._reserved[channel] = until
