"""Picks the cache and the bus: through Redis where one is configured, within the process where none is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.clock import MonotonicClock
from shared.ids import Entropy
from sync_server.plumbing.bus import Bus, Hub
from sync_server.plumbing.cache import Cache, Count, NearCache

if TYPE_CHECKING:
    from sync_server.plumbing.redis_line import RedisLine

Loop = Callable[[threading.Event], None]
"""Something that runs on a thread of its own until the event is set."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """A cache and a bus, what keeps them in touch with other processes, and how to let go of them."""

    bus: Bus
    cache: Cache
    loops: tuple[Loop, ...] = ()
    close: Callable[[], None] = lambda: None
    line: RedisLine | None = None
    hears_others: Callable[[], bool] | None = None
    """Whether other processes are heard through Redis now; None without one."""


def choose(url: str | None, prefix: str, monotonic: MonotonicClock, entropy: Entropy, count: Count) -> Nearby:
    """With a Redis address both go through it, and do without it for as long as it is away."""
    if url is None:
        return Nearby(Hub(), NearCache(monotonic, count))
    from sync_server.plumbing.redis_bus import RedisBus
    from sync_server.plumbing.redis_cache import RedisCache
    from sync_server.plumbing.redis_line import RedisLine

    line = RedisLine(url, monotonic, prefix)
    bus = RedisBus(line, prefix, mark=entropy(8).hex())
    cache = NearCache(monotonic, count, behind=RedisCache(line, prefix, count), bus=bus)
    return Nearby(bus, cache, (bus.serve, cache.serve), line.close, line, bus.joined.is_set)
