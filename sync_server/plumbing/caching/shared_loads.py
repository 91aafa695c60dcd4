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

    def result(self) -> V:
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        return self.values[0]


class SharedLoads(Generic[K, V]):
    """At most `max_keys` values, those used longest ago forgotten first; what a forgotten load returns is not kept."""

    def __init__(self, max_keys: int, moment: Callable[[], int] | None = None) -> None:
        """`moment` is the clock of `since`; by default a counter of calls, which is enough for `now`."""
        self.now = moment or count(1).__next__
        self._max_keys = max_keys
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
                    mine = self._loads[key] = _Load[V](self.now(), found.values if found is not None else [])
                    self._touch(key)
                    break
                self._touch(key)
            found.done.wait()
            if not _too_old(found, since):
                return found.result()
        return self._run(key, mine, load)

    def _touch(self, key: K) -> None:
        self._loads.move_to_end(key)
        if len(self._loads) > self._max_keys:
            self._loads.popitem(last=False)

    def _run(self, key: K, mine: _Load[V], load: Callable[[], V]) -> V:
        try:
            mine.values.append(load())
        except BaseException as problem:
            # Whatever ends this thread, those who wait are not to end with it.
            mine.failure = problem if isinstance(problem, Exception) else RuntimeError("the load was interrupted")
            with self._lock:
                if self._loads.get(key) is mine:
                    del self._loads[key]
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
                self._loads.pop(key, None)

    def forget_where(self, matches: Callable[[K], bool]) -> None:
        """Forget the values of all keys that match."""
        with self._lock:
            for key in [*filter(matches, self._loads)]:
                del self._loads[key]


def _too_old(load: _Load[V], since: int | None) -> bool:
    return since is not None and load.started_at < since
