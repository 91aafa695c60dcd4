"""How an event's holds ended: how many were bought, how many ran out."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sync_server.holds.models import HoldRow


def outcomes(session: Session, organisation_id: str, event_id: str) -> Mapping[str, int]:
    """Holds of an event by status."""
    here = HoldRow.organisation_id == organisation_id, HoldRow.event_id == event_id
    counted = select(HoldRow.status, func.count().label("n")).where(*here)
    return {row.status: row.n for row in session.execute(counted.group_by(HoldRow.status))}
