"""Values by key, each loaded by one caller for all who wait for it: a crowd costs as much as one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _Load(Generic[V]):
    """One load, running or finished."""

    started_at: int
    previous: list[V] = field(default_factory=list)  # the value before, while this one is loaded
    done: threading.Event = field(default_factory=threading.Event)
    values: list[V] = field(default_factory=list)  # the one value, once there is one
    failure: Exception | None = None
    weight: int = 1

    def result(self) -> V:
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        return self.values[0]


class SharedLoads(Generic[K, V]):
    """Values up to `limit`, those used longest ago forgotten first; what a forgotten load returns is not kept."""

    def __init__(
        self, limit: int, moment: Callable[[], int] | None = None, *, weigh: Callable[[V], int] = lambda _value: 1
    ) -> None:
        """`moment` is the clock of `since`; by default a counter of calls, which is enough for `now`.

        `limit` is for the sum of what `weigh` returns: by default for the number of values.
        """
        self.now = moment or count(1).__next__
        self._limit, self._weigh, self._weight = limit, weigh, 0
        self._lock = threading.Lock()
        self._loads: OrderedDict[K, _Load[V]] = OrderedDict()

    def get(self, key: K, load: Callable[[], V], *, since: int | None = None) -> V:
        """The value whose load began at `since` or later (None: whenever); else that of the next load.

        Its failure is raised to all who waited for that load, and to nobody after.
        """
        while True:
            with self._lock:
                found = self._loads.get(key)
                if found is None or (found.done.is_set() and _too_old(found, since)):
                    self._drop(key)
                    mine = self._loads[key] = _Load[V](self.now(), found.values if found is not None else [])
                    self._grow(1)
                    break
                self._loads.move_to_end(key)
            found.done.wait()
            if not _too_old(found, since):
                return found.result()
        return self._run(key, mine, load)

    def _grow(self, weight: int) -> None:
        """Forget values until there is room; the latest one stays, however heavy."""
        self._weight += weight
        while self._weight > self._limit and len(self._loads) > 1:
            self._drop(next(iter(self._loads)))

    def _drop(self, key: K) -> None:
        dropped = self._loads.pop(key, None)
        self._weight -= dropped.weight if dropped is not None else 0

    def _run(self, key: K, mine: _Load[V], load: Callable[[], V]) -> V:
        try:
            value = load()
            with self._lock:
                mine.values.append(value)
                if self._loads.get(key) is mine:
                    added, mine.weight = self._weigh(value) - 1, self._weigh(value)
                    self._grow(added)
        except BaseException as problem:
            # Whatever ends this thread, those who wait are not to end with it.
            mine.failure = problem if isinstance(problem, Exception) else RuntimeError("the load was interrupted")
            with self._lock:
                if self._loads.get(key) is mine:
                    self._drop(key)
            raise
        finally:
            mine.done.set()
        return mine.values[0]

    def peek(self, key: K) -> V | None:
        """The latest value, if there is any."""
        with self._lock:
            found = self._loads.get(key)
        return next(iter(found.values or found.previous), None) if found is not None else None

    def started_at(self, key: K) -> int | None:
        """When the latest load of this key began, running or finished."""
        with self._lock:
            found = self._loads.get(key)
        return None if found is None else found.started_at

    def forget(self, *keys: K) -> None:
        """Forget values, and what is being loaded now."""
        with self._lock:
            for key in keys:
                self._drop(key)

    def forget_where(self, matches: Callable[[K], bool]) -> None:
        """Forget the values of all keys that match."""
        with self._lock:
            for key in [*filter(matches, self._loads)]:
                self._drop(key)


def _too_old(load: _Load[V], since: int | None) -> bool:
    return since is not None and load.started_at < since
