"""Reads all that responses about customers' tickets show."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.wire.snapshot import TicketState
from sync_server.checkout import queries as orders
from sync_server.events import queries as events
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.sealing import Sealer
from sync_server.self_service import owners
from sync_server.self_service.models import TransferRow
from sync_server.self_service.schemas import AcceptedTicket, OfferedTicket, OwnTicket, TransferView
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import Ticket


def own_tickets(session: Session, by: Principal) -> list[OwnTicket]:
    """The tickets of a customer, cancelled ones too."""
    where, keys = by.organisation_id, owners.tickets_of(session, by)
    ids = [key.ticket_id for key in keys]
    rows, lines = tickets.tickets_by_id(session, where, ids), orders.lines_of_tickets(session, where, ids)
    offers, received = owners.offered(session, where, ids), owners.accepted(session, where, ids)
    shown = {id: events.details(session, where, id) for id in {row.event_id for row in rows.values()}}
    marks = events.marks(session, where, shown.keys())
    return [
        OwnTicket(
            id=tickets.public_id(row.id),
            number=row.number,
            order_id=key.order_id,
            event_id=row.event_id,
            event_name=shown[row.event_id].name,
            event_mark=marks[row.event_id],
            starts_at=iso(shown[row.event_id].start_at),
            ticket_type_name=lines[row.id].ticket_type_name,
            seat_label=tickets.printed_seat(row).label,
            holder_name=row.holder_name,
            state=TicketState(row.state).name.lower(),
            received=row.id in received,
            offered_until=iso(offers[row.id].ends_at) if row.id in offers else None,
        )
        for key in keys
        for row in [rows[key.ticket_id]]
    ]


def transfer(row: TransferRow) -> TransferView:
    """An offer, as whoever made it sees it."""
    return TransferView.of(row, ticket_id=tickets.public_id(row.ticket_id))


def offered_ticket(session: Session, row: TransferRow) -> OfferedTicket:
    """An offer, as its recipient sees it."""
    event = events.details(session, row.organisation_id, row.event_id)
    line = orders.lines_of_tickets(session, row.organisation_id, [row.ticket_id])[row.ticket_id]
    ticket = tickets.ticket(session, row.organisation_id, row.ticket_id)
    return OfferedTicket(
        event_id=event.id,
        event_name=event.name,
        event_mark=events.marks(session, row.organisation_id, [event.id])[event.id],
        starts_at=iso(event.start_at),
        ticket_type_name=line.ticket_type_name,
        seat_label=tickets.printed_seat(ticket).label,
        ends_at=iso(row.ends_at),
    )


def accepted_ticket(row: Ticket, sealer: Sealer) -> AcceptedTicket:
    """The ticket, and what opens it."""
    return AcceptedTicket(
        ticket_id=tickets.public_id(row.id),
        number=row.number,
        event_id=row.event_id,
        holder_name=row.holder_name,
        secret=owners.secret_of(sealer, row),
    )
