"""Reads of moves to another layout; a foreign id answers as one that does not exist."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict, NotFound
from sync_server.events import queries as events
from sync_server.plumbing.pages import Page, cut, position
from sync_server.reseating.models import ReseatingRecord


def reseating(session: Session, organisation_id: str, event_id: str, id: str) -> ReseatingRecord:
    """That move of this event, or NotFound."""
    row = session.get(ReseatingRecord, id)
    if row is None or (row.organisation_id, row.event_id) != (organisation_id, event_id):
        raise NotFound("There is no such report of this event.", code="migration_not_found")
    return row


def planned(session: Session, organisation_id: str, event_id: str, fingerprint: str) -> ReseatingRecord:
    """The newest report of this fingerprint that is not carried out, locked; Conflict where there is none."""
    events.event(session, organisation_id, event_id, lock=True)
    mine = ReseatingRecord.event_id == event_id, ReseatingRecord.organisation_id == organisation_id
    wanted = select(ReseatingRecord).where(*mine, ReseatingRecord.fingerprint == fingerprint)
    row = session.execute(wanted.order_by(ReseatingRecord.id.desc()).limit(1)).scalar_one_or_none()
    if row is None:
        raise Conflict("There is no report of this fingerprint. Ask for one first.", code="report_outdated")
    if row.state == "done":
        raise Conflict("This report was carried out already.", code="already_carried_out", migration=row.id)
    return row


def reseatings(
    session: Session, organisation_id: str, event_id: str, *, limit: int, after: str | None
) -> Page[ReseatingRecord]:
    """All reports of an event, oldest first."""
    events.event(session, organisation_id, event_id)
    mine = ReseatingRecord.event_id == event_id, ReseatingRecord.organisation_id == organisation_id
    wanted = select(ReseatingRecord).where(*mine).order_by(ReseatingRecord.id)
    start = position(after, str)
    if start is not None:
        wanted = wanted.where(ReseatingRecord.id > start[0])
    return cut(session.execute(wanted.limit(limit + 1)).scalars().all(), limit, lambda row: (row.id,))
