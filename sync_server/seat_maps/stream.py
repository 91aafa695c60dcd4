"""Keeps an open map up to date: waits for changes, as a long poll or as server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from shared.clock import Millis
from shared.errors import GatehouseError, NotFound
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.messaging.bus import Listener
from sync_server.plumbing.parts import Parts
from sync_server.seat_maps.event_handlers import topic
from sync_server.seat_maps.map_responses import ChangesResponse, MapResponses
from sync_server.seat_maps.viewers import Viewer, require_shown

SECOND: Final = 1_000_000_000
CHECK_STOP_S: Final = 0.5
LOOK_EVERY_S: Final = 5
"""Without a notification, changes are found this late at most."""
PACE_S: Final = 0.2
"""In a rush all readers of a map are updated together at this pace: at most five times a second."""
UPDATE_EVERY_S: Final = 10
"""Readers are updated this often even if nothing was announced, and get a heartbeat."""
DURATION_S: Final = 600
"""After this time a stream ends, and the reader reconnects."""
ORGANISER_DURATION_S: Final = 50
"""The limit for streams that need a login: a session that has ended keeps none for longer than a minute."""
RECONNECT_MS: Final = 2_000
RECONNECT_AT_ONCE_MS: Final = 100
"""After a planned end: a reader that waited two seconds would miss the deadline for changes."""


@dataclass(slots=True)
class Reader:
    """One open map, and the version that it shows."""

    parts: Parts
    responses: MapResponses
    viewer: Viewer
    since: str
    _log_version: int = -1  # the version of the log at the latest update

    def changes(self, asked_at: int | None = None) -> ChangesResponse:
        """The changes since the reader's version; NotFound once the event is no longer shown to them."""
        viewer = self.viewer
        inputs = self.responses.inputs.load(viewer.event_id, asked_at)
        require_shown(inputs, viewer)
        self._log_version = inputs.head.version
        return self.responses.changes(inputs, self.since, organiser=viewer.organiser)

    def wait(self, seconds: float) -> ChangesResponse:
        """The changes as soon as there are any; none after so many seconds."""
        with self.parts.bus.listen([topic(self.viewer.event_id)]) as listener:
            for response in self._updates(listener, seconds):
                if response.changes.any:
                    break
            return response

    def frames(self) -> Iterator[bytes]:
        """The changes as server-sent events, until the reader leaves or the server stops."""
        yield _retry(RECONNECT_MS)
        try:
            with self.parts.bus.listen([topic(self.viewer.event_id)]) as listener:
                for response in self._updates(listener, ORGANISER_DURATION_S if self.viewer.organiser else DURATION_S):
                    yield self._to_frame(response)
            if not self.parts.stop.is_set():
                yield _retry(RECONNECT_AT_ONCE_MS)
        except NotFound:
            yield _frame(b"gone", self.since, b"{}")
        except (SQLAlchemyError, GatehouseError) as problem:  # the reader gets the error when it reconnects
            LOG.warning("stream_ended", problem=type(problem).__name__)

    def _to_frame(self, response: ChangesResponse) -> bytes:
        if not response.changes.any:
            return b": heartbeat\n\n"
        self.since = response.changes.version
        return _frame(b"changes", self.since, response.text)

    def _updates(self, listener: Listener, seconds: float) -> Iterator[ChangesResponse]:
        """The changes now, and again whenever something may have happened, until the time is up or the server stops."""
        updated_at = self.parts.monotonic()
        deadline = updated_at + seconds * SECOND
        # A recent query will do for a start: the next update finds whatever came after it.
        response, due = self.changes(updated_at - round(PACE_S * SECOND)), True
        yield response
        while self.parts.monotonic() < deadline and not self.parts.stop.is_set():
            if due or self.parts.monotonic() - updated_at > UPDATE_EVERY_S * SECOND:
                updated_at = self._keep_pace()
                response = self.changes(updated_at)
                yield response
            due = self._wait_for_news(listener, response.changes.next_end)

    def _keep_pace(self) -> int:
        """Wait until the next common update; the time of the call."""
        now = self.parts.monotonic()
        left = self.responses.inputs.started_at(self.viewer.event_id) / SECOND + PACE_S - now / SECOND
        if left > 0:
            self.parts.stop.wait(left)
        return now

    def _wait_for_news(self, listener: Listener, next_end: Millis | None) -> bool:
        """Wait for a notification, the end of a hold or a short timeout; whether an update is due."""
        left = None if next_end is None else (next_end - self.parts.clock()) / 1000
        notes = listener.wait(CHECK_STOP_S if left is None else min(CHECK_STOP_S, max(0.0, left)))
        missed = listener.missed()
        expired = next_end is not None and next_end <= self.parts.clock()
        return bool(notes) or missed or expired or self._log_grew()

    def _log_grew(self) -> bool:
        """Whether the log has a new version: one query serves all waiting readers."""
        recently = self.parts.monotonic() - LOOK_EVERY_S * SECOND
        return self.responses.inputs.load(self.viewer.event_id, recently).head.version != self._log_version


def _retry(millis: int) -> bytes:
    return b"retry: %d\n\n" % millis


def _frame(name: bytes, version: str, payload: bytes) -> bytes:
    return b"event: %b\nid: %b\ndata: %b\n\n" % (name, version.encode(), payload)
