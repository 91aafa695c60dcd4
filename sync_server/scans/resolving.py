"""Resolves conflicts: an organiser explains one in a note."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from sync_server.events import queries as events
from sync_server.outbox import service as outbox
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.scans import queries
from sync_server.scans.models import ConflictRow


def resolve(
    session: Session, organisation_id: str, conflict_id: str, note: str, context: ActionContext, *, by: str
) -> ConflictRow:
    """Resolve a conflict with a note. Raises Conflict where it is resolved already."""
    row = queries.conflict(session, organisation_id, conflict_id, lock=True)
    text = note.strip()
    if not text:
        raise InvalidRequest("Explain in a note what happened.", field="note")
    if row.resolved_at is not None:
        raise Conflict(f"{row.resolved_by or 'Somebody'} has already resolved this conflict.", code="already_resolved")
    row.resolved_at, row.resolved_by, row.note = context.now, by[:120], text
    number = events.numbers(session, organisation_id, [row.event_id])[row.event_id]
    subjects = {"conflict": row.id, "event_number": number}
    fact = outbox.Fact("conflict_resolved", organisation_id, context.now, subjects)
    outbox.record_change(session, context, outbox.Subject("conflict", row.id, None, {"kind": row.kind}, text), fact)
    session.flush()
    return row
