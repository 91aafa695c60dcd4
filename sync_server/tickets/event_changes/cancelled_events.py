"""Ends the tickets of a cancelled event for which nothing was paid; the others end when their buyers are refunded."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import EventStatus
from shared.wire.snapshot import TicketState
from sync_server.events import service as event_service
from sync_server.events.signals import EventStatusChanged
from sync_server.plumbing.due import due_if_any
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE, Job
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.waking import wake
from sync_server.seating import queries as seating
from sync_server.tickets import service
from sync_server.tickets.models import EndingTicketsRecord, TicketRecord

GO_ON: Final = "tickets.end_unpaid"
PIECE: Final = 200
"""Tickets that end in one transaction, so that others may write in between."""
_REASON: Final = "the event was cancelled, and nothing was paid"


def on_status_changed(session: Session, event: EventStatusChanged) -> None:
    """End the first tickets with the event, and leave the rest to the worker."""
    if event.status is EventStatus.CANCELLED:
        key = EventKey(event.organisation_id, event.event_id)
        if not _end_some(session, key, event.context):
            session.add(EndingTicketsRecord(organisation_id=key.organisation_id, event_id=key.event_id))
            session.flush()
            wake(session, GO_ON)


def job() -> Job:
    """Goes on where an event had more tickets than end at once."""
    return Job(GO_ON, 60_000, _go_on, _anything_left)


def _anything_left(session: Session, _now: Millis) -> Millis | None:
    return due_if_any(session, EndingTicketsRecord.organisation_id)


def _go_on(session: Session, context: ActionContext) -> object:
    row = session.execute(select(EndingTicketsRecord).limit(1).with_for_update(skip_locked=True)).scalar_one_or_none()
    if row is None:
        return None
    key = EventKey(row.organisation_id, row.event_id)
    if seating.guests_moving(session, key.organisation_id, key.event_id):
        return None
    if _end_some(session, key, context):
        session.delete(row)
    return MORE


def _end_some(session: Session, event: EventKey, context: ActionContext) -> bool:
    """End a piece of them; whether none are left."""
    if seating.guests_moving(session, event.organisation_id, event.event_id):
        return False
    unpaid = (TicketRecord.price_cents == 0) | (TicketRecord.state == TicketState.UNPAID)
    wanted = (
        select(TicketRecord.id)
        .where(event.of(TicketRecord), unpaid, TicketRecord.state != TicketState.CANCELLED)
        .order_by(TicketRecord.id)
        .limit(PIECE)
    )
    ids = session.execute(wanted).scalars().all()
    for ticket_id in ids:
        service.cancel(session, event.organisation_id, ticket_id, context.by_system(), reason=_REASON)
    event_service.lock_event(session, event.organisation_id, event.event_id)  # its count has gone down: read it again
    return len(ids) < PIECE
