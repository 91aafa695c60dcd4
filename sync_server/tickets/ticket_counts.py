"""Counts of tickets by event."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session

from shared.snapshot import TicketState
from sync_server.plumbing.event_key import EventKey
from sync_server.tickets.models import TicketRecord


def active_ticket_counts(session: Session, events: Collection[EventKey]) -> dict[str, int]:
    """The number of tickets per event that are not cancelled; events without any are left out."""
    conditions = (
        tuple_(TicketRecord.organisation_id, TicketRecord.event_id).in_(events),
        TicketRecord.state != TicketState.CANCELLED,
    )
    counted = select(TicketRecord.event_id, func.count()).where(*conditions).group_by(TicketRecord.event_id)
    return {row[0]: row[1] for row in session.execute(counted)}
