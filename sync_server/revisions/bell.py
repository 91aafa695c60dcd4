"""Wakes long polls when an event's head moves: at once for this process's commits, soon for those of others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

from shared.clock import MonotonicClock

Seen = tuple[int, int]
"""The revision and the arrival number up to which somebody has heard of an event."""

Heads = Callable[[Iterable[int]], Mapping[int, Seen]]

LOOK_EVERY_S = 0.2
_NANOS = 1_000_000_000


class Bell:
    """Holds the newest heads known here; waiting threads take turns in looking for what other processes committed."""

    def __init__(self, heads: Heads, monotonic: MonotonicClock) -> None:
        """`heads` reads the present heads of these events from the database."""
        self._heads = heads
        self._monotonic = monotonic
        self._known: dict[int, Seen] = {}
        self._awaited: dict[int, int] = {}  # event number: how many wait for it
        self._looked_at = -_NANOS
        self._looking = threading.Lock()
        self._moved = threading.Condition()

    def ring(self, event_number: int, *, revision: int = 0, arrivals: int = 0) -> None:
        """Say that an event stands here now; older news is no news."""
        with self._moved:
            self._note(event_number, (revision, arrivals))
            self._moved.notify_all()

    def wake_all(self) -> None:
        """Let everybody look again: the server stops, or an assignment changed."""
        with self._moved:
            self._moved.notify_all()

    def wait(self, seen: Mapping[int, Seen], timeout_s: float, stop: threading.Event) -> bool:
        """Whether one of these events has moved beyond what was seen, at the latest after the timeout or at a stop."""
        until = self._monotonic() + int(timeout_s * _NANOS)
        self._enter(seen)
        try:
            while not stop.is_set():
                self._look()
                if self._has_moved(seen):
                    return True
                left = (until - self._monotonic()) / _NANOS
                if left <= 0:
                    return False
                self._rest(seen, min(left, LOOK_EVERY_S))
            return False
        finally:
            self._leave(seen)

    def _note(self, event_number: int, head: Seen) -> None:
        revision, arrivals = self._known.get(event_number, (0, 0))
        self._known[event_number] = max(revision, head[0]), max(arrivals, head[1])

    def _has_moved(self, seen: Mapping[int, Seen]) -> bool:
        with self._moved:
            return any(self._beyond(event_number, mark) for event_number, mark in seen.items())

    def _beyond(self, event_number: int, mark: Seen) -> bool:
        revision, arrivals = self._known.get(event_number, (0, 0))
        return revision > mark[0] or arrivals > mark[1]

    def _rest(self, seen: Mapping[int, Seen], seconds: float) -> None:
        with self._moved:
            if not any(self._beyond(event_number, mark) for event_number, mark in seen.items()):
                self._moved.wait(seconds)

    def _enter(self, events: Iterable[int]) -> None:
        with self._moved:
            for event_number in events:
                self._awaited[event_number] = self._awaited.get(event_number, 0) + 1
                self._known.setdefault(event_number, (0, 0))

    def _leave(self, events: Iterable[int]) -> None:
        with self._moved:
            for event_number in events:
                self._awaited[event_number] -= 1
                if not self._awaited[event_number]:
                    del self._awaited[event_number]

    def _look(self) -> None:
        """One thread at a time, at most every fifth of a second, looks for everybody."""
        if not self._looking.acquire(blocking=False):
            return
        try:
            if self._monotonic() - self._looked_at >= int(LOOK_EVERY_S * _NANOS):
                self._read_heads()
                self._looked_at = self._monotonic()
        finally:
            self._looking.release()

    def _read_heads(self) -> None:
        with self._moved:
            events = list(self._awaited)
        heads = self._heads(events)
        with self._moved:
            before = dict(self._known)
            for event_number, head in heads.items():
                self._note(event_number, head)
            if self._known != before:
                self._moved.notify_all()
