"""Keeps the maps of recently requested events in memory, and updates them from the log of touched seats."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import orjson
import zstandard
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.holds import occupancy
from sync_server.holds.occupancy import PlaceCounts
from sync_server.plumbing.caching.cache import Cache, CacheLifetime, organisation_key
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.seat_maps import map_json, queries
from sync_server.seat_maps.map_inputs import MapInputs, MapSource, load_inputs
from sync_server.seat_maps.map_json import EncodedJson, MapVersion
from sync_server.seat_maps.map_state import MapState
from sync_server.seat_maps.queries import Head
from sync_server.seating import queries as seating
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
    """The map of one event, what it was built from, and its drawing; `lock` admits one reader at a time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    source: MapSource | None = None
    plan: SeatPlan | None = None
    basis: str = ""
    head: Head = field(default_factory=Head)
    state: MapState | None = None
    drawing: EncodedJson | None = None
    checked: CheckedState | None = None


@dataclass(frozen=True, slots=True)
class MapSnapshot:
    """The map of an event now; valid only while its lock is held."""

    state: MapState
    head: Head
    companions: Collection[int]  # seats reserved for the companions of wheelchair users
    version: MapVersion

    def state_json(self, *, organiser: bool) -> tuple[str, bytes]:
        """The state of every seat and zone, and its name."""
        payload = map_json.state_payload(self.version, self.state, self.companions, organiser=organiser)
        return map_json.state_name(payload), orjson.dumps(payload)

    def seats(self, *, organiser: bool) -> bytes:
        """One display state per seat."""
        return map_json.visible_seats(self.state, self.companions, organiser=organiser)


class MapCache:
    """Maps by event: building one of sixty thousand seats takes a second, updating it a few milliseconds."""

    def __init__(self, cache: Cache) -> None:
        """`cache` shares drawings with other processes."""
        self._cache = cache
        self._maps: SharedLoads[str, CachedMap] = SharedLoads(MAX_EVENTS)

    def entry(self, event_id: str) -> CachedMap:
        """The cached map of an event, empty if it has not been requested yet."""
        return self._maps.get(event_id, CachedMap)

    def is_built(self, inputs: MapInputs) -> bool:
        """Whether the map is built from the current source; its seats may be out of date."""
        entry = self.entry(inputs.event_id)
        return entry.source == inputs.source and entry.state is not None and entry.drawing is not None

    @contextmanager
    def snapshot(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> Iterator[MapSnapshot]:
        """The map of an event as it is now; NotFound if it has no layout."""
        with self.snapshot_from(session, load_inputs(session, event_id), organisation_id, now) as snapshot:
            yield snapshot

    @contextmanager
    def snapshot_from(
        self, session: Session, inputs: MapInputs, organisation_id: str, now: Millis
    ) -> Iterator[MapSnapshot]:
        """The map of an event whose inputs are loaded already; NotFound if it has no layout.

        Each statement reads its own moment, at or after that of the inputs: anything newer is reported once more.
        """
        _require_layout(inputs, organisation_id)
        entry = self.entry(inputs.event_id)
        with entry.lock:
            state = _Updater(session, inputs, _current_plan(session, entry, inputs), now).updated(entry)
            companions = state.reserved_companions()
            version = map_json.map_version(entry.basis, inputs.head.version, state, companions)
            if entry.head.version == inputs.head.version:
                entry.checked = CheckedState(inputs.source, inputs.head.version, state.next_end, version)
            # Another thread with newer inputs may have been first: the state is then newer than this head says, and
            # the difference is reported once more.
            yield MapSnapshot(state, inputs.head, companions, version)

    def drawing(self, session: Session, organisation_id: str, event_id: str) -> EncodedJson:
        """The drawing of an event's map; NotFound if it has no layout."""
        inputs = load_inputs(session, event_id)
        _require_layout(inputs, organisation_id)
        entry = self.entry(event_id)
        with entry.lock:
            plan = _current_plan(session, entry, inputs)
        return self.drawing_of(session, inputs, plan)

    def drawing_of(self, session: Session, inputs: MapInputs, plan: SeatPlan) -> EncodedJson:
        """The drawing of a plan."""
        entry = self.entry(inputs.event_id)
        found = entry.drawing
        if found is None or found.name != plan.drawing_id:
            found = entry.drawing = self._draw(session, inputs.organisation_id, plan)
        return found

    def _draw(self, session: Session, organisation_id: str, plan: SeatPlan) -> EncodedJson:
        key = organisation_key(organisation_id, "seatmap", plan.drawing_id)

        def draw() -> bytes:
            layout = seating.layout(session, organisation_id, plan.layout.layout_id)
            return zstandard.ZstdCompressor(9).compress(orjson.dumps(draw_map(plan, layout)))

        packed = self._cache.fetch(key, _DRAWING_LIFETIME, draw)
        return EncodedJson(plan.drawing_id, zstandard.ZstdDecompressor().decompress(packed))


def _require_layout(inputs: MapInputs, organisation_id: str) -> None:
    if inputs.organisation_id != organisation_id or inputs.source.layout_id is None:
        raise NotFound("This event has no seating layout.", code="event_layout_not_found")


def _current_plan(session: Session, entry: CachedMap, inputs: MapInputs) -> SeatPlan:
    """The plan of the event, asked for again if the source has changed."""
    if entry.plan is None or entry.source != inputs.source:
        entry.plan = event_plan(session, inputs.organisation_id, inputs.event_id)
        entry.source = inputs.source
    return entry.plan


@dataclass(frozen=True, slots=True)
class _Updater:
    """Brings a cached map up to the given inputs."""

    session: Session
    inputs: MapInputs
    plan: SeatPlan
    now: Millis

    def updated(self, entry: CachedMap) -> MapState:
        """The state with the log applied, or rebuilt where the log does not reach back far enough."""
        state, head = entry.state, self.inputs.head
        basis = f"{self.plan.id}{self.inputs.source.lineage[:3].hex()}"
        if state is None or entry.basis != basis:
            return self._rebuilt(entry, basis)
        if head.version > entry.head.version:
            touched = queries.touched(
                self.session, self.inputs.organisation_id, self.inputs.event_id, entry.head.version
            )
            if touched is None or head.oldest > entry.head.version:
                return self._rebuilt(entry, basis)
            state.places = self._places()
            rows = (
                occupancy.seats(self.session, self.inputs.organisation_id, self.inputs.event_id, touched)
                if touched
                else ()
            )
            state.apply(rows, self.now, touched=touched)
            entry.head = head
        if state.places.until is not None and state.places.until <= self.now:
            state.places = self._places()
            state.as_of = max(state.as_of, self.now)
        state.expire(self.now)
        return state

    def _rebuilt(self, entry: CachedMap, basis: str) -> MapState:
        state = MapState(self.plan, self.now, self._places())
        state.apply(occupancy.seats(self.session, self.inputs.organisation_id, self.inputs.event_id), self.now)
        entry.state, entry.basis, entry.head = state, basis, self.inputs.head
        return state

    def _places(self) -> PlaceCounts:
        if self.plan.numbered == self.plan.zones.keys():
            return PlaceCounts({}, {}, None)
        return occupancy.place_counts(self.session, self.inputs.organisation_id, self.inputs.event_id, self.now)
