"""Chooses the cache and the bus: through Redis, through PostgreSQL, or within the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.clock import MonotonicClock
from shared.ids import Entropy
from sync_server.plumbing.caching.cache import Cache, Count, LocalCache
from sync_server.plumbing.messaging.bus import Bus, LocalBus
from sync_server.plumbing.messaging.shared_bus import SharedBus

if TYPE_CHECKING:
    from sync_server.plumbing.caching.redis_records import RedisRecords
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
    records: RedisRecords | None = None
    bus_connected: Callable[[], bool] | None = None
    """Whether the bus reaches other processes now; None where there are none."""

    def in_touch(self) -> bool:
        """Whether every process hears what another one publishes now."""
        return self.bus_connected is None or self.bus_connected()


def choose_backends(
    redis_url: str | None,
    prefix: str,
    monotonic: MonotonicClock,
    entropy: Entropy,
    count: Count,
    *,
    listen_url: str | None = None,
) -> Backends:
    """Cache and bus through Redis, or else through the PostgreSQL to listen to, or else within this process."""
    if redis_url is not None:
        return _through_redis(redis_url, prefix, monotonic, entropy, count)
    if listen_url is None:
        return Backends(LocalBus(), LocalCache(monotonic, count))
    from sync_server.plumbing.messaging.postgres_transport import PostgresTransport

    bus = SharedBus(PostgresTransport(listen_url), entropy(8).hex())
    cache = LocalCache(monotonic, count, bus=bus)
    return Backends(bus, cache, (bus.serve,), bus.close, bus_connected=bus.joined.is_set)


def _through_redis(url: str, prefix: str, monotonic: MonotonicClock, entropy: Entropy, count: Count) -> Backends:
    from sync_server.plumbing.caching.redis_cache import RedisCache
    from sync_server.plumbing.caching.redis_records import RedisRecords
    from sync_server.plumbing.messaging.redis_transport import RedisTransport
    from sync_server.plumbing.redis_connection import RedisConnection

    connection = RedisConnection(url, monotonic, prefix)
    bus = SharedBus(RedisTransport(connection, prefix), entropy(8).hex())
    shared = RedisCache(connection, prefix, count)
    cache = LocalCache(monotonic, count, behind=shared, bus=bus)
    records = RedisRecords(connection, shared, prefix, count)

    def close() -> None:
        bus.close()
        connection.close()

    return Backends(bus, cache, (bus.serve,), close, connection, records, bus.joined.is_set)
