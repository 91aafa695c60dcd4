"""Counts the open holds of events, whatever the state of the event."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import HoldRow, HoldStatus


def count_open(session: Session, event_ids: Collection[str], now: Millis) -> dict[str, int]:
    """Suspended holds, and active ones that have not run out, by event; events without any are left out."""
    is_open = or_(
        HoldRow.status == HoldStatus.SUSPENDED, (HoldRow.status == HoldStatus.ACTIVE) & (HoldRow.held_until > now)
    )
    counted = select(HoldRow.event_id, func.count()).where(HoldRow.event_id.in_(event_ids), is_open)
    return {row[0]: row[1] for row in session.execute(counted.group_by(HoldRow.event_id))}
