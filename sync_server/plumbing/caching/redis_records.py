"""Lists and records in Redis under names that other programs may read: a list of ids, and a hash for each of them.

Each hash carries the generation in which it was loaded, and each list has it beside it: what was invalidated meanwhile
is not used, whenever it is written. All keys of an organisation share its hash tag: one list reads many records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from redis import Redis

from sync_server.plumbing.caching.cache import CacheKey, Count
from sync_server.plumbing.caching.redis_cache import RedisCache
from sync_server.plumbing.redis_connection import RedisConnection

Record = Mapping[str, str]
"""The fields of a hash; what has no value has no field."""
STAMP: Final = "generation"
LIFETIME_S: Final = 1_200


class RedisRecords:
    """Records that are cached one by one; while Redis is away, they are loaded each time."""

    def __init__(self, connection: RedisConnection, cache: RedisCache, prefix: str, count: Count) -> None:
        """`cache` knows what was invalidated."""
        self._connection, self._cache, self._prefix, self._count = connection, cache, prefix, count

    def fetch(
        self, listed: CacheKey, of_record: Callable[[str], CacheKey], load: Callable[[], Sequence[Record]]
    ) -> Sequence[Record]:
        """The records of a list, by their field `id`, from Redis or from `load`."""
        stamp: bytes | None = self._connection.ask(lambda redis: self._stamp(redis, listed), None)
        found = None
        if stamp is not None:
            found = self._connection.ask(lambda redis: self._read(redis, listed, of_record, stamp), None)
        self._count("far", found is not None)
        if found is not None:
            return found
        records = load()
        if stamp is not None:
            self._connection.ask(lambda redis: self._write(redis, listed, of_record, stamp, records), None)
        return records

    def drop(self, *keys: CacheKey) -> None:
        """Remove lists and records: other programs look at no generation."""
        names = [self._name(key) for key in keys]
        self._connection.ask(lambda redis: redis.delete(*names), None)

    def _stamp(self, redis: Redis, listed: CacheKey) -> bytes:
        # Never empty: a hash without a stamp would pass.
        return b"g" + self._cache.stamp(redis, listed.scope, listed.family)

    def _read(
        self, redis: Redis, listed: CacheKey, of_record: Callable[[str], CacheKey], stamp: bytes
    ) -> Sequence[Record] | None:
        with redis.pipeline(transaction=False) as pipeline:
            pipeline.get(f"{self._name(listed)}#{STAMP}")
            pipeline.lrange(self._name(listed), 0, -1)
            made, ids = pipeline.execute()
        if made != stamp:
            return None
        with redis.pipeline(transaction=False) as pipeline:
            for id in ids:
                pipeline.hgetall(self._name(of_record(id.decode())))
            stored = pipeline.execute()
        records = [{name.decode(): value.decode() for name, value in each.items()} for each in stored]
        if any(each.pop(STAMP, "").encode() != stamp for each in records):
            return None
        return records

    def _write(
        self,
        redis: Redis,
        listed: CacheKey,
        of_record: Callable[[str], CacheKey],
        stamp: bytes,
        records: Sequence[Record],
    ) -> None:
        name = self._name(listed)
        with redis.pipeline(transaction=True) as pipeline:
            pipeline.delete(name)
            if records:
                pipeline.rpush(name, *(record["id"] for record in records))
                pipeline.expire(name, LIFETIME_S)
            pipeline.set(f"{name}#{STAMP}", stamp, ex=LIFETIME_S)
            for record in records:
                key = self._name(of_record(record["id"]))
                pipeline.delete(key)
                pipeline.hset(key, mapping=dict(record) | {STAMP: stamp.decode()})  # type: ignore[arg-type]  # of text
                pipeline.expire(key, LIFETIME_S)
            pipeline.execute()

    def _name(self, key: CacheKey) -> str:
        return f"{self._prefix}:{key}"
