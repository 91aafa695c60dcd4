"""Caches holds in the process and in Redis, so that most latecomers are refused without asking the database.

Never the truth: only the database holds a seat, and only the database, or both caches in agreement, refuse one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache
from msgspec import Struct

from shared.clock import Millis
from sync_server.events.days.chosen_days import EVERY_DAY, overlap
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.messaging.bus import Bus

if TYPE_CHECKING:
    from redis import Redis

    from sync_server.plumbing.redis_connection import RedisConnection

FREED: Final = "holds:freed"
MAX_CACHED: Final = 200_000
BATCH_SIZE: Final = 500

Key = tuple[str, str, int]
"""Organisation, event, seat number."""


class CachedHold(Struct, frozen=True):
    """A hold of a seat, as the caches have it."""

    organisation_id: str
    event_id: str
    seat: int
    seat_id: str
    hold_id: str
    bearer_id: str
    until: Millis
    changed: bool = False  # its end has moved since it was made
    days: int = EVERY_DAY  # as a bitmap

    @property
    def key(self) -> Key:
        """The key in the cache of this process."""
        return self.organisation_id, self.event_id, self.seat


class LocalHolds:
    """The holds this process made, and the seats it saw held by others, until they run out.

    Of each seat the latest hold, whatever its days: where that is for other days, the database is asked.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: LRUCache[Key, CachedHold] = LRUCache(MAX_CACHED)
        self._seen: LRUCache[Key, Millis] = LRUCache(MAX_CACHED)

    def keep(self, hold: CachedHold) -> None:
        """Cache a hold."""
        with self._lock:
            self._cached[hold.key] = hold

    def find(self, key: Key, days: int, now: Millis) -> CachedHold | None:
        """The hold of that seat for one of these days, as far as this process knows."""
        with self._lock:
            found = self._cached.get(key)
        return found if found is not None and found.until > now and overlap(found.days, days) else None

    def see(self, key: Key, until: Millis) -> None:
        """Note that a request was refused this seat because it is held."""
        with self._lock:
            self._seen[key] = until

    def expects(self, key: Key, now: Millis) -> bool:
        """Whether the seat is probably held: worth a short query before the long one."""
        with self._lock:
            cached = self._cached.get(key)
            return max(cached.until if cached is not None else 0, self._seen.get(key, 0)) > now

    def forget(self, keys: Iterable[Key]) -> None:
        """Drop these: they are free again, or sold."""
        with self._lock:
            for key in keys:
                self._cached.pop(key, None)
                self._seen.pop(key, None)

    def forget_all(self) -> None:
        """Drop everything: news may have been missed."""
        with self._lock:
            self._cached.clear()
            self._seen.clear()


class RedisHolds:
    """Holds of all processes, in Redis keys that other programs may read; gives up quickly while Redis is away."""

    def __init__(self, connection: RedisConnection, prefix: str) -> None:
        self._connection, self._prefix = connection, prefix
        self._unsent: deque[CachedHold] = deque(maxlen=MAX_CACHED)  # ended while Redis was away
        connection.on_reconnect.append(self._catch_up)

    def keep(self, holds: Sequence[CachedHold], now: Millis) -> bool:
        """Store holds until they run out; False where Redis did not answer."""
        return self._connection.ask(lambda redis: self._keep(redis, holds, now), False)

    def is_complete(self) -> bool:
        """Whether Redis has all holds, as far as it answers: not where it started empty, or was away."""
        return self._connection.ask(lambda redis: bool(redis.exists(self._complete_key)), True)

    def mark_complete(self) -> None:
        """Note that Redis has all holds."""
        self._connection.ask(lambda redis: redis.set(self._complete_key, b"1"), None)

    def agrees(self, hold: CachedHold) -> bool:
        """Whether Redis has the same hold of that seat; no answer counts as no."""
        nothing: bytes | None = None
        found = self._connection.ask(
            lambda redis: _bytes(redis.get(self._seat(hold.organisation_id, hold.seat_id))), nothing
        )
        return found is not None and found.startswith(hold.hold_id.encode())

    def forget(self, holds: Iterable[CachedHold]) -> None:
        """Drop these: they are free again, or sold."""
        ended = list(holds)
        if ended and not self._connection.ask(lambda redis: self._forget(redis, ended), False):
            self._unsent.extend(ended)
            if not self._connection.away:  # it came back just now
                self._connection.ask(self._catch_up, None)

    def _keep(self, redis: Redis, holds: Sequence[CachedHold], now: Millis) -> bool:
        before = {hold.hold_id: self._members(redis, hold) for hold in holds if hold.changed}
        with redis.pipeline(transaction=False) as pipeline:
            for hold in holds:
                ttl_s = max(1, -(-(hold.until - now) // 1000))
                if old := before.get(hold.hold_id):
                    pipeline.zrem(self._holds(hold), *old)
                pipeline.zadd(self._holds(hold), {_member(hold): hold.until // 1000})
                pipeline.expire(self._holds(hold), ttl_s + 3600, gt=False)
                value = f"{hold.hold_id}:{hold.bearer_id}:{hold.until // 1000}"
                pipeline.set(self._seat(hold.organisation_id, hold.seat_id), value, ex=ttl_s)
                pipeline.delete(self._event(hold.organisation_id, hold.event_id, "occupancy"))
            pipeline.execute()
        return True

    def _members(self, redis: Redis, hold: CachedHold) -> list[bytes]:
        """The members of the event's set for this hold, by its end so far."""
        value = _bytes(redis.get(self._seat(hold.organisation_id, hold.seat_id)))
        if value is None or not value.startswith(hold.hold_id.encode()):
            return []
        end = value.rpartition(b":")[2].decode()
        there: Any = redis.zrange(self._holds(hold), end, end, byscore=True)
        return [member for member in there if member.startswith(f"{hold.seat_id}:{hold.hold_id}:".encode())]

    def _catch_up(self, redis: Redis) -> None:
        """Drop the holds that ended while Redis was away, and have the others written again."""
        redis.delete(self._complete_key)
        while batch := list(islice(self._unsent, BATCH_SIZE)):
            self._forget(redis, batch)
            for _ in batch:
                self._unsent.popleft()

    def _forget(self, redis: Redis, ended: list[CachedHold]) -> bool:
        present = [
            _bytes(value) for value in redis.mget([self._seat(hold.organisation_id, hold.seat_id) for hold in ended])
        ]
        with redis.pipeline(transaction=False) as pipeline:
            for hold, value in zip(ended, present, strict=True):
                pipeline.zrem(self._holds(hold), _member(hold))
                # The key is the venue's seat, which may be held for another event by now: leave that hold.
                if value is not None and value.startswith(hold.hold_id.encode()):
                    pipeline.delete(self._seat(hold.organisation_id, hold.seat_id))
            for organisation_id, event_id in {(hold.organisation_id, hold.event_id) for hold in ended}:
                pipeline.delete(self._event(organisation_id, event_id, "occupancy"))
            pipeline.execute()
        return True

    @property
    def _complete_key(self) -> str:
        return f"{self._prefix}:public:holds_whole"

    def _holds(self, hold: CachedHold) -> str:
        return self._event(hold.organisation_id, hold.event_id, "seat_holds")

    def _event(self, organisation_id: str, event_id: str, what: str) -> str:
        return f"{self._prefix}:org:{{{organisation_id}}}:event:{event_id}:{what}"

    def _seat(self, organisation_id: str, seat_id: str) -> str:
        return f"{self._prefix}:org:{{{organisation_id}}}:seat:{seat_id}:hold"


def _member(hold: CachedHold) -> str:
    return f"{hold.seat_id}:{hold.hold_id}:{hold.bearer_id}:{iso(hold.until)}"


def _bytes(value: Any) -> bytes | None:
    return value if isinstance(value, bytes) else None


class HoldCache:
    """The cache of this process and the one in Redis; other processes learn on the bus which holds ended."""

    def __init__(self, bus: Bus, redis_holds: RedisHolds | None, *, alone: bool) -> None:
        """`alone`: no other process writes to this database, so that the local cache is enough."""
        self.local, self.redis = LocalHolds(), redis_holds
        self._bus, self._alone = bus, alone
        self._freed = bus.listen([FREED])

    def keep(self, hold: CachedHold, now: Millis) -> None:
        """Cache a hold, after its commit."""
        self.local.keep(hold)
        if self.redis is not None:
            self.redis.keep([hold], now)

    def holder(self, key: Key, days: int, now: Millis) -> CachedHold | None:
        """The certain hold of that seat for one of these days, or None where the database must be asked."""
        self._receive()
        found = self.local.find(key, days, now)
        if found is None or self._alone:
            return found
        if self.redis is None:
            return None
        if self.redis.agrees(found):
            return found
        self.local.forget([key])
        return None

    def forget(self, holds: Iterable[CachedHold]) -> None:
        """Drop holds, after the commit that ended them, here and in other processes."""
        ended = list(holds)
        self.local.forget(hold.key for hold in ended)
        if self.redis is not None:
            self.redis.forget(ended)
            self._bus.publish(FREED, {"keys": [list(hold.key) for hold in ended]})

    def _receive(self) -> None:
        """Drop what other processes have ended since the last call."""
        if self._freed.is_quiet:
            return
        for note in self._freed.wait(0):
            self.local.forget(
                (str(organisation_id), str(event_id), int(seat))
                for organisation_id, event_id, seat in note.body["keys"]
            )
        if self._freed.missed():
            self.local.forget_all()
