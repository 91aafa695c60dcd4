"""Compares cached maps and counters with the database now and then, and corrects open maps where they differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.plumbing.caching.cache import Cache
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.metrics import Metrics
from sync_server.plumbing.principals import ActionContext
from sync_server.seat_maps import queries, service
from sync_server.seat_maps.counters import OccupancyCounter, cache_key, count_now
from sync_server.seat_maps.map_cache import MapCache

RECENT_MS: Final = 2 * 3_600_000
INTERVAL_MS: Final = 60_000
IN_FLIGHT_MS: Final = 10_000


@dataclass(slots=True)
class MapChecker:
    """What differs in two checks running was missed; what differs once may only be in flight."""

    maps: MapCache  # kept up to date from the log, like those of every process
    cache: Cache
    metrics: Metrics
    _suspected: dict[str, dict[int, int]] = field(default_factory=dict)  # by event: the true state of each seat

    def check(self, session: Session, context: ActionContext) -> int:
        """Job: check every map that changed recently; the number of seats corrected."""
        return sum(
            self._check(session, organisation_id, event_id, context.now)
            for organisation_id, event_id in queries.recently_changed(session, context.now - RECENT_MS)
        )

    def _check(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> int:
        try:
            differing = self._differing(session, organisation_id, event_id, now)
        except NotFound:  # the event no longer has a layout
            return 0
        self._check_counters(session, organisation_id, event_id, now)
        before = self._suspected.get(event_id, {})
        missed = {seat for seat, state in differing.items() if before.get(seat) == state}
        self._suspected[event_id] = differing
        if missed:
            self._correct(session, organisation_id, event_id, missed, now)
        return len(missed)

    def _check_counters(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> None:
        """Sold counts change by sales only, never by the clock: an old count that differs has missed one."""
        cached = OccupancyCounter(self.cache, self.maps).counts(session, organisation_id, event_id, now)
        fresh = count_now(session, MapCache(self.cache), organisation_id, event_id, now)
        wrong = sum(abs(one.sold - other.sold) for one, other in zip(cached.zones, fresh.zones, strict=False))
        if wrong and cached.as_of < now - IN_FLIGHT_MS:
            LOG.warning("occupancy_corrected", event_id=event_id, organisation_id=organisation_id, places=wrong)
            self.metrics.seatmap_corrections.inc(wrong)
            self.cache.invalidate(cache_key(organisation_id, event_id))

    def _differing(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> dict[int, int]:
        with self.maps.snapshot(session, organisation_id, event_id, now) as snapshot:
            cached = bytes(snapshot.state.seats)
        with MapCache(self.cache).snapshot(session, organisation_id, event_id, now) as snapshot:
            fresh = bytes(snapshot.state.seats)
        if cached == fresh:
            return {}
        pairs = enumerate(zip(cached, fresh, strict=True), start=1)
        return {seat: after for seat, (before, after) in pairs if before != after}

    def _correct(self, session: Session, organisation_id: str, event_id: str, missed: set[int], now: Millis) -> None:
        LOG.warning("seat_map_corrected", event_id=event_id, organisation_id=organisation_id, seats=len(missed))
        self.metrics.seatmap_corrections.inc(len(missed))
        service.record_change(session, organisation_id, event_id, missed, now)
        self.cache.invalidate(cache_key(organisation_id, event_id))
