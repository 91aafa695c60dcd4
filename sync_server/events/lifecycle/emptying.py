"""Venue emptied at a gate: every gate counts admissions from that moment on."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.models import EventRecord
from sync_server.events.service import put_rows, record_change
from sync_server.events.snapshot_rows import own_rows
from sync_server.plumbing.requests.principals import ActionContext


def record_emptied(
    session: Session, organisation_id: str, event_id: str, at: Millis, context: ActionContext, *, reason: str
) -> bool:
    """Discard all admissions before that moment; False where the venue was emptied later than that.

    Whatever the status of the event is now: journals arrive late.
    """
    matches = EventRecord.organisation_id == organisation_id, EventRecord.id == event_id
    statement = select(EventRecord).where(*matches).with_for_update(key_share=True)
    row = session.execute(statement, execution_options={"populate_existing": True}).scalar_one_or_none()
    if row is None or (row.counts_from or 0) >= at:
        return False
    count_from(session, row, at, context, reason=reason)
    return True


def count_from(session: Session, row: EventRecord, at: Millis, context: ActionContext, *, reason: str) -> None:
    """Let gates and server count admissions from a moment on."""
    before = {"counts_from": row.counts_from}
    row.counts_from, row.updated_at = at, context.now
    session.flush()
    put_rows(session, row, own_rows(row))
    record_change(session, row, "house_emptied", context, before=before, after={"counts_from": at}, reason=reason)
