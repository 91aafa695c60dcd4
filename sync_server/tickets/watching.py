"""How many people hold tickets for an event, whatever has become of the event."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.snapshot import TicketState
from sync_server.tickets.models import TicketRecord


def active(session: Session, event_ids: Collection[str]) -> dict[str, int]:
    """By event, its tickets that are not cancelled; events without any are left out."""
    here = TicketRecord.event_id.in_(event_ids), TicketRecord.state != TicketState.CANCELLED
    counted = select(TicketRecord.event_id, func.count()).where(*here).group_by(TicketRecord.event_id)
    return {row[0]: row[1] for row in session.execute(counted)}
