"""Reads of series: events that belong together."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.events.models import EventRecord


@dataclass(frozen=True, slots=True)
class Series:
    """Events that belong together."""

    recurrence_group_id: str
    name: str
    events: int
    first_start_at: Millis
    last_start_at: Millis


def all_series(session: Session, organisation_id: str) -> list[Series]:
    """The organisation's series, ordered and named by their first event; archived events are left out."""
    conditions = EventRecord.organisation_id == organisation_id, EventRecord.status != EventStatus.ARCHIVED.value
    group, start = EventRecord.recurrence_group_id, EventRecord.start_at
    statement = (
        select(group, EventRecord.name, start).where(*conditions, group.is_not(None)).order_by(start, EventRecord.id)
    )
    found: dict[str, list[tuple[str, Millis]]] = {}
    for id, name, at in session.execute(statement):
        found.setdefault(str(id), []).append((name, at))
    return [Series(id, rows[0][0], len(rows), rows[0][1], rows[-1][1]) for id, rows in found.items()]


def series_exists(session: Session, organisation_id: str, series: str) -> bool:
    """Whether an event of the organisation belongs to this series."""
    found = EventRecord.organisation_id == organisation_id, EventRecord.recurrence_group_id == series
    return session.execute(select(EventRecord.id).where(*found).limit(1)).first() is not None
