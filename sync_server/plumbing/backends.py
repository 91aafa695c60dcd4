"""Chooses the cache and the bus: through Redis where one is configured, within the process where none is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.clock import MonotonicClock
from shared.ids import Entropy
from sync_server.plumbing.caching.cache import Cache, Count, LocalCache
from sync_server.plumbing.messaging.bus import Bus, LocalBus

if TYPE_CHECKING:
    from sync_server.plumbing.redis_connection import RedisConnection

Loop = Callable[[threading.Event], None]
"""Runs in a thread of its own until the event is set."""


@dataclass(frozen=True, slots=True)
class Backends:
    """The cache and the bus, the loops they need, and how to close them."""

    bus: Bus
    cache: Cache
    loops: tuple[Loop, ...] = ()
    close: Callable[[], None] = lambda: None
    connection: RedisConnection | None = None
    bus_connected: Callable[[], bool] | None = None
    """Whether the bus reaches other processes now; None without Redis."""


def choose_backends(
    url: str | None, prefix: str, monotonic: MonotonicClock, entropy: Entropy, count: Count
) -> Backends:
    """Cache and bus for a Redis URL, which do without Redis while it is away; None for within the process."""
    if url is None:
        return Backends(LocalBus(), LocalCache(monotonic, count))
    from sync_server.plumbing.caching.redis_cache import RedisCache
    from sync_server.plumbing.messaging.redis_bus import RedisBus
    from sync_server.plumbing.redis_connection import RedisConnection

    connection = RedisConnection(url, monotonic, prefix)
    bus = RedisBus(connection, prefix, mark=entropy(8).hex())
    cache = LocalCache(monotonic, count, behind=RedisCache(connection, prefix, count), bus=bus)
    return Backends(bus, cache, (bus.serve, cache.serve), connection.close, connection, bus.joined.is_set)
