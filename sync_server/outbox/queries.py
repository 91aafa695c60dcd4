"""Reads of the outbox: facts by state, and how many participants joined elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Select, bindparam, func, select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.outbox.leases import BROKER, FACT_COLUMNS, LOCAL, message
from sync_server.outbox.models import JoinedElsewhere, OutboxRow
from sync_server.outbox.rules import State
from sync_server.plumbing.jobs import Message

_STATES: dict[State, ColumnElement[bool]] = {
    State.WAITING: OutboxRow.sent_at.is_(None) & OutboxRow.dead_at.is_(None),
    State.DEAD: OutboxRow.dead_at.is_not(None),
    State.UNROUTED: OutboxRow.sent_at.is_not(None) & OutboxRow.unrouted,
    State.SENT: OutboxRow.sent_at.is_not(None),
}


_WAITING = (
    select(*FACT_COLUMNS)
    .where(LOCAL.pending(OutboxRow), OutboxRow.subjects["event"].as_string() == bindparam("event"))
    .order_by(OutboxRow.id)
)


def waiting(session: Session, event_id: str) -> list[Message]:
    """The facts about an event that subscribers here have not handled yet."""
    rows = session.execute(_WAITING, {"event": event_id})
    return [message(row) for row in rows]


def pending_count(session: Session) -> int:
    """How many facts are not delivered yet; counted by stage, so that the partial indexes answer."""
    return sum(_count(session, stage.pending(OutboxRow)) for stage in (LOCAL, BROKER))


def dead_count(session: Session) -> int:
    """How many facts were given up after failing too often."""
    return _count(session, _STATES[State.DEAD])


def _count(session: Session, condition: ColumnElement[bool]) -> int:
    return session.execute(select(func.count()).select_from(OutboxRow).where(condition)).scalar_one()


def list_facts(
    session: Session, state: State, organisation_id: str | None = None, *, after: int = 0, limit: int = 50
) -> Sequence[OutboxRow]:
    """Facts in this state by number, of one organisation or of all, and one more than asked for."""
    wanted = select(OutboxRow).where(_STATES[state], OutboxRow.id > after).order_by(OutboxRow.id).limit(limit + 1)
    return session.execute(_of_organisation(wanted, organisation_id)).scalars().all()


def _of_organisation(wanted: Select[OutboxRow], organisation_id: str | None) -> Select[OutboxRow]:
    return wanted if organisation_id is None else wanted.where(OutboxRow.organisation_id == organisation_id)


def state_of(row: OutboxRow) -> State:
    """The state that a fact is in."""
    if row.dead_at is not None:
        return State.DEAD
    if row.sent_at is None:
        return State.WAITING
    return State.UNROUTED if row.unrouted else State.SENT


def fact(session: Session, message_id: str, organisation_id: str | None = None) -> OutboxRow:
    """One fact, of this organisation where one is given; raises NotFound."""
    found = session.execute(
        _of_organisation(select(OutboxRow).where(OutboxRow.message_id == message_id), organisation_id)
    ).scalar()
    if found is None:
        raise NotFound("There is no fact with this message id, or it was delivered more than a week ago.")
    return found


def joined_elsewhere(session: Session, event_ids: Collection[str]) -> dict[str, int]:
    """How many participants joined each of these events elsewhere; events without any are omitted."""
    wanted = select(JoinedElsewhere).where(JoinedElsewhere.event_id.in_(event_ids), JoinedElsewhere.participants > 0)
    return {row.event_id: row.participants for row in session.execute(wanted).scalars()}
