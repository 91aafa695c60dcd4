"""A house that was emptied by somebody at a gate: the event counts from that moment on, at every gate."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.models import EventRecord
from sync_server.events.rows import own_rows
from sync_server.events.service import put, tell
from sync_server.plumbing.principals import Deed


def was_emptied(
    session: Session, organisation_id: str, event_number: int, at: Millis, deed: Deed, *, reason: str
) -> bool:
    """Let nothing count that happened before that moment; nothing changes where the house was emptied since.

    In whatever status the event is by now: it did happen, and journals come late.
    """
    mine = EventRecord.number == event_number, EventRecord.organisation_id == organisation_id
    held = select(EventRecord).where(*mine).with_for_update(key_share=True)
    row = session.execute(held, execution_options={"populate_existing": True}).scalar_one_or_none()
    if row is None or (row.counts_from or 0) >= at:
        return False
    before = {"counts_from": row.counts_from}
    row.counts_from, row.updated_at = at, deed.now
    session.flush()
    put(session, row, own_rows(row))
    tell(session, row, "house_emptied", deed, before=before, after={"counts_from": at}, reason=reason)
    return True
