"""Counts the open holds of events, whatever the state of the event."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, or_, select, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import HoldRow, HoldStatus
from sync_server.plumbing.event_key import EventKey


def count_open(session: Session, events: Collection[EventKey], now: Millis) -> dict[str, int]:
    """Suspended holds, and active ones that have not run out, by event; events without any are left out."""
    is_open = or_(
        HoldRow.status == HoldStatus.SUSPENDED, (HoldRow.status == HoldStatus.ACTIVE) & (HoldRow.held_until > now)
    )
    counted = select(HoldRow.event_id, func.count()).where(
        tuple_(HoldRow.organisation_id, HoldRow.event_id).in_(events), is_open
    )
    return {row[0]: row[1] for row in session.execute(counted.group_by(HoldRow.event_id))}
