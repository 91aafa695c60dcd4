"""Lets a few threads at a time do what waits for one lock of the database; the others wait here, in their order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Crowd:
    """Those who want to do the same: how many are at it, and who waits, first come first."""

    inside: int = 0
    waiting: deque[threading.Lock] = field(default_factory=deque)


class FewAtOnce:
    """Whoever waits here needs neither a connection nor the interpreter, and delays nobody who is further."""

    def __init__(self, most: int, *, patience_s: float) -> None:
        """So many at a time for each key. Whoever has waited so long goes on all the same: nobody is refused here."""
        self._most, self._patience_s = most, patience_s
        self._lock = threading.Lock()
        self._crowds: dict[Hashable, _Crowd] = {}

    @contextmanager
    def turn(self, key: Hashable) -> Iterator[None]:
        """Wait for one's turn."""
        crowd = self._enter(key)
        try:
            yield
        finally:
            self._leave(key, crowd)

    def _enter(self, key: Hashable) -> _Crowd:
        with self._lock:
            crowd = self._crowds.setdefault(key, _Crowd())
            if crowd.inside < self._most:
                crowd.inside += 1
                return crowd
            mine = threading.Lock()
            mine.acquire()
            crowd.waiting.append(mine)
        if not mine.acquire(timeout=self._patience_s):
            with self._lock:
                if mine in crowd.waiting:  # else its turn came when its patience ended
                    crowd.waiting.remove(mine)
                    crowd.inside += 1
        return crowd

    def _leave(self, key: Hashable, crowd: _Crowd) -> None:
        with self._lock:
            crowd.inside -= 1
            if crowd.waiting and crowd.inside < self._most:
                crowd.inside += 1  # counted here, so that nobody who comes now goes before
                crowd.waiting.popleft().release()
            elif not crowd.inside and not crowd.waiting:
                del self._crowds[key]

    def waiting(self, key: Hashable) -> int:
        """How many wait."""
        with self._lock:
            return len(self._crowds[key].waiting) if key in self._crowds else 0
