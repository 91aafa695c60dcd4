"""Builds maps before anybody asks for them: on start-up, on publication, and when a layout changes."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from shared.errors import NotFound
from shared.lifecycle import ALLOWS
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.seat_maps import queries
from sync_server.seat_maps.event_handlers import ANY_MAP
from sync_server.seat_maps.map_json import ENCODINGS
from sync_server.seat_maps.map_responses import MapResponses, ResponseKind

LOOK_EVERY_S: Final = 60.0
PACE_S: Final = 2.0
MAX_EVENTS: Final = 16
RECENT_MS: Final = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class MapWarmer:
    """A request that arrives while a map is being built waits for it: nobody builds a second one."""

    parts: Parts
    responses: MapResponses

    def run(self, stop: threading.Event) -> None:
        """Check at once, and shortly after any map has changed, until `stop`."""
        with self.parts.bus.listen([ANY_MAP]) as listener:
            while not stop.is_set():
                try:
                    self.run_once()
                except Exception as problem:  # no harm done: the first request builds the map
                    LOG.warning("house_not_drawn_ahead", problem=type(problem).__name__)
                stop.wait(PACE_S)
                listener.wait(LOOK_EVERY_S)
                listener.missed()

    def run_once(self) -> int:
        """Build the maps that changed recently and are out of date; how many."""
        now = self.parts.clock()
        with self.parts.database.autocommit_reading() as session:
            recent = queries.recently_changed(session, now - RECENT_MS, limit=MAX_EVENTS)
        return sum(self._warm(event_id) for _, event_id in recent if not self.parts.stop.is_set())

    def _warm(self, event_id: str) -> bool:
        try:
            inputs = self.responses.inputs.load(event_id)
            if not ALLOWS[inputs.status].show or self.responses.maps.is_built(inputs):
                return False
            response = self.responses.response(inputs, ResponseKind.FULL, inputs.days(""), organiser=False)
        except NotFound:  # deleted meanwhile, or without a layout
            return False
        for encoding in ENCODINGS:
            response.encode(encoding)
        return True
