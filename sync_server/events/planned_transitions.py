"""Which planned transitions are due: sales that open, evenings that end."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.models import EventRecord
from sync_server.plumbing.due import anything_due, organisations_due


def any_due(session: Session, now: Millis) -> bool:
    """Whether the planned transition of any event is due."""
    return anything_due(session, EventRecord.organisation_id, _transition_due(now))


def organisations_due_now(session: Session, now: Millis) -> Sequence[str]:
    """The organisations with an event whose planned transition is due."""
    return organisations_due(session, EventRecord.organisation_id, _transition_due(now))


def due_events(session: Session, organisation_id: str, now: Millis) -> Sequence[EventRecord]:
    """An organisation's events whose planned transition is due; rows that another worker has locked are skipped."""
    here = EventRecord.organisation_id == organisation_id, _transition_due(now)
    due = select(EventRecord).where(*here).order_by(EventRecord.id).limit(100)
    return session.execute(due.with_for_update(skip_locked=True, key_share=True)).scalars().all()


def _transition_due(now: Millis) -> ColumnElement[bool]:
    opens = EventRecord.status == "published", EventRecord.go_live_at <= now
    opens_on_new_date = (
        EventRecord.status == "postponed",
        EventRecord.rescheduled_at.is_not(None),
        EventRecord.go_live_at <= now,
    )
    ends = EventRecord.status == "live", EventRecord.end_at_auto <= now
    return or_(and_(*opens), and_(*opens_on_new_date), and_(*ends))  # each has an index of its own
