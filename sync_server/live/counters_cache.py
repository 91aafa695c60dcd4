"""Shares one query of an event's counters among everybody who watches it: a hundred open pages cost as much as one."""

from __future__ import annotations

from functools import partial

from flask import Flask

from sync_server.events import queries as events
from sync_server.live.event_counters import EventCounters, event_counters
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.parts import Parts

_EXTENSION = "gatehouse.counters_cache"


class CountersCache:
    """Counters queried a moment ago."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._loads: SharedLoads[tuple[str, str], EventCounters] = SharedLoads(1_000, parts.monotonic)

    def now(self) -> int:
        """The monotonic time, for `not_before`."""
        return self._loads.now()

    def counters(self, organisation_id: str, event_id: str, *, not_before: int) -> EventCounters:
        """The counters at that moment or later; NotFound for another organisation's event."""
        query = partial(self.query, organisation_id, event_id)
        return self._loads.get((organisation_id, event_id), query, since=not_before)

    def query(self, organisation_id: str, event_id: str) -> EventCounters:
        """The counters now, past the cache; NotFound for another organisation's event."""
        with self._parts.database.reading() as session:
            event = events.details(session, organisation_id, event_id)
            return event_counters(session, event, event.tickets_issued, self._parts.clock())


def counters_cache(app: Flask, parts: Parts) -> CountersCache:
    """The cache of this app."""
    cache: CountersCache | None = app.extensions.get(_EXTENSION)
    return cache or app.extensions.setdefault(_EXTENSION, CountersCache(parts))
