"""Caches and buses of several processes, connected or not, and what is needed to wait for them."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scripts.processes.ports import LOOPBACK, free_port
from sync_server.plumbing.backends import Backends, choose_backends
from sync_server.plumbing.caching.cache import CacheLifetime

LONG = CacheLifetime(local_s=3_000, redis_s=3_000)


def nowhere() -> str:
    """The address of a Redis that does not answer."""
    return f"redis://{LOOPBACK}:{free_port()}/0"


def eventually(true: Callable[[], object], what: str) -> None:
    """Wait until it is so; two minutes are a failure, also on a busy machine."""
    pause = threading.Event()
    for _ in range(2_400):
        if true():
            return
        pause.wait(0.05)
    raise AssertionError(f"never happened: {what}")


class Process:
    """What one server process has near it; its clock is set by hand."""

    def __init__(self, url: str | None, prefix: str = "gatehouse", *, listen_url: str | None = None) -> None:
        self.now_ns = 0
        self.looked: Counter[tuple[str, bool]] = Counter()
        self.backends: Backends = choose_backends(
            url, prefix, lambda: self.now_ns, os.urandom, self._count, listen_url=listen_url
        )
        self.cache, self.bus = self.backends.cache, self.backends.bus

    def _count(self, tier: str, known: bool) -> None:
        self.looked[tier, known] += 1

    def advance(self, seconds: float) -> None:
        self.now_ns += int(seconds * 1e9)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Its threads at work."""
        stop = threading.Event()
        threads = [threading.Thread(target=loop, args=(stop,)) for loop in self.backends.loops]
        for thread in threads:
            thread.start()
        yield
        stop.set()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()


class Source:
    """Where the truth is looked up; counts how often."""

    def __init__(self, value: bytes = b"first") -> None:
        self.value, self.loads = value, 0

    def __call__(self) -> bytes:
        self.loads += 1
        return self.value
