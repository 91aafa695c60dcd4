"""The connection to Redis: short timeouts, one attempt a second while it is away, and one log line for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from shared.clock import MonotonicClock
from sync_server.plumbing.telemetry.logs import LOG

T = TypeVar("T")

TIMEOUT_S: float = 0.3
"""A cache slower than this is worse than none."""
RETRY_AFTER_NS = 1_000_000_000
"""While Redis is away, one request a second tries it; the others do without."""


class RedisConnection:
    """A connection pool; while Redis is away, each call returns the caller's own `instead`."""

    def __init__(self, url: str, monotonic: MonotonicClock, prefix: str = "gatehouse") -> None:
        self.client = Redis.from_url(
            url,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            retry=Retry(NoBackoff(), 1),
            health_check_interval=15,
        )
        self.url = url
        self._monotonic = monotonic
        self._probe_key = f"{prefix}:public:line"
        self._away_until = 0
        self._away = False
        self._lock = threading.Lock()
        self.on_reconnect: list[Callable[[Redis], None]] = []
        self.took: Callable[[float], object] = lambda _: None  # called with the seconds each answer took

    def ask(self, question: Callable[[Redis], T], instead: T) -> T:
        """The result of `question`, or `instead` where Redis does not answer."""
        if not self._may_try():
            return instead
        try:
            if self._away:
                self._reconnect()
            started = self._monotonic()
            answer = question(self.client)
            self.took((self._monotonic() - started) / 1e9)
        except (RedisError, OSError) as problem:
            self._lost(problem)
            return instead
        return answer

    @property
    def away(self) -> bool:
        """Whether the last attempt failed."""
        return self._away

    def close(self) -> None:
        """Close all connections."""
        self.client.close()

    def _may_try(self) -> bool:
        if not self._away:
            return True
        with self._lock:
            now = self._monotonic()
            if now < self._away_until:
                return False
            self._away_until = now + RETRY_AFTER_NS
            return True

    def _reconnect(self) -> None:
        # A Redis that is full answers but stores nothing: it counts as away until it takes a write.
        self.client.set(self._probe_key, b"", ex=1)
        for callback in self.on_reconnect:
            callback(self.client)
        with self._lock:
            was_away, self._away = self._away, False
        if was_away:
            LOG.info("redis_back")

    def _lost(self, problem: Exception) -> None:
        with self._lock:
            was_away, self._away = self._away, True
            self._away_until = self._monotonic() + RETRY_AFTER_NS
        if not was_away:
            LOG.warning("redis_away", problem=type(problem).__name__, meaning="everything works without it, slower")
