"""What streams tell: of one event, of an organisation's events, and of one event to anybody."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from sync_server.events import public_queries
from sync_server.events.queries import EventFacts
from sync_server.holds.telling import counted
from sync_server.live.frames import Frame, for_anybody, of_fact, of_notes, seats_left
from sync_server.live.watchers import Watchers
from sync_server.outbox import past
from sync_server.outbox.announcing import is_news, is_of_houses, news
from sync_server.plumbing.bus import Note
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Message

GATHER_NS = 200_000_000
"""So long a burst of scans is gathered before the numbers are looked up: one look serves all readers of an event."""
A_MOMENT_NS = 500_000_000
"""Numbers of so short a while ago will do where nobody has told of a change."""


class Memory:
    """How far a reader has been told the facts of an organisation, or of one event of it."""

    def __init__(self, parts: Parts, organisation_id: str, last_seen: str, event_number: int | None = None) -> None:
        """`last_seen` is what a reader that comes back has seen last; empty for one that is new."""
        self._parts, self._organisation_id, self._event_number = parts, organisation_id, event_number
        self._last_seen = last_seen
        self._sent: dict[str, None] = {}
        self.order = 0

    def begin(self) -> Iterator[Frame]:
        """What was missed while away, or `reset` where nobody can tell."""
        heard = int(self._last_seen) if self._last_seen.isdecimal() and len(self._last_seen) < 19 else None
        with self._parts.database.reading() as session:
            self.order = past.newest(session)
        if heard is not None:
            yield from self._since(heard)
        elif self._last_seen:
            yield self._reset()

    def look(self) -> Iterator[Frame]:
        """What the bus may not have told."""
        yield from self._since(self.order)

    def note(self, frame: Frame, message_id: str) -> bool:
        """Whether this fact is new to the reader; it is taken down as told."""
        if message_id in self._sent:
            return False
        self._sent[message_id] = None
        if len(self._sent) > 2 * past.MOST:
            del self._sent[next(iter(self._sent))]
        self.order = max(self.order, frame.order or 0)
        return True

    def _since(self, heard: int) -> Iterator[Frame]:
        with self._parts.database.reading() as session:
            newest = past.newest(session)
            missed = past.since(session, self._organisation_id, heard, event_number=self._event_number)
        self.order = max(self.order, newest)
        if missed is None:
            yield self._reset()
            return
        for message in filter(self._belongs, missed):
            frame = of_fact(news(message))
            if self.note(frame, message.message_id):
                yield frame

    def _belongs(self, message: Message) -> bool:
        if self._event_number is not None:
            return message.subjects.get("event") is not None
        return is_of_houses(message.name) or (is_news(message.name) and message.subjects.get("event") is not None)

    def _reset(self) -> Frame:
        return Frame("reset", {"means": "Too much has happened since. Load everything anew."}, self.order)


class Telling:
    """What tells everything at once, and gathers nothing."""

    def patience_s(self) -> float:
        """As long as anybody likes."""
        return math.inf

    def settled(self) -> Iterable[Frame]:
        """Nothing."""
        return ()


class OfOrganisation(Telling):
    """Every event of an organisation: made, changed, walked on."""

    def __init__(self, memory: Memory) -> None:
        """Goes on where the memory ends."""
        self._memory = memory

    def begin(self) -> Iterator[Frame]:
        """What was missed, and where the stream stands."""
        yield from self._memory.begin()
        yield Frame("ready", {}, self._memory.order)

    def news(self, notes: Sequence[Note]) -> Iterator[Frame]:
        """Facts as they are told."""
        return _new(of_notes(notes), self._memory)

    def look(self) -> Iterable[Frame]:
        """Facts that were not."""
        return self._memory.look()


class OfEvent:
    """One event: its facts, its seats, and all its numbers whenever one changes."""

    def __init__(self, memory: Memory, watchers: Watchers, event: EventFacts) -> None:
        """Of an event that was looked up before."""
        self._memory, self._watchers, self._event = memory, watchers, event
        self._version = ""
        self._heard_at: int | None = None  # the first note since the numbers were looked up
        self._latest = 0  # and the last one

    def begin(self) -> Iterator[Frame]:
        """What was missed, then the numbers of now."""
        began = self._watchers.moment()  # older numbers may lack what was noted before anybody listened here
        yield from self._memory.begin()
        yield from self._counters(began)

    def news(self, notes: Sequence[Note]) -> Iterator[Frame]:
        """Facts and seats at once; the numbers once a burst is gathered."""
        self._latest = self._watchers.moment()
        self._heard_at = self._latest if self._heard_at is None else self._heard_at
        return _new(of_notes(notes), self._memory)

    def patience_s(self) -> float:
        """Until the numbers are to be looked up."""
        return math.inf if self._heard_at is None else max(0.0, self._gathering() / 1e9)

    def settled(self) -> Iterator[Frame]:
        """The numbers, a moment after the first note: one look serves a burst, and all readers of it."""
        if self._heard_at is not None and self._gathering() <= 0:
            self._heard_at = None
            yield from self._counters(self._latest)

    def look(self) -> Iterator[Frame]:
        """The same without the bus; gates also fall silent without telling anybody."""
        yield from self._memory.look()
        yield from self._counters(self._watchers.moment() - A_MOMENT_NS)

    def _gathering(self) -> int:
        return (self._heard_at or 0) + GATHER_NS - self._watchers.moment()

    def _counters(self, not_before: int) -> Iterator[Frame]:
        board = self._watchers.look(self._event.organisation_id, self._event.id, not_before=not_before)
        if board.version != self._version:
            self._version = board.version
            yield Frame("counters", asdict(board), self._memory.order)


class ForAnybody(Telling):
    """One visible event: how many seats are left, and what becomes of it."""

    def __init__(self, parts: Parts, organisation_id: str, event_id: str) -> None:
        """Of an event that everybody may see."""
        self._parts, self._organisation_id, self._event_id = parts, organisation_id, event_id
        self._status = ""

    def begin(self) -> Iterator[Frame]:
        """How it stands."""
        yield from self.look()
        with self._parts.database.reading() as session:
            counts = counted(session, self._organisation_id, self._event_id, self._parts.clock())
        yield from seats_left(counts, self._event_id)

    def news(self, notes: Sequence[Note]) -> Iterator[Frame]:
        """What has changed."""
        for frame in for_anybody(notes, self._event_id):
            if frame.name == "status":
                self._status = frame.told["new_status"]
            yield frame

    def look(self) -> Iterator[Frame]:
        """Its status, where that is not known yet."""
        with self._parts.database.reading() as session:
            facts = public_queries.listed_facts(session, self._event_id)
        if facts is not None and facts.status.value != self._status:
            old, self._status = self._status or None, facts.status.value
            told = {"event_id": self._event_id, "old_status": old, "new_status": self._status}
            yield Frame("status", told | {"rescheduled_at": facts.rescheduled_at})


def _new(frames: Iterable[Frame], memory: Memory) -> Iterator[Frame]:
    for frame in frames:
        if frame.order is None or memory.note(frame, frame.told["message_id"]):
            yield frame
