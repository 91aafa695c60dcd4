"""Ends the tickets of an event that no order has: those that were issued by hand or imported."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.cancellations.models import CancellationRow
from sync_server.checkout import queries as orders
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.tickets import queries as tickets
from sync_server.tickets import service as ticket_service


def count(session: Session, event: EventKey) -> int:
    """How many of them have not ended."""
    return tickets.count_standing_but(session, event, orders.tickets_of_orders(event))


def end_some(session: Session, row: CancellationRow, limit: int, context: ActionContext) -> bool:
    """End the next ones; whether none are left. Their seats are free then, and gates refuse them."""
    found = _next(session, row, limit)
    for ticket in found:
        reason = row.reason or "the event is cancelled"
        ticket_service.cancel(session, row.organisation_id, ticket, context, reason=reason)
        row.last_ticket, row.ended_tickets = ticket, row.ended_tickets + 1
    return len(found) < limit


def skip(session: Session, row: CancellationRow) -> None:
    """Leave out the next one, which cannot be ended."""
    for ticket in _next(session, row, 1):
        row.last_ticket = ticket


def _next(session: Session, row: CancellationRow, limit: int) -> list[int]:
    event = EventKey(row.organisation_id, row.event_id)
    ordered = orders.tickets_of_orders(event)
    return tickets.standing_but(session, event, ordered, after=row.last_ticket, limit=limit)
