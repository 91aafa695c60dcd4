"""Reads codes that a scanner types into the gate's own page, where the desktop gives its keys to the browser."""

import threading
from collections import deque

from hardware.bursts import KeyBursts
from hardware.ports import MonotonicNs, Reading

PAUSE_LOOK_S = 0.05


class TypedKeys:
    """A CodeReader of keys that a page has collected; it never fails, and does not know whether a scanner is there."""

    def __init__(self, monotonic_ns: MonotonicNs, name: str) -> None:
        self.name = name
        self._monotonic_ns = monotonic_ns
        self._bursts = KeyBursts()
        self._changed = threading.Condition()
        self._pending: deque[Reading] = deque()
        self._over = False

    @property
    def ended(self) -> bool:
        return self._over and not self._pending

    def keys(self, text: str) -> None:
        """Takes keys that were typed; Enter is a line break. From any thread."""
        with self._changed:
            now = self._monotonic_ns()
            for code in self._bursts.keys(text, now):
                self._deliver(code, now)
            self._changed.notify_all()

    def next(self, timeout_s: float) -> Reading | None:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._pending) or self._over, min(timeout_s, PAUSE_LOOK_S))
            now = self._monotonic_ns()
            self._deliver(self._bursts.pause(now), now)
            return self._pending.popleft() if self._pending else None

    def close(self) -> None:
        with self._changed:
            self._over = True
            self._pending.clear()
            self._changed.notify_all()

    def _deliver(self, code: str | None, now: int) -> None:
        if code and not self._over:
            self._pending.append(Reading(code, now, self.name))
