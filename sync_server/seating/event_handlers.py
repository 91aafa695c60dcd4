"""Handles events that are copied or moved to another venue, and answers how layouts are used."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sync_server.events import queries as events
from sync_server.events.service import record_change, set_layout_capacity
from sync_server.events.signals import EventCopied, EventMoved
from sync_server.seating import queries
from sync_server.seating.models import EventLayoutRecord, LayoutRecord

_COPIED_COLUMNS: Final = (
    "organisation_id",
    "layout_id",
    "layout_version",
    "blocked_seats",
    "disabled_zones",
    "zone_overrides",
    "price_zones",
    "seating_overrides",
    "event_zones",
)


def count_layouts(session: Session, organisation_id: str, venue_id: str) -> int:
    """How many layout versions a venue has."""
    here = LayoutRecord.organisation_id == organisation_id, LayoutRecord.venue_id == venue_id
    return session.execute(select(func.count()).where(*here)).scalar_one()


def planned_capacity(session: Session, organisation_id: str, venue_id: str) -> dict[str, int]:
    """The capacity of each layout of a venue that events can still choose, by name."""
    here = LayoutRecord.organisation_id == organisation_id, LayoutRecord.venue_id == venue_id
    largest = select(LayoutRecord.name, func.max(LayoutRecord.total_capacity)).where(
        *here, LayoutRecord.status.not_in(("importing", "archived"))
    )
    return {name: int(capacity) for name, capacity in session.execute(largest.group_by(LayoutRecord.name))}


def count_event_layouts(session: Session, organisation_id: str, event_id: str) -> int:
    """How many layouts an event has: one or none."""
    return 0 if queries.find_event_layout(session, organisation_id, event_id) is None else 1


def copy_layout(session: Session, copied: EventCopied) -> None:
    """Give the copy the same layout version with the same overrides."""
    source = queries.find_event_layout(session, copied.organisation_id, copied.source_id)
    if source is None:
        return
    columns: dict[str, Any] = {name: getattr(source, name) for name in _COPIED_COLUMNS}
    now = copied.context.now
    session.add(EventLayoutRecord(**columns, event_id=copied.copy_id, created_at=now, updated_at=now))
    session.flush()
    capacity = events.event(session, copied.organisation_id, copied.source_id).layout_capacity
    set_layout_capacity(session, copied.organisation_id, copied.copy_id, capacity)
    event = events.event(session, copied.organisation_id, copied.copy_id)
    after = {"layout": source.layout_id, "version": source.layout_version, "blocked": len(source.blocked_seats)}
    record_change(session, event, "event_layout_chosen", copied.context, after=after)


def drop_layout(session: Session, moved: EventMoved) -> None:
    """Remove the layout of an event that moved to another venue; such an event has nothing sold or held."""
    row = queries.find_event_layout(session, moved.organisation_id, moved.event_id)
    if row is None:
        return
    session.delete(row)
    session.flush()
    set_layout_capacity(session, moved.organisation_id, moved.event_id, 0)
    event = events.event(session, moved.organisation_id, moved.event_id)
    record_change(session, event, "event_layout_dropped", moved.context, before={"layout": row.layout_id})
