"""The cache: seconds in the process, minutes in Redis, never the only copy of anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from shared.clock import MonotonicClock
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.messaging.bus import Bus, Notification
from sync_server.plumbing.telemetry.logs import LOG

FORGET = "cache:forget"
MAX_KEYS = 20_000

Load = Callable[[], bytes]
Count = Callable[[str, bool], None]
"""Called with the name of the tier, and whether it was a hit."""


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The key of a value; all keys of a family can be invalidated at once."""

    scope: str  # org:{<organisation>} or public: nothing is shared between organisations
    family: str  # event, events:summary, feed
    rest: str

    def __str__(self) -> str:
        """The key in Redis, without the prefix."""
        return f"{self.scope}:{self.family}:{self.rest}"


def organisation_key(organisation_id: str, family: str, rest: str) -> CacheKey:
    """A key of one organisation; the braces keep all its keys on one node of a Redis cluster."""
    return CacheKey(f"org:{{{organisation_id}}}", family, rest)


def public_key(family: str, rest: str) -> CacheKey:
    """A key of what everybody may see."""
    return CacheKey("public", family, rest)


@dataclass(frozen=True, slots=True)
class CacheLifetime:
    """How many seconds a value is cached."""

    local_s: float  # in this process
    redis_s: float = 0  # in Redis; 0 for not at all


SUMMARY = CacheLifetime(30, 600)  # lists and summaries of events
EVENT = CacheLifetime(15, 300)  # one event
FEED = CacheLifetime(5, 15)  # pages of the public feed
SHOP = CacheLifetime(1)  # what a crowd at a shop looks at: as soon as it changes, everybody sees it
CITIES = CacheLifetime(300, 3_600)  # suggestions


class Cache(Protocol):
    """Returns cached values, or loads them."""

    def fetch(self, key: CacheKey, lifetime: CacheLifetime, load: Load) -> bytes:
        """The cached value, or what `load` returns; its errors are raised."""
        ...

    def invalidate(self, *keys: CacheKey) -> None:
        """Drop these values; what is being loaded now is not cached."""
        ...

    def invalidate_family(self, scope: str, family: str) -> None:
        """Drop all values of a family in one scope."""
        ...


class LocalCache:
    """The cache of this process, with or without another cache behind it: one load at a time for each key."""

    def __init__(
        self, monotonic: MonotonicClock, count: Count, *, behind: Cache | None = None, bus: Bus | None = None
    ) -> None:
        """With a `bus`, other processes drop what this one invalidates."""
        self._behind, self._bus, self._count = behind, bus, count
        self._loads: SharedLoads[CacheKey, bytes] = SharedLoads(MAX_KEYS, monotonic)
        if bus is not None:
            bus.subscribe([FORGET], self._receive)

    def fetch(self, key: CacheKey, lifetime: CacheLifetime, load: Load) -> bytes:
        """The cached value, or the result of the load in progress, or of a load of its own."""
        loaded = False

        def fetch() -> bytes:
            nonlocal loaded
            loaded = True
            return self._behind.fetch(key, lifetime, load) if self._behind else load()

        expired_at = self._loads.now() - int(lifetime.local_s * 1e9)
        try:
            return self._loads.get(key, fetch, since=expired_at + 1)
        finally:
            self._count("near", not loaded)

    def invalidate(self, *keys: CacheKey) -> None:
        """Drop values here, in the cache behind, and in other processes."""
        LOG.debug("cache_forgotten", names=[str(key) for key in keys])
        if self._behind:
            self._behind.invalidate(*keys)
        self._loads.forget(*keys)
        self._publish([{"scope": key.scope, "family": key.family, "rest": key.rest} for key in keys])

    def invalidate_family(self, scope: str, family: str) -> None:
        """Drop values here, in the cache behind, and in other processes."""
        LOG.debug("cache_forgotten", place=scope, family=family)
        if self._behind:
            self._behind.invalidate_family(scope, family)
        self._loads.forget_where(lambda key: (key.scope, key.family) == (scope, family))
        self._publish([{"scope": scope, "family": family}])

    def _receive(self, notification: Notification | None) -> None:
        """Drop what other processes invalidate; where a notification may be missing, drop everything."""
        if notification is None:
            self._loads.forget_where(lambda _key: True)
        else:
            self._drop_invalidated(notification.body)

    def _drop_invalidated(self, body: Mapping[str, Any]) -> None:
        if "rest" in body:
            self._loads.forget(CacheKey(body["scope"], body["family"], body["rest"]))
        else:
            self._loads.forget_where(lambda key: (key.scope, key.family) == (body["scope"], body["family"]))

    def _publish(self, invalidated: list[dict[str, str]]) -> None:
        if self._bus is not None:
            self._bus.publish_all([Notification(FORGET, one) for one in invalidated])
