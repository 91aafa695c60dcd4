"""Reads of what buyers of an event were told."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.events import queries as events
from sync_server.order_mails.models import EventNewsRow
from sync_server.plumbing.event_key import EventKey


def require_event(session: Session, key: EventKey) -> None:
    """NotFound unless the organisation has this event."""
    events.event(session, *key)


def news(session: Session, key: EventKey) -> Sequence[EventNewsRow]:
    """What the buyers of an event were told, the newest first; of the last two months."""
    require_event(session, key)
    wanted = select(EventNewsRow).where(key.of(EventNewsRow)).order_by(EventNewsRow.created_at.desc()).limit(100)
    return session.execute(wanted).scalars().all()
