"""The way to Redis: quick to give up, quiet while it is away, back by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from shared.clock import MonotonicClock
from sync_server.plumbing.logs import LOG

T = TypeVar("T")

PATIENCE_S = 0.3
"""A cache that is slower than this is worse than none."""
REST_NS = 1_000_000_000
"""While Redis is away, one request a second tries it; the others go on without."""


class RedisLine:
    """One pool of connections; what is asked of a Redis that is away is answered by the caller's own `instead`."""

    def __init__(self, url: str, monotonic: MonotonicClock, prefix: str = "gatehouse") -> None:
        """Opens no connection yet."""
        self.client = Redis.from_url(
            url,
            socket_timeout=PATIENCE_S,
            socket_connect_timeout=PATIENCE_S,
            retry=Retry(NoBackoff(), 1),
            health_check_interval=15,
        )
        self.url = url
        self._monotonic = monotonic
        self._touched = f"{prefix}:public:line"
        self._away_until = 0
        self._away = False
        self._turn = threading.Lock()
        self.on_return: list[Callable[[Redis], None]] = []
        self.took: Callable[[float], object] = lambda _: None  # is told how many seconds each answer took

    def ask(self, question: Callable[[Redis], T], instead: T) -> T:
        """What Redis answers, or `instead` where it does not."""
        if not self._worth_asking():
            return instead
        try:
            if self._away:
                self._welcome()
            since = self._monotonic()
            answer = question(self.client)
            self.took((self._monotonic() - since) / 1e9)
        except (RedisError, OSError) as problem:
            self._lost(problem)
            return instead
        return answer

    @property
    def away(self) -> bool:
        """Whether the last try failed."""
        return self._away

    def close(self) -> None:
        """Give the connections back."""
        self.client.close()

    def _worth_asking(self) -> bool:
        if not self._away:
            return True
        with self._turn:
            now = self._monotonic()
            if now < self._away_until:
                return False
            self._away_until = now + REST_NS
            return True

    def _welcome(self) -> None:
        # A Redis that is full answers, and takes nothing: it is as good as away until there is room again.
        self.client.set(self._touched, b"", ex=1)
        for act in self.on_return:
            act(self.client)
        with self._turn:
            was_away, self._away = self._away, False
        if was_away:
            LOG.info("redis_back")

    def _lost(self, problem: Exception) -> None:
        with self._turn:
            was_away, self._away = self._away, True
            self._away_until = self._monotonic() + REST_NS
        if not was_away:
            LOG.warning("redis_away", problem=type(problem).__name__, meaning="everything works without it, slower")
