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
from sync_server.plumbing.sql.prepared import Prepared, placeholder
from sync_server.tickets import queries
from sync_server.tickets.models import TicketTypeRecord

_SAYS: Final = fingerprint(TicketTypeRecord, but={"issued", "reserved", "badge_layout"}).label("said")
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
