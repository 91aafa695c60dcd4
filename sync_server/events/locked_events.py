"""The events that a transaction has locked: nobody else changes them, so it reads them once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from sync_server.events.models import EventRecord
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.fingerprints import fingerprint
from sync_server.plumbing.sql.known_rows import AsRead
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange

_KEPT: Final = "events locked by this transaction"


def of(session: Session) -> dict[tuple[str, str], EventRecord]:
    """By organisation and id. The counters of what is issued may have changed since; those are read with the lock."""
    kept: dict[tuple[str, str], EventRecord] = session.info.setdefault(_KEPT, {})
    return kept


def is_locked(session: Session, organisation_id: str, event_id: str) -> bool:
    """Whether this transaction has locked that event, so that nobody else changes it or its layout."""
    return (organisation_id, event_id) in of(session)


def one(organisation_id: str, event_id: str) -> Select[EventRecord]:
    """The statement that reads an event."""
    return select(EventRecord).where(EventRecord.organisation_id == organisation_id, EventRecord.id == event_id)


class EventAsRead(NamedTuple):
    """An event that was read without its lock, and what its row said."""

    row: EventRecord
    said: str


class KeptEvent(NamedTuple):
    """The same for later transactions."""

    row: AsRead[EventRecord]
    said: str

    @classmethod
    def of(cls, event: EventAsRead) -> KeptEvent:
        """Without its counters."""
        return cls(AsRead.of(event.row, but=_COUNTERS), event.said)

    def in_session(self, session: Session) -> EventAsRead:
        """As if this session had read it."""
        return EventAsRead(self.row.row(session), self.said)


_COUNTERS: Final = frozenset({"ticket_sequence", "tickets_issued", "least_issued"})
"""Each sale raises them: whoever needs them asks for them."""
_SAYS: Final = fingerprint(EventRecord, but=_COUNTERS).label("said")
_HERE: Final = EventRecord.organisation_id == placeholder("organisation"), EventRecord.id == placeholder("event")
_LOCK: Final = PreparedChange(lambda _: select(_SAYS).where(*_HERE).with_for_update(key_share=True))


def read_ahead(session: Session, event: EventKey) -> EventAsRead | None:
    """An event as it is now, on PostgreSQL, for whoever will lock it soon; None where there is none."""
    found = session.execute(one(*event).add_columns(_SAYS)).one_or_none()
    return None if found is None else EventAsRead(*found)


@contextmanager
def presumed(session: Session, event: EventAsRead) -> Iterator[None]:
    """Read this event as if it were locked; whatever asks the database does not belong here."""
    key = event.row.organisation_id, event.row.id
    of(session)[key] = event.row
    try:
        yield
    finally:
        del of(session)[key]


def forget(session: Session, event: EventKey) -> None:
    """Read this event with its lock once more."""
    of(session).pop((event.organisation_id, event.event_id), None)


def asks_lock(event: EventKey) -> Question:
    """What `lock_as_read` asks."""
    return _LOCK, {"organisation": event.organisation_id, "event": event.event_id}


def lock_as_read(session: Session, event: EventAsRead) -> bool:
    """Lock an event that was read ahead; whether it still is as it was, but for its counters."""
    statement, values = asks_lock(event.row.key)
    unchanged = [said for (said,) in statement.rows(session, **values)] == [event.said]
    if unchanged:
        of(session)[event.row.organisation_id, event.row.id] = event.row
    return unchanged
