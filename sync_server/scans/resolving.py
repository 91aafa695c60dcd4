"""Resolves conflicts: an organiser explains one in a note."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from sync_server.events import queries as events
from sync_server.outbox import service as outbox
from sync_server.plumbing.database import database_of
from sync_server.plumbing.principals import ActionContext, Actor
from sync_server.scans import queries
from sync_server.scans.models import ConflictRow


def resolve(
    session: Session, organisation_id: str, conflict_id: str, note: str, *, actor: Actor, by: str, now: Millis
) -> ConflictRow:
    """Resolve a conflict with a note. Raises Conflict where it is resolved already."""
    row = queries.conflict(session, organisation_id, conflict_id, lock=True)
    text = note.strip()
    if not text:
        raise InvalidRequest("Explain in a note what happened.", field="note")
    if row.resolved_at is not None:
        raise Conflict(f"{row.resolved_by or 'Somebody'} has already resolved this conflict.", code="already_resolved")
    row.resolved_at, row.resolved_by, row.note = now, by[:120], text
    subjects = {
        "conflict": row.id,
        "event_number": events.numbers(session, organisation_id, [row.event_id])[row.event_id],
    }
    fact = outbox.Fact("conflict_resolved", organisation_id, now, subjects)
    context = ActionContext(actor, now, database_of(session).entropy)
    outbox.record_change(session, context, outbox.Subject("conflict", row.id, None, {"kind": row.kind}, text), fact)
    session.flush()
    return row
