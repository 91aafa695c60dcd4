"""The contents of the three streams: one event, an organisation's events, and one event for the public."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from sync_server.events import public_queries
from sync_server.events.queries import EventDetails
from sync_server.holds.occupancy_notifier import occupancy_payload
from sync_server.live.counters_cache import CountersCache
from sync_server.live.frames import Frame, fact_frame, frames_of_notes, occupancy_frames, public_frames
from sync_server.outbox import missed_facts
from sync_server.outbox.notifications import change_notice, changes_lists
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts

COALESCE_NS = 200_000_000
"""A burst of scans is gathered this long before the counters are queried, once for all readers of an event."""
MAX_AGE_NS = 500_000_000
"""Counters may be this old if no change was announced."""


class ReplayPosition:
    """How far a reader has received the facts of an organisation, or of one of its events."""

    def __init__(self, parts: Parts, organisation_id: str, last_seen: str, event_number: int | None = None) -> None:
        """`last_seen` is the Last-Event-ID of a reader that reconnects; empty for a new one."""
        self._parts, self._organisation_id, self._event_number = parts, organisation_id, event_number
        self._last_seen = last_seen
        self._sent: dict[str, None] = {}
        self.order = 0

    def start(self) -> Iterator[Frame]:
        """What the reader missed while away, or `reset` if that is not known."""
        last_seen = int(self._last_seen) if self._last_seen.isdecimal() and len(self._last_seen) < 19 else None
        with self._parts.database.reading() as session:
            self.order = missed_facts.newest(session)
        if last_seen is not None:
            yield from self._since(last_seen)
        elif self._last_seen:
            yield self._reset()

    def poll(self) -> Iterator[Frame]:
        """Facts that the bus did not announce."""
        yield from self._since(self.order)

    def mark_sent(self, frame: Frame, message_id: str) -> bool:
        """Record that a fact is sent; False if it was sent before."""
        if message_id in self._sent:
            return False
        self._sent[message_id] = None
        if len(self._sent) > 2 * missed_facts.MAX_FACTS:
            del self._sent[next(iter(self._sent))]
        self.order = max(self.order, frame.order or 0)
        return True

    def _since(self, order: int) -> Iterator[Frame]:
        with self._parts.database.reading() as session:
            newest = missed_facts.newest(session)
            missed = missed_facts.since(session, self._organisation_id, order, event_number=self._event_number)
        self.order = max(self.order, newest)
        if missed is None:
            yield self._reset()
            return
        for message in filter(self._belongs, missed):
            frame = fact_frame(change_notice(message))
            if self.mark_sent(frame, message.message_id):
                yield frame

    def _belongs(self, message: Message) -> bool:
        if self._event_number is not None:
            return message.subjects.get("event") is not None
        return changes_lists(message.name)

    def _reset(self) -> Frame:
        return Frame("reset", {"means": "Too much has happened since. Reload everything."}, self.order)


class Unbuffered:
    """A source that sends everything at once, and holds nothing back."""

    def max_wait_s(self) -> float:
        """Any time: nothing is held back."""
        return math.inf

    def flush(self) -> Iterable[Frame]:
        """Nothing."""
        return ()


class OrganisationSource(Unbuffered):
    """The events of an organisation: created, changed, or in a new status."""

    def __init__(self, position: ReplayPosition) -> None:
        self._position = position

    def start(self) -> Iterator[Frame]:
        """What was missed, then `ready`."""
        yield from self._position.start()
        yield Frame("ready", {}, self._position.order)

    def on_notes(self, notes: Sequence[Notification]) -> Iterator[Frame]:
        """Facts as they are announced."""
        return _unsent(frames_of_notes(notes), self._position)

    def poll(self) -> Iterable[Frame]:
        """Facts that were not announced."""
        return self._position.poll()


class EventSource:
    """One event: its facts, its seats, and all its counters whenever one changes."""

    def __init__(self, position: ReplayPosition, cache: CountersCache, event: EventDetails) -> None:
        """The caller has checked who may see the event."""
        self._position, self._cache, self._event = position, cache, event
        self._version = ""
        self._first_note_at: int | None = None  # since the counters were queried
        self._last_note_at = 0

    def start(self) -> Iterator[Frame]:
        """What was missed, then the counters now."""
        started_at = self._cache.now()  # older counters may lack what was announced before this reader listened
        yield from self._position.start()
        yield from self._counters(started_at)

    def on_notes(self, notes: Sequence[Notification]) -> Iterator[Frame]:
        """Facts and seats at once; the counters once a burst is over."""
        self._last_note_at = self._cache.now()
        self._first_note_at = self._last_note_at if self._first_note_at is None else self._first_note_at
        return _unsent(frames_of_notes(notes), self._position)

    def max_wait_s(self) -> float:
        """Until the counters are to be queried."""
        return math.inf if self._first_note_at is None else max(0.0, self._time_left() / 1e9)

    def flush(self) -> Iterator[Frame]:
        """The counters, a moment after the first notification of a burst."""
        if self._first_note_at is not None and self._time_left() <= 0:
            self._first_note_at = None
            yield from self._counters(self._last_note_at)

    def poll(self) -> Iterator[Frame]:
        """Facts that were not announced, and the counters: a gate falls silent without any notification."""
        yield from self._position.poll()
        yield from self._counters(self._cache.now() - MAX_AGE_NS)

    def _time_left(self) -> int:
        return (self._first_note_at or 0) + COALESCE_NS - self._cache.now()

    def _counters(self, not_before: int) -> Iterator[Frame]:
        counters = self._cache.counters(self._event.organisation_id, self._event.id, not_before=not_before)
        if counters.version != self._version:
            self._version = counters.version
            yield Frame("counters", asdict(counters), self._position.order)


class PublicEventSource(Unbuffered):
    """One public event: how many seats are left, and its status."""

    def __init__(self, parts: Parts, organisation_id: str, event_id: str) -> None:
        """The caller has checked that the event is public."""
        self._parts, self._organisation_id, self._event_id = parts, organisation_id, event_id
        self._status = ""

    def start(self) -> Iterator[Frame]:
        """Status and seats now."""
        yield from self.poll()
        with self._parts.database.reading() as session:
            counts = occupancy_payload(session, self._organisation_id, self._event_id, self._parts.clock())
        yield from occupancy_frames(counts, self._event_id)

    def on_notes(self, notes: Sequence[Notification]) -> Iterator[Frame]:
        """What has changed."""
        for frame in public_frames(notes, self._event_id):
            if frame.name == "status":
                self._status = frame.payload["new_status"]
            yield frame

    def poll(self) -> Iterator[Frame]:
        """The status, if it was not sent yet."""
        with self._parts.database.reading() as session:
            event = public_queries.listing_fields(session, self._event_id)
        if event is not None and event.status.value != self._status:
            old, self._status = self._status or None, event.status.value
            payload = {"event_id": self._event_id, "old_status": old, "new_status": self._status}
            yield Frame("status", payload | {"rescheduled_at": event.rescheduled_at})


def _unsent(frames: Iterable[Frame], position: ReplayPosition) -> Iterator[Frame]:
    for frame in frames:
        if frame.order is None or position.mark_sent(frame, frame.payload["message_id"]):
            yield frame
