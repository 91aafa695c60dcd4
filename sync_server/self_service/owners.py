"""Whose a ticket is: the buyer's, until somebody to whom it was passed on has accepted it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.wire.snapshot import TicketState
from sync_server.checkout import queries as orders
from sync_server.checkout.queries import OrderFilter
from sync_server.customers import queries as customers
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import queries as scans
from sync_server.self_service.models import TransferRow
from sync_server.self_service.rules import Standing, TransferState
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import Ticket

MOST_ORDERS = 200


@dataclass(frozen=True, slots=True)
class TicketKey:
    """A ticket, and the order that it was bought with."""

    organisation_id: str
    order_id: str
    ticket_id: int


def no_such_ticket() -> NotFound:
    """What to say about a ticket that does not exist, or is somebody else's."""
    return NotFound("You have no such ticket.", code="ticket_not_found")


def accepted(session: Session, organisation_id: str, ids: Collection[int]) -> dict[int, TransferRow]:
    """The last accepted transfer of each of these tickets that has changed hands."""
    row = TransferRow
    here = row.organisation_id == organisation_id, row.ticket_id.in_(sorted(ids))
    done = select(row).where(*here, row.state == TransferState.ACCEPTED.value).order_by(row.step)
    return {each.ticket_id: each for each in session.scalars(done)} if ids else {}


def offered(session: Session, organisation_id: str, ids: Collection[int]) -> dict[int, TransferRow]:
    """The open offer of each of these tickets that has one."""
    row = TransferRow
    here = row.organisation_id == organisation_id, row.ticket_id.in_(sorted(ids))
    found = select(row).where(*here, row.state == TransferState.OFFERED.value)
    return {each.ticket_id: each for each in session.scalars(found)} if ids else {}


def standing_of(session: Session, row: Ticket, passed_on: int) -> Standing:
    """What counts for and against giving a ticket away."""
    admitted = scans.was_admitted(session, EventKey(row.organisation_id, row.event_id), row.id)
    return Standing(row.state == TicketState.VALID, admitted, passed_on)


def tickets_of(session: Session, by: Principal) -> list[TicketKey]:
    """The tickets that are a customer's: bought and not passed on, or passed on to the proved address."""
    where = by.organisation_id
    page = orders.orders(session, where, OrderFilter(customer_id=by.id), limit=MOST_ORDERS, after=None)
    lines = orders.lines_of(session, where, [order.id for order in page.items])
    bought = [
        TicketKey(where, line.order_id, line.ticket_id)
        for its in lines.values()
        for line in its
        if line.ticket_id is not None and not line.passed_on
    ]
    return bought + [TicketKey(where, row.order_id, row.ticket_id) for row in _received(session, by)]


def _received(session: Session, by: Principal) -> Sequence[TransferRow]:
    email = customers.customer(session, by.organisation_id, by.id).email
    row = TransferRow
    mine = row.organisation_id == by.organisation_id, row.recipient_email == email
    done = select(row).where(*mine, row.state == TransferState.ACCEPTED.value).order_by(row.done_at.desc())
    found = session.scalars(done.limit(MOST_ORDERS)).all() if email else ()
    last = accepted(session, by.organisation_id, {each.ticket_id for each in found})
    return [each for each in found if last[each.ticket_id].id == each.id]


def received_by(session: Session, organisation_id: str, email: str) -> Sequence[int]:
    """The tickets that whoever has this address has ever accepted."""
    row = TransferRow
    here = row.organisation_id == organisation_id, row.recipient_email == email
    return session.scalars(select(row.ticket_id).where(*here, row.state == TransferState.ACCEPTED.value)).all()


def ticket_of(session: Session, by: Principal, ticket_id: int) -> TicketKey:
    """A ticket of this customer, or NotFound."""
    line = orders.lines_of_tickets(session, by.organisation_id, [ticket_id]).get(ticket_id)
    if line is None:
        raise no_such_ticket()
    last = accepted(session, by.organisation_id, [ticket_id]).get(ticket_id)
    if last is not None:
        mine = last.recipient_email == customers.customer(session, by.organisation_id, by.id).email
    else:
        mine = orders.order(session, by.organisation_id, line.order_id).customer_id == by.id
    if not mine:
        raise no_such_ticket()
    return TicketKey(by.organisation_id, line.order_id, ticket_id)


def secret_of(sealer: Sealer, row: Ticket) -> str:
    """The secret that opens a ticket without a login, for whoever has accepted it: of this issue, and no later one."""
    return sealer.keyed_hash(f"{tickets.public_id(row.id)} {row.issue}", f"link of a ticket of {row.organisation_id}")


def forget(session: Session, organisation_id: str, email: str, ids: Collection[int]) -> int:
    """Empty the recipients of transfers to this address or of these tickets; returns how many there were."""
    row = TransferRow
    theirs = or_(row.ticket_id.in_(sorted(ids)), (row.recipient_email == email) & (row.recipient_email != ""))
    here = row.organisation_id == organisation_id, row.recipient_email != "", theirs
    emptied = update(row).where(*here).values(recipient_email="", recipient_name="").returning(row.id)
    return len(session.execute(emptied.execution_options(synchronize_session=False)).all())
