"""Reads moves to another layout; ids of other organisations raise NotFound too."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from shared.errors import Conflict, NotFound
from sync_server.events import queries as events
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.reseating.models import ReseatingRecord, ReseatingStepRecord


def reseating(session: Session, organisation_id: str, event_id: str, id: str) -> ReseatingRecord:
    """A move of this event, or NotFound."""
    row = session.get(ReseatingRecord, (organisation_id, id))
    if row is None or row.event_id != event_id:
        raise NotFound("There is no such report for this event.", code="migration_not_found")
    return row


def planned(session: Session, organisation_id: str, event_id: str, fingerprint: str) -> ReseatingRecord:
    """The newest report with this fingerprint that is not done, with the event locked; Conflict if there is none."""
    events.event(session, organisation_id, event_id, lock=True)
    mine = ReseatingRecord.organisation_id == organisation_id, ReseatingRecord.event_id == event_id
    wanted = select(ReseatingRecord).where(*mine, ReseatingRecord.fingerprint == fingerprint)
    row = session.execute(wanted.order_by(ReseatingRecord.id.desc()).limit(1)).scalar_one_or_none()
    if row is None:
        raise Conflict("There is no report with this fingerprint. Request one first.", code="report_outdated")
    if row.state == "done":
        raise Conflict("This report has already been carried out.", code="already_carried_out", migration=row.id)
    return row


def reseatings(
    session: Session, organisation_id: str, event_id: str, *, limit: int, after: str | None
) -> Page[ReseatingRecord]:
    """All reports of an event, oldest first."""
    events.event(session, organisation_id, event_id)
    mine = ReseatingRecord.organisation_id == organisation_id, ReseatingRecord.event_id == event_id
    wanted = select(ReseatingRecord).where(*mine).order_by(ReseatingRecord.id)
    start = decode_cursor(after, AnId)
    if start is not None:
        wanted = wanted.where(ReseatingRecord.id > start[0])
    return paginate(session.execute(wanted.limit(limit + 1)).scalars().all(), limit, lambda row: (row.id,))


def seats_of_steps(session: Session, row: ReseatingRecord) -> dict[int, tuple[int, int]]:
    """The numbers of the old and the new seat, by ticket."""
    step = ReseatingStepRecord
    wanted = select(step.ticket_id, step.old_seat, step.new_seat).where(*_of(row))
    rows = session.execute(wanted.where(step.new_seat.is_not(None)), execution_options={"yield_per": 1_000})
    return {ticket: (old, new) for ticket, old, new in rows if new is not None}


def tickets_with_new_codes(session: Session, row: ReseatingRecord) -> set[int]:
    """The tickets whose codes are replaced."""
    step = ReseatingStepRecord
    mine = *_of(row), step.new_code
    return set(session.execute(select(step.ticket_id).where(*mine)).scalars())


def next_batch(session: Session, row: ReseatingRecord, limit: int) -> Sequence[ReseatingStepRecord]:
    """The next steps of a move."""
    step = ReseatingStepRecord
    statement = select(step).where(*_of(row), step.place > row.moved).order_by(step.place).limit(limit)
    return session.execute(statement).scalars().all()


def abandoned(session: Session, since: int) -> ReseatingRecord | None:
    """A move in progress without a batch since then: the server that began it is gone."""
    row = ReseatingRecord
    statement = (
        select(row)
        .where(row.state.in_(["closed", "moving"]), row.touched_at <= since)
        .order_by(row.touched_at)
        .limit(1)
    )
    return session.execute(statement).scalar_one_or_none()


def moves(
    session: Session, row: ReseatingRecord, *, limit: int, after: int
) -> tuple[Sequence[ReseatingStepRecord], int | None]:
    """A page of the steps to another seat, and the place after which the next page starts."""
    step = ReseatingStepRecord
    wanted = select(step).where(*_of(row), step.moves, step.place > after)
    found = session.execute(wanted.order_by(step.place).limit(limit + 1)).scalars().all()
    return found[:limit], found[limit - 1].place if len(found) > limit else None


def without_seats(session: Session, row: ReseatingRecord) -> Sequence[ReseatingStepRecord]:
    """The steps without a new seat."""
    step = ReseatingStepRecord
    wanted = select(step).where(*_of(row), step.new_seat.is_(None)).order_by(step.place)
    return session.execute(wanted).scalars().all()


def _of(row: ReseatingRecord) -> tuple[ColumnElement[bool], ...]:
    return ReseatingStepRecord.organisation_id == row.organisation_id, ReseatingStepRecord.reseating_id == row.id
