"""Reads of the outbox: facts by state, and how many participants joined elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from msgspec import structs
from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Text,
    cast,
    func,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.ids import NIL_ID
from sync_server.outbox import cursors, retries
from sync_server.outbox.cursors import FACT_COLUMNS, RELAY, message
from sync_server.outbox.models import CursorRow, JoinedElsewhere, OutboxRow, RetryRow
from sync_server.outbox.rules import State
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.sql.prepared import Prepared, placeholder


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact, its state, and what is known of failed deliveries."""

    row: OutboxRow
    state: State
    attempts: int = 0
    last_error: str = ""
    dead_at: Millis | None = None


def _retried(*, dead: bool) -> ColumnElement[bool]:
    due = RetryRow.due_at
    here = RetryRow.organisation_id == OutboxRow.organisation_id, RetryRow.message_id == OutboxRow.message_id
    return select(RetryRow.message_id).where(*here, due.is_(None) if dead else due.is_not(None)).exists()


_READ = (
    select(func.min(CursorRow.position))
    .where(CursorRow.organisation_id == OutboxRow.organisation_id, CursorRow.reader != RELAY)
    .scalar_subquery()
)
_DEAD = _retried(dead=True)
_WAITING = ~_DEAD & (
    OutboxRow.position.is_(None)
    | (OutboxRow.position > func.coalesce(_READ, OutboxRow.position))
    | _retried(dead=False)
)
_STATES: dict[State, ColumnElement[bool]] = {
    State.WAITING: _WAITING,
    State.DEAD: _DEAD,
    State.UNROUTED: ~_DEAD & ~_WAITING & OutboxRow.unrouted,
    State.SENT: ~_DEAD & ~_WAITING,
}


def _unread_of_event() -> CompoundSelect[*tuple[Any, ...]]:
    """The parts of what a reader has not had yet, each found by an index."""
    organisation, reader = placeholder("organisation_id"), placeholder("reader")
    cursor = select(CursorRow.position).where(CursorRow.organisation_id == organisation, CursorRow.reader == reader)
    again = select(RetryRow.message_id).where(
        RetryRow.organisation_id == organisation, RetryRow.reader == reader, RetryRow.due_at.is_not(None)
    )
    here = OutboxRow.organisation_id == organisation, OutboxRow.subjects["event"].as_string() == placeholder("event_id")
    behind = OutboxRow.position > cursor.scalar_subquery(), OutboxRow.message_id.in_(again)
    as_text = cast(OutboxRow.subjects, Text).label("subjects"), cast(OutboxRow.payload, Text).label("payload")
    columns = [*(column for column in FACT_COLUMNS if column.key not in {"subjects", "payload"}), *as_text]
    return union_all(*(select(*columns).where(*here, part) for part in (OutboxRow.position.is_(None), *behind)))


_UNREAD_OF_EVENT = Prepared(_unread_of_event())


def unread(
    session: Session, reader: str, organisation_id: str, event_id: str, known: Collection[str] = ()
) -> tuple[frozenset[str], list[Message]]:
    """The ids of the facts about an event that a reader has not had yet, and those facts whose ids are not known.

    In a rush there are many, and whoever asks again and again knows nearly all of them.
    """
    rows = _UNREAD_OF_EVENT.rows(session, organisation_id=organisation_id, event_id=event_id, reader=reader)
    new = [_from_text(row) for row in rows if row.message_id not in known]
    return frozenset(row.message_id for row in rows), new


def _from_text(row: Any) -> Message:
    return structs.replace(message(row), subjects=orjson.loads(row.subjects), payload=orjson.loads(row.payload))


def pending_count(session: Session) -> int:
    """How many facts are not delivered yet."""
    new = session.execute(select(func.count()).select_from(OutboxRow).where(OutboxRow.position.is_(None))).scalar_one()
    behind = sum(each.given - each.delivered for each in cursors.progress(session).values())
    return int(new + behind + retries.counts(session)[0])


def oldest_unrelayed(session: Session) -> Millis | None:
    """When the oldest fact was recorded that no relay has taken up yet; None if there is none."""
    return session.execute(select(func.min(OutboxRow.created_at)).where(OutboxRow.position.is_(None))).scalar_one()


def dead_count(session: Session) -> int:
    """How many facts were given up after failing too often."""
    return retries.counts(session)[1]


def list_facts(
    session: Session, state: State, organisation_id: str | None = None, *, after: str = NIL_ID, limit: int = 50
) -> Sequence[StoredFact]:
    """Facts in this state, the oldest first, of one organisation or of all, and one more than asked for."""
    wanted = select(OutboxRow).where(_STATES[state], OutboxRow.message_id > after)
    if organisation_id is not None:
        wanted = wanted.where(OutboxRow.organisation_id == organisation_id)
    rows = session.execute(wanted.order_by(OutboxRow.message_id).limit(limit + 1)).scalars()
    return [_stored(session, row, state) for row in rows]


def _stored(session: Session, row: OutboxRow, state: State) -> StoredFact:
    here = RetryRow.organisation_id == row.organisation_id, RetryRow.message_id == row.message_id
    failed = session.execute(select(RetryRow).where(*here).order_by(RetryRow.attempts.desc())).scalars().first()
    if failed is None:
        return StoredFact(row, state)
    return StoredFact(row, state, failed.attempts, failed.last_error, failed.dead_at)


def fact(session: Session, message_id: str, organisation_id: str | None = None) -> StoredFact:
    """One fact, of this organisation where one is given; raises NotFound."""
    wanted = OutboxRow.message_id == message_id
    if organisation_id is not None:
        wanted &= OutboxRow.organisation_id == organisation_id
    for state in (State.DEAD, State.WAITING, State.UNROUTED, State.SENT):
        found = session.execute(select(OutboxRow).where(wanted, _STATES[state])).scalar()
        if found is not None:
            return _stored(session, found, state)
    raise NotFound("There is no fact with this message id, or it was delivered more than a week ago.")


def joined_elsewhere(session: Session, event_ids: Collection[str]) -> dict[str, int]:
    """How many participants joined each of these events elsewhere; events without any are omitted."""
    wanted = select(JoinedElsewhere).where(JoinedElsewhere.event_id.in_(event_ids), JoinedElsewhere.participants > 0)
    return {row.event_id: row.participants for row in session.execute(wanted).scalars()}
