"""Shares one query of an event's counters among everybody who watches it: a hundred open pages cost as much as one."""

from __future__ import annotations

import threading

from cachetools import LRUCache
from flask import Flask

from sync_server.events import queries as events
from sync_server.live.event_counters import EventCounters, event_counters
from sync_server.plumbing.parts import Parts

_EXTENSION = "gatehouse.counters_cache"


class _LatestCounters:
    """The latest counters of one event, and when their query started."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.counters: EventCounters | None = None
        self.started_at = 0


class CountersCache:
    """Counters queried a moment ago."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._latest: LRUCache[tuple[str, str], _LatestCounters] = LRUCache(1_000)
        self._lock = threading.Lock()

    def now(self) -> int:
        """The monotonic time, for `not_before`."""
        return self._parts.monotonic()

    def counters(self, organisation_id: str, event_id: str, *, not_before: int) -> EventCounters:
        """The counters at that moment or later; NotFound for another organisation's event."""
        with self._lock:
            latest = self._latest.setdefault((organisation_id, event_id), _LatestCounters())
        with latest.lock:
            if latest.counters is None or latest.started_at < not_before:
                started_at = self.now()
                latest.counters = self.query(organisation_id, event_id)
                latest.started_at = started_at
            return latest.counters

    def query(self, organisation_id: str, event_id: str) -> EventCounters:
        """The counters now, past the cache; NotFound for another organisation's event."""
        with self._parts.database.reading() as session:
            event = events.details(session, organisation_id, event_id)
            return event_counters(session, event, self._parts.clock())


def counters_cache(app: Flask, parts: Parts) -> CountersCache:
    """The cache of this app."""
    cache: CountersCache | None = app.extensions.get(_EXTENSION)
    return cache or app.extensions.setdefault(_EXTENSION, CountersCache(parts))
