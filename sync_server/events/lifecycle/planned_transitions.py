"""Which planned transitions are due: sales that open, evenings that end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.models import EventRecord
from sync_server.events.signals import EventChanged
from sync_server.plumbing.due import first_due, organisations_due
from sync_server.plumbing.waking import wake

APPLY: Final = "events.walk_planned"
"""The job that applies them."""
_PLANS: Final = (  # each has an index of its own
    (EventRecord.go_live_at, EventRecord.status == "published", EventRecord.go_live_at.is_not(None)),
    (
        EventRecord.go_live_at,
        EventRecord.status == "postponed",
        EventRecord.rescheduled_at.is_not(None),
        EventRecord.go_live_at.is_not(None),
    ),
    (EventRecord.end_at_auto, EventRecord.status == "live", EventRecord.end_at_auto.is_not(None)),
)


def next_at(session: Session, _now: Millis) -> Millis | None:
    """When the next planned transition of any event is due."""
    return first_due(session, *_PLANS)


def on_changed(session: Session, event: EventChanged) -> None:
    """Let the worker learn when this event's next transition is due: it may be sooner than it looks."""
    row = session.get_one(EventRecord, (event.organisation_id, event.event_id))
    if row.go_live_at is not None or row.end_at_auto is not None:
        wake(session, APPLY)


def organisations_due_now(session: Session, now: Millis) -> Sequence[str]:
    """The organisations with an event whose planned transition is due."""
    return organisations_due(session, EventRecord.organisation_id, _transition_due(now))


def due_events(session: Session, organisation_id: str, now: Millis) -> Sequence[EventRecord]:
    """An organisation's events whose planned transition is due; rows that another worker has locked are skipped."""
    here = EventRecord.organisation_id == organisation_id, _transition_due(now)
    due = select(EventRecord).where(*here).order_by(EventRecord.id).limit(100)
    return session.execute(due.with_for_update(skip_locked=True, key_share=True)).scalars().all()


def _transition_due(now: Millis) -> ColumnElement[bool]:
    return or_(*(and_(*which, moment <= now) for moment, *which in _PLANS))
