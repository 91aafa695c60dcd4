"""Handles events that are copied or moved to another venue, and reports how layouts are used."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.events.dependents import EventDependents
from sync_server.events.series.copying import CopiedEvent
from sync_server.events.service import record_change, set_layout_capacity
from sync_server.plumbing.principals import ActionContext
from sync_server.seating import queries
from sync_server.seating.models import EventLayoutRecord, LayoutRecord
from sync_server.seating.taken import taken

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


def count_layouts(session: Session, venue_id: str) -> int:
    """How many layout versions a venue has."""
    return session.execute(select(func.count()).where(LayoutRecord.venue_id == venue_id)).scalar_one()


def planned_capacity(session: Session, venue_id: str) -> dict[str, int]:
    """The capacity of each layout of a venue that events can still choose, by name."""
    usable = LayoutRecord.venue_id == venue_id, LayoutRecord.status != "archived"
    largest = select(LayoutRecord.name, func.max(LayoutRecord.total_capacity)).where(*usable)
    return {name: int(capacity) for name, capacity in session.execute(largest.group_by(LayoutRecord.name))}


def count_uses(session: Session, dependents: EventDependents, now: Millis) -> None:
    """Report the event's layout, and its sold or held seats and places."""
    if queries.find_event_layout(session, dependents.organisation_id, dependents.event_id) is not None:
        dependents.uses["layouts"] = 1
    occupied = taken(session, dependents.event_id, now)
    dependents.taken = len(occupied.seats) + occupied.places.total()
    dependents.uses["seats and places sold or held"] = dependents.taken


def copy_layout(session: Session, copied: CopiedEvent, now: Millis) -> None:
    """Give the copy the same layout version with the same overrides."""
    source = queries.find_event_layout(session, copied.organisation_id, copied.source_id)
    if source is None:
        return
    columns: dict[str, Any] = {name: getattr(source, name) for name in _COPIED_COLUMNS}
    session.add(EventLayoutRecord(**columns, event_id=copied.copy_id, created_at=now, updated_at=now))
    session.flush()
    capacity = events.event(session, copied.organisation_id, copied.source_id).layout_capacity
    set_layout_capacity(session, copied.organisation_id, copied.copy_id, capacity)
    event = events.event(session, copied.organisation_id, copied.copy_id)
    after = {"layout": source.layout_id, "version": source.layout_version, "blocked": len(source.blocked_seats)}
    record_change(session, event, "event_layout_chosen", copied.context, after=after)


def drop_layout(session: Session, organisation_id: str, event_id: str, context: ActionContext) -> None:
    """Remove the layout of an event that moved to another venue; such an event has nothing sold or held."""
    row = queries.find_event_layout(session, organisation_id, event_id)
    if row is None:
        return
    session.delete(row)
    session.flush()
    set_layout_capacity(session, organisation_id, event_id, 0)
    event = events.event(session, organisation_id, event_id)
    record_change(session, event, "event_layout_dropped", context, before={"layout": row.layout_id})
