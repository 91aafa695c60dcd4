"""Responses of one process about seat maps: each is made once, and shared by everybody who asks at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import orjson

from sync_server.plumbing.parts import Parts
from sync_server.seat_maps import changes, map_json
from sync_server.seat_maps.changes import Changes
from sync_server.seat_maps.map_cache import MapCache
from sync_server.seat_maps.map_inputs import MapInputs, MapInputsLoader
from sync_server.seat_maps.map_json import EncodedJson

MAX_EVENTS: Final = 64
MAX_CHANGES: Final = 256
"""Readers of one version come from few others; made-up versions must not fill the memory."""


class ResponseKind(StrEnum):
    """Responses that are the same for everybody with the same rights."""

    FULL = "full"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class ChangesResponse:
    """The changes since a version, and their JSON."""

    changes: Changes
    text: bytes


@dataclass(slots=True)
class _Responses:
    """The responses made for one version of one map."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    version: str = ""
    full: dict[tuple[ResponseKind, bool], EncodedJson] = field(default_factory=dict)
    changes: dict[tuple[str, bool], ChangesResponse] = field(default_factory=dict)


class MapResponses:
    """Responses from memory while nothing has happened; otherwise one thread makes the next and the others wait."""

    def __init__(self, parts: Parts) -> None:
        self.inputs, self.maps = MapInputsLoader(parts.database, parts.monotonic), MapCache(parts.cache)
        self._database, self._clock = parts.database, parts.clock
        self._lock = threading.Lock()
        self._responses: OrderedDict[str, _Responses] = OrderedDict()

    def response(self, inputs: MapInputs, kind: ResponseKind, *, organiser: bool) -> EncodedJson:
        """The full map or the state; NotFound if the event has no layout."""
        cached, key = self._entry(inputs.event_id), (kind, organiser)
        if self._is_current(cached, inputs) and (response := cached.full.get(key)):
            return response
        with cached.lock:  # waiting here takes no connection, and usually finds the response made
            if self._is_current(cached, inputs) and (response := cached.full.get(key)):
                return response
            with self._database.autocommit_reading() as session:
                with self.maps.snapshot_from(session, inputs, inputs.organisation_id, self._clock()) as snapshot:
                    version, (name, state) = str(snapshot.version), snapshot.state_json(organiser=organiser)
                response = EncodedJson(name, state)
                if kind is ResponseKind.FULL:
                    response = map_json.full_map(
                        name, self.maps.drawing_of(session, inputs, snapshot.state.plan), state
                    )
            _start_version(cached, version)
            cached.full[key] = response
            return response

    def changes(self, inputs: MapInputs, since: str, *, organiser: bool) -> ChangesResponse:
        """What has changed since the version `since`; NotFound if the event has no layout."""
        cached, key = self._entry(inputs.event_id), (since, organiser)
        if self._is_current(cached, inputs) and (response := cached.changes.get(key)):
            return response
        with cached.lock:
            if self._is_current(cached, inputs) and (response := cached.changes.get(key)):
                return response
            now = self._clock()
            with (
                self._database.autocommit_reading() as session,
                self.maps.snapshot_from(session, inputs, inputs.organisation_id, now) as snapshot,
            ):
                found = changes.changes(session, inputs, snapshot, since, now, organiser=organiser)
            _start_version(cached, str(snapshot.version))
            response = ChangesResponse(found, orjson.dumps(found.payload()))
            if len(cached.changes) < MAX_CHANGES:
                cached.changes[key] = response
            return response

    def _is_current(self, cached: _Responses, inputs: MapInputs) -> bool:
        checked = self.maps.entry(inputs.event_id).checked
        if checked is None or not checked.is_current(inputs, self._clock()):
            return False
        return cached.version == str(checked.map_version)

    def _entry(self, event_id: str) -> _Responses:
        with self._lock:
            cached = self._responses.setdefault(event_id, _Responses())
            self._responses.move_to_end(event_id)
            if len(self._responses) > MAX_EVENTS:
                self._responses.popitem(last=False)
            return cached


def _start_version(cached: _Responses, version: str) -> None:
    """Drop the responses of another version."""
    if cached.version != version:
        cached.full, cached.changes, cached.version = {}, {}, version
