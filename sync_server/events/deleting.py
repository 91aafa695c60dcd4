"""Deletes drafts on which nothing hangs; lays by everything else that is over."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.lifecycle import EventStatus, may_become
from sync_server.events import covers, queries
from sync_server.events.hanging import hanging
from sync_server.events.models import EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.service import note
from sync_server.events.status import walk
from sync_server.plumbing.principals import Deed
from sync_server.revisions import service as revisions


@dataclass(frozen=True, slots=True)
class Farewell:
    """What became of an event that somebody deleted."""

    gone: bool
    message: str
    uses: dict[str, int]


def delete_event(session: Session, organisation_id: str, event_id: str, deed: Deed, *, reason: str = "") -> Farewell:
    """A draft with nothing on it is gone; another one, or one that is over, goes into the archive.

    Conflict `event_not_over` for an event that people count on.
    """
    row = queries.event(session, organisation_id, event_id, lock=True)
    status = EventStatus(row.status)
    hangs = hanging(session, row, deed.now)
    uses = {what: count for what, count in hangs.uses.items() if count}
    if status is EventStatus.DRAFT and not uses and _deleted(session, row, deed, reason):
        return Farewell(True, "The draft is deleted. Nothing hung on it.", {})
    if status is EventStatus.ARCHIVED:
        return Farewell(False, f"The event stays in the archive, because it has {hangs.words() or 'a past'}.", uses)
    if not may_become(status, EventStatus.ARCHIVED):
        raise Conflict(
            f"The event is {status.value}: people count on it. Cancel it or end it first; then it can go.",
            code="event_not_over",
        )
    walk(session, organisation_id, event_id, EventStatus.ARCHIVED, deed, reason=reason)
    why = f"it has {hangs.words()}" if uses else "it was more than a draft"
    return Farewell(
        False,
        f"The event was put into the archive and not deleted, because {why}. It stands in no list any more.",
        uses,
    )


def _deleted(session: Session, row: EventRecord, deed: Deed, reason: str) -> bool:
    """Whether it is gone; the tables of other rooms have the last word."""
    before = {"name": row.name, "slug": row.slug, "number": row.number}
    try:
        with session.begin_nested():
            for table in (ZoneRecord, GateZonesRecord):
                session.execute(delete(table).where(table.event_id == row.id))
            session.delete(row)
            session.flush()
    except IntegrityError:
        return False
    covers.let_go(session, row.organisation_id, row.cover_images)
    revisions.forget_event(session, row.number)
    note(session, row, "event_deleted", deed, before=before, reason=reason)
    return True
