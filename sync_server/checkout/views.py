"""Reads all that a response about an order shows."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout import queries, schemas
from sync_server.checkout.models import OrderRow
from sync_server.checkout.money import ledger
from sync_server.checkout.orders.whole_order import WholeOrder
from sync_server.checkout.payments import choices, disputes
from sync_server.checkout.payments.instructions import instructions_of
from sync_server.checkout.queries import OrderFilter
from sync_server.events import queries as events
from sync_server.events import rules as event_rules
from sync_server.events.days.chosen_days import dates_of
from sync_server.tickets import queries as tickets


def view_of(session: Session, order: OrderRow, now: Millis) -> schemas.OrderView:
    """An order with its lines, tickets and payment, and how it can be paid, read for this response."""
    session.flush()
    lines = queries.lines(session, order.organisation_id, order.id)
    ids = [line.ticket_id for line in lines if line.ticket_id is not None]
    found = tickets.tickets_by_id(session, order.organisation_id, ids)
    return view_of_whole(session, WholeOrder(order, lines, ledger.balance(session, order), found), now)


def view_of_whole(session: Session, whole: WholeOrder, now: Millis) -> schemas.OrderView:
    """An order that this transaction has read or made, and how it can be paid."""
    order, balance = whole.order, whole.balance
    instructions = instructions_of(session, order, balance.due)
    disputed = disputes.of_orders(session, order.organisation_id, [order.id]) if order.dispute else ()
    offered = choices.of_order(session, order, now)
    event = events.event(session, order.organisation_id, order.event_id)
    return schemas.order_view(
        order,
        whole.lines,
        whole.tickets,
        balance,
        instructions,
        choices=offered,
        mark=event_rules.mark(event),
        dates=dates_of(event),
        disputes=disputed,
    )


def page_of(
    session: Session, organisation_id: str, filters: OrderFilter, *, limit: int, after: str | None
) -> schemas.OrdersView:
    """A page of orders."""
    page = queries.orders(session, organisation_id, filters, limit=limit, after=after)
    ids = [row.id for row in page.items]
    balances, lines = ledger.balances(session, organisation_id, ids), queries.lines_of(session, organisation_id, ids)
    marks = events.marks(session, organisation_id, {row.event_id for row in page.items})
    items = [
        schemas.summary_of(row, balances[row.id], len(lines[row.id]), marks.get(row.event_id)) for row in page.items
    ]
    return schemas.OrdersView(items=items, next=page.next)
