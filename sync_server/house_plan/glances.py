"""One look at all that a map depends on: may it be seen, what is it drawn from, how far has its log come."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.clock import Millis, MonotonicClock
from shared.errors import NotFound
from shared.lifecycle import EventStatus
from sync_server.house_plan.queries import Head
from sync_server.plumbing.database import Database
from sync_server.plumbing.straight import numbered

# Tables of lower floors, by their names: to ask each floor in turn took ten times as long as all the rest of an answer.
_WORDS: Final = """
SELECT e.organisation_id, e.status, l.layout_id, l.revision, l.updated_at, p.updated_at, n.value,
  COALESCE(h.version, 0), COALESCE(h.oldest, 0)
FROM events e
CROSS JOIN lineage n
LEFT JOIN event_layouts l ON l.event_id = e.id
LEFT JOIN seating_policies p ON p.organisation_id = e.organisation_id
LEFT JOIN seat_map_heads h ON h.event_id = e.id
WHERE e.id = :event
"""
_STRAIGHT: Final = numbered(_WORDS)
_IN_SESSION: Final = text(_WORDS)
MOST: Final = 1_024


@dataclass(frozen=True, slots=True)
class Source:
    """What an event's house is drawn from; another whenever anything of it is another."""

    layout_id: str | None
    revision: int | None
    changed_at: Millis | None
    policy_at: Millis | None
    lineage: bytes  # after a restore versions are given a second time: none from before may be taken for one of them


@dataclass(frozen=True, slots=True)
class Glance:
    """What was seen in one look."""

    event_id: str
    organisation_id: str
    status: EventStatus
    source: Source
    head: Head


def glance(session: Session, event_id: str) -> Glance:
    """The same within a transaction; NotFound where there is no such event."""
    row = session.execute(_IN_SESSION, {"event": event_id}).one_or_none()
    return _seen(event_id, row)


def _seen(event_id: str, row: Sequence[Any] | None) -> Glance:
    if row is None:
        raise NotFound("There is no such event.", code="event_not_found")
    organisation_id, status, layout_id, revision, changed_at, policy_at, lineage, version, oldest = row
    source = Source(layout_id, revision, changed_at, policy_at, bytes(lineage))
    return Glance(event_id, organisation_id, EventStatus(status), source, Head(version, oldest))


@dataclass(slots=True)
class _Shared:
    """The last look at one event, and when it began."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    begun: int = -(1 << 62)
    seen: Glance | Exception | None = None  # a failure is shared as well: else a crowd would wait for it one by one


class Glances:
    """One look serves everybody who asked before it began: a crowd that waits for news costs as much as one of it."""

    def __init__(self, database: Database, monotonic: MonotonicClock) -> None:
        """Has seen nothing yet."""
        self._database, self._monotonic = database, monotonic
        self._turn = threading.Lock()
        self._shared: OrderedDict[str, _Shared] = OrderedDict()

    def look(self, event_id: str, asked_at: int | None = None) -> Glance:
        """What is so at that time or later (of the monotonic clock; None: now), or NotFound."""
        asked_at = self._monotonic() if asked_at is None else asked_at
        shared = self._of(event_id)
        with shared.turn:
            if shared.seen is None or shared.begun < asked_at:
                begun = self._monotonic()
                shared.seen, shared.begun = self._loaded(event_id), begun
            if isinstance(shared.seen, Exception):
                raise shared.seen.with_traceback(None)
            return shared.seen

    def begun(self, event_id: str) -> int:
        """When the last look began."""
        return self._of(event_id).begun

    def _loaded(self, event_id: str) -> Glance | Exception:
        try:
            return self._load(event_id)
        except Exception as problem:
            return problem

    def _load(self, event_id: str) -> Glance:
        straight = self._database.straight
        if straight is not None:
            return _seen(event_id, straight.row(_STRAIGHT, {"event": event_id}))
        with self._database.reading() as session:
            return glance(session, event_id)

    def _of(self, event_id: str) -> _Shared:
        with self._turn:
            shared = self._shared.setdefault(event_id, _Shared())
            self._shared.move_to_end(event_id)
            if len(self._shared) > MOST:
                self._shared.popitem(last=False)
            return shared
