"""Reads codes that a scanner types into the gate's own page, where the desktop gives its keys to the browser."""

import threading
from collections import deque

from hardware.ports import MonotonicNs, Reading


class TypedCodes:
    """A CodeReader of codes that a page put together; it never fails, and does not know whether a scanner is there."""

    def __init__(self, monotonic_ns: MonotonicNs, name: str) -> None:
        self.name = name
        self._monotonic_ns = monotonic_ns
        self._changed = threading.Condition()
        self._pending: deque[Reading] = deque()
        self._over = False

    @property
    def ended(self) -> bool:
        return self._over and not self._pending

    def type(self, code: str) -> None:
        """Takes a code. From any thread."""
        with self._changed:
            if code and not self._over:
                self._pending.append(Reading(code, self._monotonic_ns(), self.name))
                self._changed.notify_all()

    def next(self, timeout_s: float) -> Reading | None:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._pending) or self._over, timeout_s)
            return self._pending.popleft() if self._pending else None

    def close(self) -> None:
        with self._changed:
            self._over = True
            self._pending.clear()
            self._changed.notify_all()
