"""Deletes drafts on which nothing depends, and archives other events that are over."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.lifecycle import EventStatus, may_become
from sync_server.events import queries
from sync_server.events.cover_images import covers
from sync_server.events.dependents import count_dependents
from sync_server.events.lifecycle.status import change_status
from sync_server.events.models import EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.service import record_change
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.revisions import service as revisions


@dataclass(frozen=True, slots=True)
class DeletionResult:
    """Whether a deletion removed the event or archived it, and why."""

    deleted: bool
    message: str
    uses: dict[str, int]


def delete_event(
    session: Session, organisation_id: str, event_id: str, context: ActionContext, *, reason: str = ""
) -> DeletionResult:
    """Delete a draft on which nothing depends; archive any other draft, and events that are over.

    Conflict `event_not_over` for an event that is still on.
    """
    row = queries.event(session, organisation_id, event_id, lock=True)
    status = EventStatus(row.status)
    dependents = count_dependents(session, row, context.now)
    uses = {what: count for what, count in dependents.uses.items() if count}
    if status is EventStatus.DRAFT and not uses and _deleted(session, row, context, reason):
        return DeletionResult(True, "Draft deleted. Nothing depended on it.", {})
    if status is EventStatus.ARCHIVED:
        return DeletionResult(
            False, f"Event kept in the archive, because it has {dependents.summary() or 'a history'}.", uses
        )
    if not may_become(status, EventStatus.ARCHIVED):
        raise Conflict(f"The event is {status.value}. Cancel or end it before you delete it.", code="event_not_over")
    change_status(session, organisation_id, event_id, EventStatus.ARCHIVED, context, reason=reason)
    unused = "other records refer to it" if status is EventStatus.DRAFT else "only drafts are deleted"
    why = f"it has {dependents.summary()}" if uses else unused
    return DeletionResult(
        False, f"Event archived instead of deleted, because {why}. It no longer appears in lists.", uses
    )


def _deleted(session: Session, row: EventRecord, context: ActionContext, reason: str) -> bool:
    """Whether the row could be deleted: a foreign key of another domain, as of counted scans, may forbid it."""
    before = {"name": row.name, "slug": row.slug, "number": row.number}
    try:
        with session.begin_nested():
            revisions.forget_event(session, row.key)
            for table in (ZoneRecord, GateZonesRecord):
                here = table.organisation_id == row.organisation_id, table.event_id == row.id
                session.execute(delete(table).where(*here))
            session.delete(row)
            session.flush()
    except IntegrityError:
        return False
    covers.release_unused_images(session, row.organisation_id, row.cover_images)
    record_change(session, row, "event_deleted", context, before=before, reason=reason)
    return True
