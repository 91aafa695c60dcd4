"""Lets layouts follow events that are copied or move house, and says what hangs on a venue or an event."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.events.copying import Copied
from sync_server.events.hanging import Hanging
from sync_server.events.service import has_room, tell
from sync_server.plumbing.principals import Deed
from sync_server.seating import queries
from sync_server.seating.models import EventLayoutRecord, LayoutRecord
from sync_server.seating.taken import taken

_CHOICE: Final = (
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


def layouts_at(session: Session, venue_id: str) -> int:
    """How many versions of layouts a venue has."""
    return session.execute(select(func.count()).where(LayoutRecord.venue_id == venue_id)).scalar_one()


def room_at(session: Session, venue_id: str) -> dict[str, int]:
    """For how many people each layout of a venue is drawn that events may still choose."""
    here = LayoutRecord.venue_id == venue_id, LayoutRecord.status != "archived"
    drawn = select(LayoutRecord.name, func.max(LayoutRecord.total_capacity)).where(*here).group_by(LayoutRecord.name)
    return {name: int(room) for name, room in session.execute(drawn)}


def count(session: Session, asked: Hanging, now: Millis) -> None:
    """An event's layout, and what of it is sold or held."""
    if queries.maybe_event_layout(session, asked.organisation_id, asked.event_id) is not None:
        asked.uses["layouts"] = 1
    gone = taken(session, asked.event_id, now)
    asked.taken = len(gone.seats) + gone.places.total()
    asked.uses["seats and places sold or held"] = asked.taken


def copy_layout(session: Session, copied: Copied, now: Millis) -> None:
    """The copy takes place on the same version of the same layout, with the same deltas."""
    source = queries.maybe_event_layout(session, copied.organisation_id, copied.source_id)
    if source is None:
        return
    words: dict[str, Any] = {name: getattr(source, name) for name in _CHOICE}
    session.add(EventLayoutRecord(**words, event_id=copied.copy_id, created_at=now, updated_at=now))
    session.flush()
    room = events.event(session, copied.organisation_id, copied.source_id).layout_room
    has_room(session, copied.organisation_id, copied.copy_id, room)
    event = events.event(session, copied.organisation_id, copied.copy_id)
    after = {"layout": source.layout_id, "version": source.layout_version, "blocked": len(source.blocked_seats)}
    tell(session, event, "event_layout_chosen", copied.deed, after=after)


def leave_house(session: Session, organisation_id: str, event_id: str, deed: Deed) -> None:
    """An event that moved has no use for its old house's layout; nothing of it is sold or held, the move made sure."""
    row = queries.maybe_event_layout(session, organisation_id, event_id)
    if row is None:
        return
    session.delete(row)
    session.flush()
    has_room(session, organisation_id, event_id, 0)
    event = events.event(session, organisation_id, event_id)
    tell(session, event, "event_layout_dropped", deed, before={"layout": row.layout_id})
