"""The cache that all processes share, in Redis.

Every value is stored with the generations that its key, its family and the whole cache had before it was loaded. To
invalidate is to raise a generation: values with an older one are ignored, whenever they are written.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from redis import Redis

from sync_server.plumbing.caching.cache import CacheKey, CacheLifetime, Count, Load
from sync_server.plumbing.redis_connection import RedisConnection

MAX_TTL_S = 3_600
GENERATION_TTL_S = 2 * MAX_TTL_S
"""Longer than any value, so that no value outlives the generation that invalidates it."""

_Read = tuple[bytes | None, bytes]


class RedisCache:
    """A cache whose Redis may come and go: what could not be invalidated while it was away is not used after."""

    def __init__(self, connection: RedisConnection, prefix: str, count: Count) -> None:
        self._connection, self._prefix, self._count = connection, prefix, count
        self._must_clear = threading.Event()  # an invalidation failed while Redis was away
        connection.on_reconnect.append(self._clear_if_needed)

    def fetch(self, key: CacheKey, lifetime: CacheLifetime, load: Load) -> bytes:
        """The value in Redis, or what `load` returns."""
        if lifetime.redis_s <= 0:
            return load()
        no_answer: _Read | None = None
        read = self._connection.ask(lambda redis: self._read(redis, key), no_answer)
        if read is not None and read[0] is not None:
            self._count("far", True)
            return read[0]
        self._count("far", False)
        value = load()
        if read is not None:
            self._connection.ask(lambda redis: self._write(redis, key, read[1] + value, lifetime), None)
        return value

    def invalidate(self, *keys: CacheKey) -> None:
        """Drop these values, for every process."""
        self._raise_generations(_generation(str(key)) for key in keys)

    def invalidate_family(self, scope: str, family: str) -> None:
        """Drop all values of a family in one scope."""
        self._raise_generations([_generation(f"{scope}:{family}")])

    def stamp(self, redis: Redis, scope: str, family: str) -> bytes:
        """The generations of a family: what was stored under others is not used."""
        raised: Any = redis.mget([self._key(_generation(f"{scope}:{family}")), self._key(_generation("all"))])
        return b".".join(generation or b"" for generation in raised)

    def _read(self, redis: Redis, key: CacheKey) -> _Read:
        family = f"{key.scope}:{key.family}"
        with redis.pipeline(transaction=False) as pipeline:
            for each in (str(key), _generation(str(key)), _generation(family), _generation("all")):
                pipeline.get(self._key(each))
            stored, *generations = pipeline.execute()
        stamp = b".".join(generation or b"" for generation in generations) + b"|"
        value = stored.removeprefix(stamp) if stored is not None and stored.startswith(stamp) else None
        return value, stamp

    def _write(self, redis: Redis, key: CacheKey, value: bytes, lifetime: CacheLifetime) -> None:
        redis.set(self._key(str(key)), value, px=int(min(lifetime.redis_s, MAX_TTL_S) * 1000))

    def _raise_generations(self, keys: Iterable[str]) -> None:
        raised = list(keys)
        if not self._connection.ask(lambda redis: self._raise(redis, raised), instead=False):
            self._must_clear.set()

    def _raise(self, redis: Redis, keys: list[str]) -> bool:
        with redis.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.incr(self._key(key))
                pipeline.expire(self._key(key), GENERATION_TTL_S)
            pipeline.execute()
        return True

    def _clear_if_needed(self, redis: Redis) -> None:
        if self._must_clear.is_set():
            redis.incr(self._key(_generation("all")))
            self._must_clear.clear()

    def _key(self, rest: str) -> str:
        return f"{self._prefix}:{rest}"


def _generation(of: str) -> str:
    return f"{of}#turn"
