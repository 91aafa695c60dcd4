"""Counts how full an event is: by the map that follows the log of seats, and without a layout by what was sold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.events.rules import effective_capacity
from sync_server.holds.occupancy import place_counts
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.caching.cache import Cache, CacheKey, CacheLifetime, organisation_key
from sync_server.plumbing.database import Database
from sync_server.seat_maps.map_cache import MapCache
from sync_server.seat_maps.map_inputs import load_inputs
from sync_server.seat_maps.occupancy import WHOLE_EVENT, EventOccupancy, shown, with_percents
from sync_server.seating.live_seats import ZoneOccupancy

LIFETIME: Final = CacheLifetime(local_s=2, redis_s=60)
"""Entries are invalidated whenever a seat is touched, and not used once a hold has run out."""
_READERS: Final = False, True
"""Everybody, and organisers."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The occupancy of an event, and the names of its zones."""

    occupancy: EventOccupancy
    names: Mapping[int, str]


def cache_key(organisation_id: str, event_id: str) -> CacheKey:
    """The key to invalidate whenever a seat of the event is touched."""
    return organisation_key(organisation_id, "event", f"{event_id}:occupancy")


def count(database: Database, maps: MapCache, organisation_id: str, event_id: str, now: Millis) -> Counted:
    """How full an event is now; NotFound for another organisation's event."""
    with database.reading() as session:
        inputs, row = load_inputs(session, event_id), events.event(session, organisation_id, event_id)
        total = effective_capacity(row.capacity, row.venue_capacity, row.layout_capacity)
        if inputs.source.layout_id is None:
            places = place_counts(session, organisation_id, event_id, now)
            zone = ZoneOccupancy(WHOLE_EVENT, total, places.held.get(WHOLE_EVENT, 0), row.tickets_issued)
            return Counted(EventOccupancy(now, total, (zone,), places.until), {WHOLE_EVENT: ""})
    with maps.snapshot(inputs, organisation_id, now) as snapshot:
        live = snapshot.state
        names = {number: zone.name for number, zone in live.plan.zones.items()}
        return Counted(EventOccupancy(live.as_of, total, tuple(live.zones()), live.next_end), names)


def payload(counted: Counted, *, organiser: bool) -> dict[str, Any]:
    """The JSON that a reader gets."""
    occupancy = counted.occupancy
    zones = [
        {"zone": one.number, "name": counted.names[one.number], **with_percents(shown(one, organiser=organiser))}
        for one in occupancy.zones
    ]
    return {"as_of": iso(occupancy.as_of), **with_percents(shown(occupancy, organiser=organiser)), "zones": zones}


@dataclass(frozen=True, slots=True)
class OccupancyCounter:
    """Counts through the cache."""

    database: Database
    cache: Cache
    maps: MapCache

    def payload(self, organisation_id: str, event_id: str, now: Millis, *, organiser: bool) -> Mapping[str, Any]:
        """How full an event is, as JSON; NotFound for another organisation's event."""

        def load() -> bytes:
            counted = count(self.database, self.maps, organisation_id, event_id, now)
            return orjson.dumps([counted.occupancy.next_end, *(payload(counted, organiser=each) for each in _READERS)])

        key = cache_key(organisation_id, event_id)
        next_end, *payloads = orjson.loads(self.cache.fetch(key, LIFETIME, load))
        if next_end is not None and next_end <= now:
            self.cache.invalidate(key)
            _, *payloads = orjson.loads(self.cache.fetch(key, LIFETIME, load))
        return cast(Mapping[str, Any], payloads[organiser])
