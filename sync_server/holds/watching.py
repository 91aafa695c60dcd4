"""How many holds an event has that are not over, whatever has become of the event."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import HoldRow, HoldStatus


def living(session: Session, event_ids: Collection[str], now: Millis) -> dict[str, int]:
    """By event, its suspended holds and its active ones that are not over; events without any are left out."""
    lives = or_(
        HoldRow.status == HoldStatus.SUSPENDED, (HoldRow.status == HoldStatus.ACTIVE) & (HoldRow.held_until > now)
    )
    counted = select(HoldRow.event_id, func.count()).where(HoldRow.event_id.in_(event_ids), lives)
    return {row[0]: row[1] for row in session.execute(counted.group_by(HoldRow.event_id))}
