"""The contents of the three streams: one event, an organisation's events, and one event for the public."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from shared.errors import NotFound
from shared.words.numerals import whole
from sync_server.events import public_queries
from sync_server.events.queries import VISIBLE_STATUSES, EventDetails
from sync_server.events.rules import mark
from sync_server.live.counters_cache import CountersCache
from sync_server.live.frames import Frame, fact_frame, frames_of_notes, occupancy_frames, public_frames
from sync_server.outbox import missed_facts
from sync_server.outbox.notifications import change_notice, changes_lists
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.seat_maps.occupancy_notifier import organisers_counts
from sync_server.seat_maps.wiring import map_responses_of
from sync_server.waiting.handing_over import StreamEnded, StreamText

COALESCE_NS = 200_000_000
"""A burst of scans is gathered this long before the counters are queried, once for all readers of an event."""
MAX_AGE_NS = 500_000_000
"""Counters may be this old if no change was announced."""


@dataclass(frozen=True, slots=True)
class FactStream:
    """The facts of an organisation, or of one of its events."""

    parts: Parts
    organisation_id: str
    event_number: int | None = None

    def missed(self, last_seen: str) -> tuple[list[Frame], int]:
        """What a reader missed that reconnects with this Last-Event-ID, or `reset`; and the newest fact's order."""
        order = whole(last_seen, 10**18)
        if order is not None:
            return self.since(order)
        with self.parts.database.reading() as session:
            newest = missed_facts.newest(session, self.organisation_id)
        return ([_reset(newest)] if last_seen else []), newest

    def since(self, order: int) -> tuple[list[Frame], int]:
        """The facts after this one, or `reset` if they are too many; and the newest fact's order."""
        with self.parts.database.reading() as session:
            newest = missed_facts.newest(session, self.organisation_id)
            missed = missed_facts.since(session, self.organisation_id, order, event_number=self.event_number)
        if missed is None:
            return [_reset(max(order, newest))], newest
        return [fact_frame(change_notice(message)) for message in missed if self._belongs(message)], newest

    def _belongs(self, message: Message) -> bool:
        if self.event_number is not None:
            return message.subjects.get("event") is not None
        return changes_lists(message.name)


class SentFacts:
    """How far the facts of a stream have been sent: each is sent once, announced or not."""

    def __init__(self, facts: FactStream) -> None:
        self._facts = facts
        self._sent: dict[str, int] = {}  # by message id, the order of facts after those read from the table
        self._read = 0
        self.order = 0

    def start(self) -> None:
        """Begin with the facts that come next."""
        _, self._read = self._facts.missed("")
        self.order = self._read

    def announced(self, notes: Sequence[Notification]) -> Iterator[Frame]:
        """What these notifications mean, without the facts that were sent before."""
        return filter(self._mark_sent, frames_of_notes(notes))

    def unannounced(self) -> list[Frame]:
        """Facts that the bus did not announce."""
        frames, newest = self._facts.since(self._read)
        unsent = list(filter(self._mark_sent, frames))
        self._read, self.order = newest, max(self.order, newest)
        self._sent = {id: order for id, order in self._sent.items() if order > newest}
        return unsent

    def _mark_sent(self, frame: Frame) -> bool:
        if not frame.message_id:
            return True
        order = frame.order or 0
        if order <= self._read or frame.message_id in self._sent:
            return False
        self._sent[frame.message_id] = order
        self.order = max(self.order, order)
        return True


class OrganisationSource:
    """The events of an organisation: created, changed, or in a new status."""

    pace_s = 0.0

    def __init__(self, facts: FactStream) -> None:
        self._sent = SentFacts(facts)

    def start(self) -> None:
        """Begin with the facts that come next."""
        self._sent.start()

    def update(self, notes: Sequence[Notification], *, look: bool) -> Iterator[StreamText]:
        """Facts as they are announced, and now and then those that were not."""
        yield from _texts(self._sent.announced(notes))
        yield from _texts(self._sent.unannounced() if look else ())

    def due_s(self) -> float:
        """Any time: nothing is held back."""
        return math.inf


def organisation_opening(facts: FactStream, last_seen: str) -> Iterator[StreamText]:
    """What was missed, then `ready`."""
    missed, newest = facts.missed(last_seen)
    yield from _texts([*missed, Frame("ready", {}, newest)])


class EventSource:
    """One event: its facts, its seats, and all its counters whenever one changes."""

    pace_s = 0.0

    def __init__(self, facts: FactStream, cache: CountersCache, event: EventDetails) -> None:
        """The caller has checked who may see the event."""
        self._sent, self._cache, self._event = SentFacts(facts), cache, event
        self._version = ""
        self._first_note_at: int | None = None  # since the counters were queried
        self._last_note_at = 0

    def start(self) -> None:
        """Begin with the facts and counters that come next."""
        self._sent.start()
        self._version = self._cache.counters(
            self._event.organisation_id, self._event.id, not_before=self._cache.now() - MAX_AGE_NS
        ).version

    def update(self, notes: Sequence[Notification], *, look: bool) -> Iterator[StreamText]:
        """Facts and seats at once; the counters once a burst is over: a gate falls silent without a notification."""
        if notes:
            self._last_note_at = self._cache.now()
            self._first_note_at = self._last_note_at if self._first_note_at is None else self._first_note_at
        yield from _texts(self._sent.announced(notes))
        if self._first_note_at is not None and self._time_left() <= 0:
            self._first_note_at = None
            yield from self._counters(self._last_note_at)
        if look:
            yield from _texts(self._sent.unannounced())
            yield from self._counters(self._cache.now() - MAX_AGE_NS)

    def due_s(self) -> float:
        """Until the counters are to be queried."""
        return math.inf if self._first_note_at is None else max(0.0, self._time_left() / 1e9)

    def _time_left(self) -> int:
        return (self._first_note_at or 0) + COALESCE_NS - self._cache.now()

    def _counters(self, not_before: int) -> Iterator[StreamText]:
        counters = self._cache.counters(self._event.organisation_id, self._event.id, not_before=not_before)
        if counters.version != self._version:
            self._version = counters.version
            yield Frame("counters", asdict(counters), self._sent.order).encoded()


def event_opening(facts: FactStream, cache: CountersCache, event: EventDetails, last_seen: str) -> Iterator[StreamText]:
    """What was missed, then the counters now."""
    started_at = cache.now()  # older counters may lack what was announced before this reader was heard
    missed, newest = facts.missed(last_seen)
    counters = cache.counters(event.organisation_id, event.id, not_before=started_at)
    yield from _texts([*missed, Frame("counters", asdict(counters), newest)])


class PublicEventSource:
    """One public event: how many seats are left, and its status."""

    pace_s = 0.0

    def __init__(self, parts: Parts, event_id: str) -> None:
        """The caller has checked that the event is public."""
        self._parts, self._event_id = parts, event_id
        self._status = ""

    def start(self) -> None:
        """Begin with the next status."""
        self._status = visible_status(self._parts, self._event_id).payload["new_status"]

    def update(self, notes: Sequence[Notification], *, look: bool) -> Iterator[StreamText]:
        """What has changed; StreamEnded once the event is hidden."""
        for frame in public_frames(notes, self._event_id):
            if frame.name == "status":
                self._status = frame.payload["new_status"]
            yield frame.encoded()
        if look:
            yield from self._unannounced_status()

    def due_s(self) -> float:
        """Any time: nothing is held back."""
        return math.inf

    def _unannounced_status(self) -> Iterator[StreamText]:
        try:
            frame = visible_status(self._parts, self._event_id, self._status)
        except NotFound:
            raise StreamEnded from None
        if frame.payload["new_status"] != self._status:
            self._status = frame.payload["new_status"]
            yield frame.encoded()


def visible_status(parts: Parts, event_id: str, old: str = "") -> Frame:
    """The status of an event that everybody may see; NotFound if they may not."""
    with parts.database.reading() as session:
        event = public_queries.listing_fields(session, event_id)
    if event is None or event.status not in VISIBLE_STATUSES:
        raise NotFound("There is no such event.", code="event_not_found")
    payload = {"event_id": event_id, "old_status": old or None, "new_status": event.status, "mark": mark(event)}
    return Frame("status", payload | {"rescheduled_at": event.rescheduled_at})


def public_opening(parts: Parts, organisation_id: str, event_id: str) -> Iterator[StreamText]:
    """Status and seats now."""
    yield visible_status(parts, event_id).encoded()
    counts = organisers_counts(parts, map_responses_of(parts).maps, organisation_id, event_id)
    yield from _texts(occupancy_frames(counts, event_id))


def _reset(order: int) -> Frame:
    return Frame("reset", {"means": "Too much has happened since. Reload everything."}, order)


def _texts(frames: Iterable[Frame]) -> Iterator[StreamText]:
    return (frame.encoded() for frame in frames)
