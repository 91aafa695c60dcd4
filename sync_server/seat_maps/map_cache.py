"""The maps of recently requested events: their seats as they are now, and their drawings."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import orjson
import zstandard

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.plumbing.caching.cache import Cache, CacheLifetime, organisation_key
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.database import Database
from sync_server.seat_maps import map_json
from sync_server.seat_maps.map_inputs import MapInputs, MapSource
from sync_server.seat_maps.map_json import EncodedJson, MapVersion
from sync_server.seat_maps.queries import Head
from sync_server.seating import queries as seating
from sync_server.seating.event_seatings import EventSeatings
from sync_server.seating.live_seats import LiveSeats
from sync_server.seating.plans.drawing import draw as draw_map
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import event_plan

MAX_EVENTS: Final = 64
"""A stadium takes about two megabytes."""
_DRAWING_LIFETIME: Final = CacheLifetime(local_s=5, redis_s=3_600)  # this process has them in CachedMap anyway


@dataclass(frozen=True, slots=True)
class CheckedState:
    """The database state that a map was last compared with, and how long it holds if nothing is written."""

    source: MapSource
    version: int
    until: Millis | None  # when the next hold expires
    map_version: MapVersion

    def is_current(self, inputs: MapInputs, now: Millis) -> bool:
        """Whether a map built from these inputs now would be the same or older."""
        unchanged = self.source == inputs.source and self.version >= inputs.head.version
        return unchanged and (self.until is None or now < self.until)


@dataclass(slots=True)
class CachedMap:
    """What is kept of one event's map besides its seats: what it was built from, and its drawing."""

    source: MapSource | None = None
    plan: SeatPlan | None = None
    drawing: EncodedJson | None = None
    checked: dict[int, CheckedState] = field(default_factory=dict)  # by the bitmap of the days that are shown


@dataclass(frozen=True, slots=True)
class MapSnapshot:
    """The map of an event now; valid only while its lock is held."""

    state: LiveSeats
    head: Head
    companions: Collection[int]  # seats reserved for the companions of wheelchair users
    version: MapVersion
    days: ChosenDays

    def state_json(self, *, organiser: bool) -> tuple[str, bytes]:
        """The state of every seat and zone, and its name."""
        payload = map_json.state_payload(self.version, self.state, self.companions, self.days, organiser=organiser)
        return map_json.state_name(payload), orjson.dumps(payload)

    def seats(self, *, organiser: bool) -> bytes:
        """One display state per seat."""
        return map_json.visible_seats(self.state, self.companions, organiser=organiser)


class MapCache:
    """Maps by event: their seats are the live state that the search for seats uses, too."""

    def __init__(self, database: Database, cache: Cache, seatings: EventSeatings) -> None:
        """`cache` shares drawings with other processes."""
        self._database, self._cache, self._seatings = database, cache, seatings
        self._maps: SharedLoads[str, CachedMap] = SharedLoads(MAX_EVENTS)

    def entry(self, event_id: str) -> CachedMap:
        """What is kept of the map of an event; empty if it has not been requested yet."""
        return self._maps.get(event_id, CachedMap)

    def is_built(self, inputs: MapInputs) -> bool:
        """Whether the map is built from the current source; its seats may be out of date."""
        entry = self.entry(inputs.event_id)
        return entry.source == inputs.source and entry.drawing is not None

    @contextmanager
    def snapshot(self, inputs: MapInputs, organisation_id: str, now: Millis, days: ChosenDays) -> Iterator[MapSnapshot]:
        """The map of an event on these days, with all changes that the inputs know of; NotFound without a layout.

        Its seats may be newer than the version says: the difference is then reported once more.
        """
        _require_layout(inputs, organisation_id)
        entry, source = self.entry(inputs.event_id), inputs.source
        if entry.source is not None and entry.source.lineage != source.lineage:
            self._seatings.forget(inputs.event_id)
        plan = entry.plan if entry.source == source else None
        where, version_known = (organisation_id, inputs.event_id, now, plan), inputs.head.version
        with self._seatings.current(*where, version_known, days=days) as seating:
            live = seating.live
            entry.source, entry.plan, companions = source, live.plan, live.reserved_companions()
            basis = f"{live.plan.id}{source.lineage[:3].hex()}{f'-{days.bits:x}' if days.bits else ''}"
            version = map_json.map_version(basis, inputs.head.version, live, companions)
            entry.checked[days.bits] = CheckedState(source, inputs.head.version, live.next_end, version)
            yield MapSnapshot(live, inputs.head, companions, version, days)

    def drawing(self, inputs: MapInputs, organisation_id: str) -> EncodedJson:
        """The drawing of an event's map; NotFound if it has no layout."""
        _require_layout(inputs, organisation_id)
        with self._database.autocommit_reading() as session:
            plan = event_plan(session, organisation_id, inputs.event_id)
        return self.drawing_of(inputs, plan)

    def drawing_of(self, inputs: MapInputs, plan: SeatPlan) -> EncodedJson:
        """The drawing of a plan."""
        entry = self.entry(inputs.event_id)
        found = entry.drawing
        if found is None or found.name != plan.drawing_id:
            found = entry.drawing = self._draw(inputs.organisation_id, plan)
        return found

    def _draw(self, organisation_id: str, plan: SeatPlan) -> EncodedJson:
        key = organisation_key(organisation_id, "seatmap", plan.drawing_id)

        def draw() -> bytes:
            with self._database.autocommit_reading() as session:
                layout = seating.layout(session, organisation_id, plan.layout.layout_id)
                return zstandard.ZstdCompressor(9).compress(orjson.dumps(draw_map(plan, layout)))

        packed = self._cache.fetch(key, _DRAWING_LIFETIME, draw)
        return EncodedJson(plan.drawing_id, zstandard.ZstdDecompressor().decompress(packed))


def _require_layout(inputs: MapInputs, organisation_id: str) -> None:
    if inputs.organisation_id != organisation_id or inputs.source.layout_id is None:
        raise NotFound("This event has no seating layout.", code="event_layout_not_found")
