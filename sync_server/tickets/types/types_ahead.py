"""The ticket types of an event, read before it is locked, and compared with what they say behind the lock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.fingerprints import fingerprint
from sync_server.plumbing.sql.known_rows import AsRead
from sync_server.plumbing.sql.prepared import Prepared, placeholder
from sync_server.tickets import queries
from sync_server.tickets.models import TicketTypeRecord

_LEFT_OUT: Final = frozenset({"issued", "reserved", "badge_layout"})
"""Counters, which each sale raises, and what no sale reads: whoever needs them asks for them."""
_SAYS: Final = fingerprint(TicketTypeRecord, but=_LEFT_OUT).label("said")
_TYPES_SAY: Final = Prepared(
    select(TicketTypeRecord.number, _SAYS).where(
        TicketTypeRecord.organisation_id == placeholder("organisation"),
        TicketTypeRecord.event_id == placeholder("event"),
    )
)


class TypesAsRead(NamedTuple):
    """The ticket types of an event that were read without its lock, and what their rows said, by number."""

    rows: Sequence[TicketTypeRecord]
    said: dict[int, str]


class KeptTypes(NamedTuple):
    """The same for later transactions."""

    rows: Sequence[AsRead[TicketTypeRecord]]
    said: dict[int, str]

    @classmethod
    def of(cls, types: TypesAsRead) -> KeptTypes:
        """Without their counters."""
        return cls([AsRead.of(row, but=_LEFT_OUT) for row in types.rows], types.said)

    def in_session(self, session: Session) -> TypesAsRead:
        """As if this session had read them."""
        return TypesAsRead([row.row(session) for row in self.rows], self.said)


def read_ahead(session: Session, event: EventKey) -> TypesAsRead:
    """The ticket types of an event, on PostgreSQL, for whoever will lock it soon."""
    found = session.execute(queries.by_event(*event).add_columns(_SAYS)).all()
    return TypesAsRead([row for row, _ in found], {row.number: said for row, said in found})


def asks(event: EventKey) -> Question:
    """What `are_as_read` asks."""
    return _TYPES_SAY, {"organisation": event.organisation_id, "event": event.event_id}


def are_as_read(session: Session, event: EventKey, types: TypesAsRead) -> bool:
    """Whether the ticket types of an event, which is locked, are as they were but for what is issued and reserved."""
    statement, values = asks(event)
    return {row.number: row.said for row in statement.rows(session, **values)} == types.said


def know(session: Session, event: EventKey, types: TypesAsRead) -> None:
    """Remember these as the ticket types of an event that this transaction has locked."""
    session.info.setdefault(queries.KNOWN_TYPES, {})[event.event_id] = types.rows


@contextmanager
def presumed(session: Session, event: EventKey, types: TypesAsRead) -> Iterator[None]:
    """Read these as if their event were locked; whatever asks the database does not belong here."""
    know(session, event, types)
    try:
        yield
    finally:
        del session.info[queries.KNOWN_TYPES][event.event_id]
