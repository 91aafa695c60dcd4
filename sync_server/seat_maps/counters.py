"""How full an event is, in numbers and percentages: counted once, then cached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events import queries as events
from sync_server.events import rules
from sync_server.holds import occupancy
from sync_server.holds.occupancy_shown import shown_counts
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.caching.cache import Cache, CacheKey, CacheLifetime, organisation_key
from sync_server.plumbing.database import Database
from sync_server.seat_maps.map_cache import MapCache
from sync_server.seat_maps.map_inputs import load_inputs
from sync_server.seating.live_seats import ZoneOccupancy

LIFETIME: Final = CacheLifetime(local_s=2, redis_s=60)
"""Entries are invalidated whenever a seat is touched; the lifetime is for holds that expire."""
WHOLE_EVENT: Final = 0
"""The zone of an event without a layout."""


@dataclass(frozen=True, slots=True)
class ZoneCount:
    """Places of a zone, or of the whole event."""

    zone: int
    name: str
    total: int
    held: int
    sold: int


@dataclass(frozen=True, slots=True)
class OccupancyCounts:
    """All zones of an event at one moment."""

    as_of: Millis
    zones: tuple[ZoneCount, ...]

    def packed(self) -> bytes:
        """The cached form."""
        return orjson.dumps({"as_of": self.as_of, "zones": [asdict(zone) for zone in self.zones]})

    @classmethod
    def unpacked(cls, text: bytes) -> OccupancyCounts:
        """The inverse of `packed`."""
        stored = orjson.loads(text)
        return cls(stored["as_of"], tuple(ZoneCount(**zone) for zone in stored["zones"]))


def cache_key(organisation_id: str, event_id: str) -> CacheKey:
    """The key to invalidate whenever a seat of the event is touched."""
    return organisation_key(organisation_id, "event", f"{event_id}:occupancy")


@dataclass(frozen=True, slots=True)
class OccupancyCounter:
    """Counts through the cache."""

    database: Database
    cache: Cache
    maps: MapCache

    def counts(self, organisation_id: str, event_id: str, now: Millis) -> OccupancyCounts:
        """How full an event is; NotFound for another organisation's event."""
        key = cache_key(organisation_id, event_id)
        packed = self.cache.fetch(
            key, LIFETIME, lambda: count_now(self.database, self.maps, organisation_id, event_id, now).packed()
        )
        return OccupancyCounts.unpacked(packed)


def count_now(database: Database, maps: MapCache, organisation_id: str, event_id: str, now: Millis) -> OccupancyCounts:
    """How full an event is, past the cache."""
    with database.reading() as session:
        inputs, row = load_inputs(session, event_id), events.event(session, organisation_id, event_id)
    try:
        with maps.snapshot(inputs, organisation_id, now) as snapshot:
            names = {number: zone.name for number, zone in snapshot.state.plan.zones.items()}
            zones = tuple(_count(zone, names) for zone in snapshot.state.zones())
            return OccupancyCounts(snapshot.state.as_of, zones)
    except NotFound:
        with database.reading() as session:
            held = occupancy.place_counts(session, organisation_id, event_id, now).held.get(WHOLE_EVENT, 0)
        total = rules.effective_capacity(row.capacity, row.venue_capacity)
        return OccupancyCounts(now, (ZoneCount(WHOLE_EVENT, "", total, held, row.tickets_issued),))


def _count(zone: ZoneOccupancy, names: dict[int, str]) -> ZoneCount:
    return ZoneCount(zone.number, names[zone.number], zone.capacity, zone.held, zone.sold)


def payload(counts: OccupancyCounts, *, organiser: bool) -> dict[str, Any]:
    """The JSON that readers get: only organisers can tell held from sold."""
    zones = [{"zone": one.zone, "name": one.name, **_shares([one], organiser=organiser)} for one in counts.zones]
    return {"as_of": iso(counts.as_of), **_shares(counts.zones, organiser=organiser), "zones": zones}


def _shares(zones: Iterable[ZoneCount], *, organiser: bool) -> dict[str, Any]:
    counts = list(zones)
    total, held, sold = (sum(getattr(zone, field) for zone in counts) for field in ("total", "held", "sold"))
    left = sum(max(0, zone.total - zone.held - zone.sold) for zone in counts)
    return shown_counts(total, left, held, sold, organiser=organiser)
