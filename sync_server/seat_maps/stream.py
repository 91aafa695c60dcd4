"""The stream of a seat map, and the long poll: what has changed since the version that a page shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.seat_maps.event_handlers import topic
from sync_server.seat_maps.map_responses import ChangesResponse, MapResponses
from sync_server.seat_maps.viewers import Viewer, require_shown
from sync_server.waiting.handing_over import Access, Answer, LongPoll, ReaderKind, Stream, StreamEnded, StreamText

PACE_S: Final = 0.2
"""In a rush all readers of a map are updated together at this pace: at most five times a second."""
_NANOS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class MapReading:
    """What a viewer may read of the changes of one map: of one day, or of all ("")."""

    parts: Parts
    responses: MapResponses
    viewer: Viewer
    day: str = ""

    def changes(self, since: str, asked_at: int | None = None) -> ChangesResponse:
        """The changes since a version; NotFound once the event, or this day of it, is not shown to the viewer."""
        inputs = self.responses.inputs.load(self.viewer.event_id, asked_at)
        require_shown(inputs, self.viewer)
        return self.responses.changes(inputs, since, inputs.days(self.day), organiser=self.viewer.organiser)

    def recent_changes(self, since: str) -> ChangesResponse:
        """The changes by a recent query: for a start, because updates find whatever came after it."""
        return self.changes(since, self.parts.monotonic() - round(PACE_S * _NANOS))

    @property
    def kind(self) -> ReaderKind:
        """Staff, or a visitor."""
        return ReaderKind.BROWSER if self.viewer.organiser else ReaderKind.VISITOR

    def stream(self, since: str, access: Access | None) -> Stream:
        """The changes as server-sent events."""
        key = ("seat map", self.viewer.event_id, self.viewer.organiser, self.day)
        topics = [topic(self.viewer.event_id)]
        return Stream(key, topics, partial(MapSource, self), partial(self._opening, since), self.kind, access)

    def long_poll(self, since: str, wait_s: float) -> LongPoll:
        """The changes as soon as there are any; none after so many seconds."""

        def answer(over: bool) -> Answer | float:
            found = self.changes(since)
            return Answer(200, (), found.text) if found.changes.any or over else self.due_s(found.changes.next_end)

        return LongPoll([topic(self.viewer.event_id)], wait_s, answer, self.kind)

    def due_s(self, next_end: Millis | None) -> float:
        """In how many seconds the next hold expires."""
        return math.inf if next_end is None else max(0.0, (next_end - self.parts.clock()) / 1000)

    def _opening(self, since: str) -> Iterator[StreamText]:
        try:
            found = self.recent_changes(since)
        except NotFound:
            return  # the source says so to everybody
        if found.changes.any:
            yield _text(b"changes", found.changes.version, found.text)


class MapSource:
    """The changes of one map, for all readers with the same rights."""

    pace_s = PACE_S

    def __init__(self, reading: MapReading) -> None:
        self._reading = reading
        self._version = ""
        self._next_end: Millis | None = None

    def start(self) -> None:
        """Note the version from which on changes are sent."""
        self._version = self._reading.recent_changes("").changes.version

    def update(self, notes: Sequence[Notification], *, look: bool) -> Iterable[StreamText]:
        """The changes since the latest update; StreamEnded once the event is no longer shown."""
        del notes, look  # each update looks: whatever was announced, the version says what is new
        try:
            found = self._reading.changes(self._version)
        except NotFound:
            raise StreamEnded(_text(b"gone", self._version, b"{}").text) from None
        self._next_end = found.changes.next_end
        if found.changes.any:
            self._version = found.changes.version
            yield _text(b"changes", self._version, found.text)

    def due_s(self) -> float:
        """Until the next hold expires."""
        return self._reading.due_s(self._next_end)


def _text(name: bytes, version: str, payload: bytes) -> StreamText:
    return StreamText(b"event: %b\nid: %b\ndata: %b\n\n" % (name, version.encode(), payload))
