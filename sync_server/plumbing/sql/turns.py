"""Threads that want the same: the first leads and serves all that wait meanwhile, then one of the rest leads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

W = TypeVar("W")
R = TypeVar("R")


class Waiting(Generic[W, R]):
    """What one thread wants, and its result."""

    __slots__ = ("_turn", "done", "failure", "result", "wanted")

    def __init__(self, wanted: W) -> None:
        self.wanted = wanted
        self.done = False
        self.result: R | None = None
        self.failure: BaseException | None = None
        self._turn = threading.Lock()  # an Event would make three objects and several locks of it
        self._turn.acquire()

    def wait(self) -> None:
        """Wait until it is done, or this thread is the next to lead."""
        self._turn.acquire()

    def wake(self) -> None:
        """End the wait."""
        self._turn.release()


Batch = Sequence[Waiting[W, R]]


class Queue(Generic[W, R]):
    """Who waits. A queue with conditions of its own overrides `admits`."""

    def __init__(self, most: int) -> None:
        """At most so many are served together: others wait for all of them."""
        self._most = most
        self.waiting: deque[Waiting[W, R]] = deque()

    def __len__(self) -> int:
        """How many wait."""
        return len(self.waiting)

    def admits(self, _wanted: W, /) -> bool:
        """Whether this may wait here; called under the lock of the turns, and followed by `append` if so."""
        return True

    def append(self, waiting: Waiting[W, R]) -> None:
        """Wait behind all others."""
        self.waiting.append(waiting)

    def first(self) -> Waiting[W, R] | None:
        """Who waits longest."""
        return self.waiting[0] if self.waiting else None

    def take(self) -> list[Waiting[W, R]]:
        """Those who are served next."""
        return [self.waiting.popleft() for _ in range(min(self._most, len(self.waiting)))]


class Turns(Generic[W, R]):
    """Lets one thread serve a batch at a time, and wakes those who were served."""

    def __init__(
        self, queue: Queue[W, R], serve: Callable[[Callable[[], Batch[W, R]]], None], *, gather_s: float = 0
    ) -> None:
        """`serve` calls what it is given for the batch that it then serves: as late as it can, so that more join.

        In a rush, when the last batch was of several, as many are waited for, so long at most.
        """
        self.queue, self._serve, self._gather_s = queue, serve, gather_s
        self.busy = False  # somebody leads
        self._gathering, self._expected = False, 1
        self._lock, self._complete = threading.Lock(), threading.Lock()
        self._complete.acquire()

    def run(self, wanted: W) -> Waiting[W, R] | None:
        """What was served, in whichever thread; None where the queue does not admit it."""
        waiting: Waiting[W, R] = Waiting(wanted)  # `Waiting[W, R](…)` costs ten times as much
        with self._lock:
            if not self.queue.admits(wanted):
                return None
            self.queue.append(waiting)
            leads, self.busy = not self.busy, True
            if self._gathering and len(self.queue) >= self._expected:
                self._gathering = False
                self._complete.release()
        if not leads:
            waiting.wait()
        if not waiting.done:
            self._lead()
        return waiting

    def _lead(self) -> None:
        batch: list[Waiting[W, R]] = []

        def take() -> Batch[W, R]:
            self._gather()
            with self._lock:
                batch.extend(self.queue.take())
                self._expected = len(batch)
            return batch

        try:
            self._serve(take)
        finally:
            for waiting in batch:
                waiting.done = True
            with self._lock:
                next_leader = self.queue.first()
                self.busy = next_leader is not None
            if next_leader is not None:  # first, so that the next batch is under way while these are answered
                next_leader.wake()
            for waiting in batch:
                waiting.wake()

    def _gather(self) -> None:
        """Wait for as many as were served last."""
        with self._lock:
            missing = self._gathering = bool(self._gather_s) and len(self.queue) < self._expected
        if not missing or self._complete.acquire(timeout=self._gather_s):
            return
        with self._lock:
            if not self._gathering:  # the last of them came when the time was over
                self._complete.acquire()
            self._gathering = False
