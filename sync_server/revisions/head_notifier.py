"""Wakes long polls when an event's head moves, in whichever process it was committed: the bus says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from shared.clock import MonotonicClock
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.messaging.bus import Bus, Notification

HeadPosition = tuple[int, int]
"""The revision and the arrival number up to which somebody knows an event."""

Heads = Callable[[Iterable[EventKey]], Mapping[EventKey, HeadPosition]]

HEADS: Final = "revisions:heads"
LOOK_EVERY_S: Final = 5.0
"""How late a head that the bus did not announce is found at most."""
_NANOS = 1_000_000_000


class HeadNotifier:
    """Caches the newest heads; where the bus may have missed one, a waiting thread looks for all of them."""

    def __init__(self, heads: Heads, monotonic: MonotonicClock, bus: Bus) -> None:
        """`heads` reads the current heads of these events from the database."""
        self._read_heads = heads
        self._monotonic = monotonic
        self._heads: dict[EventKey, HeadPosition] = {}
        self._awaited: dict[EventKey, int] = {}  # how many threads wait for it
        self._look_due_at = 0
        self._look_lock = threading.Lock()
        self._moved = threading.Condition()
        self._bus = bus
        bus.subscribe([HEADS], self._receive)

    def notify(self, event: EventKey, *, revision: int = 0, arrivals: int = 0) -> None:
        """Report the head of an event and wake those who wait for it; older heads are ignored."""
        self._bus.publish(HEADS, {"event": list(event), "revision": revision, "arrivals": arrivals})

    def _receive(self, notification: Notification | None) -> None:
        with self._moved:
            if notification is None:
                self._look_due_at = 0
            else:
                head = notification.body
                self._note(EventKey(*head["event"]), (int(head["revision"]), int(head["arrivals"])))
            self._moved.notify_all()

    def wake_all(self) -> None:
        """Wake everybody to check again: the server stops, or an assignment changed."""
        with self._moved:
            self._moved.notify_all()

    def wait(self, seen: Mapping[EventKey, HeadPosition], timeout_s: float, stop: threading.Event) -> bool:
        """Wait until one of these events is beyond what was seen; False after the timeout or at a stop."""
        until = self._monotonic() + int(timeout_s * _NANOS)
        self._enter(seen)
        try:
            while not stop.is_set():
                self._look_if_due()
                if self._has_moved(seen):
                    return True
                left = (until - self._monotonic()) / _NANOS
                if left <= 0:
                    return False
                self._pause(seen, min(left, LOOK_EVERY_S))
            return False
        finally:
            self._leave(seen)

    def _note(self, event: EventKey, head: HeadPosition) -> None:
        revision, arrivals = self._heads.get(event, (0, 0))
        self._heads[event] = max(revision, head[0]), max(arrivals, head[1])

    def _has_moved(self, seen: Mapping[EventKey, HeadPosition]) -> bool:
        with self._moved:
            return any(self._beyond(event, position) for event, position in seen.items())

    def _beyond(self, event: EventKey, position: HeadPosition) -> bool:
        revision, arrivals = self._heads.get(event, (0, 0))
        return revision > position[0] or arrivals > position[1]

    def _pause(self, seen: Mapping[EventKey, HeadPosition], seconds: float) -> None:
        with self._moved:
            if not any(self._beyond(event, position) for event, position in seen.items()):
                self._moved.wait(seconds)

    def _enter(self, events: Iterable[EventKey]) -> None:
        with self._moved:
            for event in events:
                self._awaited[event] = self._awaited.get(event, 0) + 1
                self._heads.setdefault(event, (0, 0))

    def _leave(self, events: Iterable[EventKey]) -> None:
        with self._moved:
            for event in events:
                self._awaited[event] -= 1
                if not self._awaited[event]:
                    del self._awaited[event]

    def _look_if_due(self) -> None:
        """Read the heads for all waiting threads, where notifications may be missing: one thread at a time."""
        if not self._look_lock.acquire(blocking=False):
            return
        try:
            if self._monotonic() >= self._look_due_at:
                self._look_due_at = self._monotonic() + int(LOOK_EVERY_S * _NANOS)
                self._refresh()
        finally:
            self._look_lock.release()

    def _refresh(self) -> None:
        with self._moved:
            events = list(self._awaited)
        heads = self._read_heads(events)
        with self._moved:
            before = dict(self._heads)
            for event, head in heads.items():
                self._note(event, head)
            if self._heads != before:
                self._moved.notify_all()
