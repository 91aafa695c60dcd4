"""Which of some events are on sale or taking place, and at which venues."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus
from sync_server.events.models import EventRecord
from sync_server.events.rules import Mark, mark
from sync_server.plumbing.event_key import EventKey

_ACTIVE_STATUSES: Final = tuple(
    status.value for status in (EventStatus.PUBLISHED, EventStatus.LIVE, EventStatus.POSTPONED)
)
_BATCH_SIZE: Final = 500
_KEY: Final = tuple_(EventRecord.organisation_id, EventRecord.id)


def active_event_ids(session: Session, among: Sequence[EventKey]) -> set[str]:
    """Those of these events that are published, live or postponed."""
    return set(active_event_labels(session, among))


def active_event_labels(session: Session, among: Sequence[EventKey]) -> dict[str, tuple[str, str, str, Mark | None]]:
    """The active ones of these events, each with venue id, event id, name and mark."""
    found: dict[str, tuple[str, str, str, Mark | None]] = {}
    for start in range(0, len(among), _BATCH_SIZE):
        active = _KEY.in_(among[start : start + _BATCH_SIZE]), EventRecord.status.in_(_ACTIVE_STATUSES)
        columns = EventRecord.id, EventRecord.venue_id, EventRecord.name, EventRecord.status, EventRecord.rescheduled_at
        rows = session.execute(select(*columns).where(*active))
        found |= {row.id: (row.venue_id, row.id, row.name, mark(row)) for row in rows}
    return found


def venue_ids_by_event(session: Session, among: Sequence[EventKey]) -> dict[str, str]:
    """The venue of each of these events, whatever its status; deleted events are left out."""
    found: dict[str, str] = {}
    for start in range(0, len(among), _BATCH_SIZE):
        statement = select(EventRecord.id, EventRecord.venue_id).where(_KEY.in_(among[start : start + _BATCH_SIZE]))
        found |= {row.id: row.venue_id for row in session.execute(statement)}
    return found


def timezones_by_id(session: Session, organisation_id: str, event_ids: Collection[str]) -> dict[str, str]:
    """The time zones of these events, by id."""
    here = EventRecord.organisation_id == organisation_id, EventRecord.id.in_(sorted(event_ids))
    return dict(session.execute(select(EventRecord.id, EventRecord.timezone).where(*here)).all()) if event_ids else {}
