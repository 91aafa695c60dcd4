"""Brings notifications from the bus, which arrive on any thread, to the listener's loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence

from sync_server.plumbing.messaging.bus import QUEUE_LIMIT, Bus, Notification


class Wakeups:
    """Subscribes to some topics; close it, or use it as a context manager."""

    def __init__(self, bus: Bus, topics: Iterable[str]) -> None:
        """Hears everything from now on; must be called on the loop."""
        self._loop, self._arrived = asyncio.get_running_loop(), asyncio.Event()
        self._notes: deque[Notification] = deque()
        self._missed = False
        self._subscription = bus.subscribe(topics, self._receive)

    async def wait(self, timeout_s: float) -> tuple[Sequence[Notification], bool]:
        """The notifications since the last call, waiting for one; and whether some may have been missed."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._arrived.wait()
        except TimeoutError:
            pass
        self._arrived.clear()
        notes, self._notes = list(self._notes), deque()
        missed, self._missed = self._missed, False
        return notes, missed

    def wake(self) -> None:
        """End the wait without a notification."""
        self._arrived.set()

    def close(self) -> None:
        """Stop listening."""
        self._subscription.close()

    def __enter__(self) -> Wakeups:
        """Listen until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        self.close()

    def _receive(self, note: Notification | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue, note)

    def _queue(self, note: Notification | None) -> None:
        if note is None or len(self._notes) >= QUEUE_LIMIT:
            self._missed = True
        else:
            self._notes.append(note)
        self._arrived.set()
