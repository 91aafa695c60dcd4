"""Responses of one process about seat maps: each is made once, and shared by everybody who asks at the same time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final, TypeVar

import orjson

from sync_server.events.days.chosen_days import ChosenDays
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.parts import Parts
from sync_server.seat_maps import changes, map_json
from sync_server.seat_maps.changes import Changes
from sync_server.seat_maps.map_cache import MapCache
from sync_server.seat_maps.map_inputs import MapInputs, MapInputsLoader
from sync_server.seat_maps.map_json import EncodedJson
from sync_server.seating.event_seatings import event_seatings_of

MAX_DOCUMENTS: Final = 256
MAX_CHANGES: Final = 4_096
"""Readers of one version come from few others; made-up versions must not fill the memory."""

Key = tuple[str, str, bool, int]
"""Event, kind of response or version that the reader has, whether it is for organisers, and the bitmap of days."""
T = TypeVar("T")


class ResponseKind(StrEnum):
    """Responses that are the same for everybody with the same rights."""

    FULL = "full"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class ChangesResponse:
    """The changes since a version, and their JSON."""

    changes: Changes
    text: bytes


class MapResponses:
    """Responses from memory while nothing has happened; otherwise one thread makes the next and the others wait."""

    def __init__(self, parts: Parts) -> None:
        self.inputs = MapInputsLoader(parts.database, parts.monotonic)
        self.maps = MapCache(parts.database, parts.cache, event_seatings_of(parts))
        self._database, self._clock = parts.database, parts.clock
        # Each with the version of the map that it is for.
        self._documents: SharedLoads[Key, tuple[str, EncodedJson]] = SharedLoads(MAX_DOCUMENTS)
        self._changes: SharedLoads[Key, tuple[str, ChangesResponse]] = SharedLoads(MAX_CHANGES)

    def response(self, inputs: MapInputs, kind: ResponseKind, days: ChosenDays, *, organiser: bool) -> EncodedJson:
        """The full map or the state on these days; NotFound if the event has no layout."""
        key = inputs.event_id, kind.value, organiser, days.bits
        make = partial(self._document, inputs, kind, days, organiser=organiser)
        return self._current(self._documents, key, inputs, make)

    def _document(
        self, inputs: MapInputs, kind: ResponseKind, days: ChosenDays, *, organiser: bool
    ) -> tuple[str, EncodedJson]:
        with self.maps.snapshot(inputs, inputs.organisation_id, self._clock(), days) as snapshot:
            version, (name, state) = str(snapshot.version), snapshot.state_json(organiser=organiser)
        if kind is ResponseKind.STATE:
            return version, EncodedJson(name, state)
        return version, map_json.full_map(name, self.maps.drawing_of(inputs, snapshot.state.plan), state)

    def changes(self, inputs: MapInputs, since: str, days: ChosenDays, *, organiser: bool) -> ChangesResponse:
        """What has changed on these days since the version `since`; NotFound if the event has no layout."""
        key = inputs.event_id, since, organiser, days.bits
        make = partial(self._changed, inputs, since, days, organiser=organiser)
        return self._current(self._changes, key, inputs, make)

    def _changed(
        self, inputs: MapInputs, since: str, days: ChosenDays, *, organiser: bool
    ) -> tuple[str, ChangesResponse]:
        now = self._clock()
        with (
            self.maps.snapshot(inputs, inputs.organisation_id, now, days) as snapshot,
            self._database.autocommit_reading() as session,
        ):
            found = changes.changes(session, inputs, snapshot, since, now, organiser=organiser)
        return str(snapshot.version), ChangesResponse(found, orjson.dumps(found.payload()))

    def _current(
        self, made: SharedLoads[Key, tuple[str, T]], key: Key, inputs: MapInputs, make: Callable[[], tuple[str, T]]
    ) -> T:
        """The response made before, if nothing has happened since; else that of one thread for all who wait."""

        def latest() -> tuple[str, T] | None:
            found, checked = made.peek(key), self.maps.entry(inputs.event_id).checked.get(key[3])
            if found is None or checked is None or not checked.is_current(inputs, self._clock()):
                return None
            return found if found[0] == str(checked.map_version) else None

        return (latest() or made.get(key, lambda: latest() or make(), since=made.now()))[1]
