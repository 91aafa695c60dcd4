"""Counts how full an event is: by the map that follows the log of seats, and without a layout by what was sold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import orjson
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.events.rules import Mark, effective_capacity, mark
from sync_server.holds import queries
from sync_server.holds.occupancy import place_counts
from sync_server.holds.taking.places import by_day
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
    days: tuple[str, ...] = ()  # that it is about; none at an event of one day
    mark: Mark | None = None  # of the event, which may change without its seats


def cache_key(organisation_id: str, event_id: str) -> CacheKey:
    """The key to invalidate whenever a seat of the event is touched."""
    return organisation_key(organisation_id, "event", f"{event_id}:occupancy")


def count(  # noqa: PLR0917 - whose, of which day, and when
    database: Database, maps: MapCache, organisation_id: str, event_id: str, day: str, now: Millis
) -> Counted:
    """How full an event is now, on a day or (for "") in so far as all days count.

    NotFound for another organisation's event, or a day that it does not have.
    """
    most: int | None = None
    with database.reading() as session:
        inputs, row = load_inputs(session, event_id), events.event(session, organisation_id, event_id)
        days, total = inputs.days(day), effective_capacity(row.capacity, row.venue_capacity, row.layout_capacity)
        if inputs.source.layout_id is None:
            return replace(_without_layout(session, row, days, total, now), mark=mark(row))
        if len(inputs.dates) > 1 and total < row.layout_capacity:
            held, issued = queries.held(session, organisation_id, event_id, now), queries.issued_by_day(session, row)
            most = max(held[one] + issued.get(one, 0) for one in days.numbers)
    with maps.snapshot(inputs, organisation_id, now, days) as snapshot:
        live = snapshot.state
        names = {number: zone.name for number, zone in live.plan.zones.items()}
        occupancy = EventOccupancy(live.as_of, total, tuple(live.zones()), live.next_end, most)
        return Counted(occupancy, names, days.names, mark(inputs))


def _without_layout(session: Session, event: events.Event, days: ChosenDays, total: int, now: Millis) -> Counted:
    """The fullest of these days counts."""
    found, issued = by_day(session, event.organisation_id, event.id, now), queries.issued_by_day(session, event)
    held = {day: counts.held.get(WHOLE_EVENT, 0) for day, counts in found.items()}
    fullest = max(days.numbers, key=lambda day: held.get(day, 0) + issued.get(day, 0))
    zone = ZoneOccupancy(WHOLE_EVENT, total, held.get(fullest, 0), issued.get(fullest, 0))
    until = place_counts(session, event.organisation_id, event.id, now, days.bits).until
    return Counted(EventOccupancy(now, total, (zone,), until), {WHOLE_EVENT: ""}, days.names)


def payload(counted: Counted, *, organiser: bool) -> dict[str, Any]:
    """The JSON that a reader gets."""
    occupancy = counted.occupancy
    zones = [
        {"zone": one.number, "name": counted.names[one.number], **with_percents(shown(one, organiser=organiser))}
        for one in occupancy.zones
    ]
    counts = with_percents(shown(occupancy, organiser=organiser))
    days = {"days": list(counted.days)} if counted.days else {}
    return {"as_of": iso(occupancy.as_of), **counts, "zones": zones, **days}


@dataclass(frozen=True, slots=True)
class OccupancyCounter:
    """Counts through the cache."""

    database: Database
    cache: Cache
    maps: MapCache

    def payload(
        self, organisation_id: str, event_id: str, day: str, now: Millis, *, organiser: bool
    ) -> Mapping[str, Any]:
        """How full an event is, on a day or (for "") on all, as JSON; NotFound for another organisation's event."""
        if day:  # the live seats of a day follow the log, too: only what everybody looks at is worth a cache
            counted = count(self.database, self.maps, organisation_id, event_id, day, now)
            return payload(counted, organiser=organiser)

        def load() -> bytes:
            counted = count(self.database, self.maps, organisation_id, event_id, "", now)
            return orjson.dumps([counted.occupancy.next_end, *(payload(counted, organiser=each) for each in _READERS)])

        key = cache_key(organisation_id, event_id)
        next_end, *payloads = orjson.loads(self.cache.fetch(key, LIFETIME, load))
        if next_end is not None and next_end <= now:
            self.cache.invalidate(key)
            _, *payloads = orjson.loads(self.cache.fetch(key, LIFETIME, load))
        return cast(Mapping[str, Any], payloads[organiser])
