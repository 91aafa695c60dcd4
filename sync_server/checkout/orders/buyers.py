"""What orders say of people: found by the buyer's address, and erased without touching what was sold or paid."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from sync_server.checkout.filing import filed, words
from sync_server.checkout.models import OrderLineRow, OrderRow


def orders_of(session: Session, organisation_id: str, email: str, customer_id: str = "") -> Sequence[str]:
    """The orders of a buyer: those with the address, and those of the customer."""
    theirs = OrderRow.buyer_email == email
    theirs = or_(theirs, OrderRow.customer_id == customer_id) if customer_id else theirs
    here = OrderRow.organisation_id == organisation_id, theirs
    return session.scalars(select(OrderRow.id).where(*here).order_by(OrderRow.id)).all()


def tickets_of(session: Session, organisation_id: str, orders: Collection[str]) -> Sequence[int]:
    """The tickets of these orders."""
    here = OrderLineRow.organisation_id == organisation_id, OrderLineRow.order_id.in_(sorted(orders))
    wanted = select(OrderLineRow.ticket_id).where(*here, OrderLineRow.ticket_id.is_not(None))
    found = session.scalars(wanted.order_by(OrderLineRow.ticket_id)).all() if orders else ()
    return [id for id in found if id is not None]


def forget_buyer(session: Session, organisation_id: str, orders: Collection[str]) -> int:
    """Empty name and address of the buyer of these orders; returns how many had any."""
    here = OrderRow.organisation_id == organisation_id, OrderRow.id.in_(sorted(orders))
    named = or_(OrderRow.buyer_name != "", OrderRow.buyer_email != "")
    wanted = select(OrderRow).where(*here, named).order_by(OrderRow.id).with_for_update()
    rows = session.execute(wanted).scalars().all() if orders else ()
    for row in rows:
        filed.take_out(session, row)
        row.buyer_name, row.buyer_email, row.search_text = "", "", words.text_of(row.number, "", "")
    return len(rows)


def forget_holders(session: Session, organisation_id: str, orders: Collection[str], tickets: Collection[int]) -> int:
    """Empty the names of those who come, in these orders and on these tickets; returns how many there were.

    What was passed on names its new owner: only with the ticket.
    """
    own = OrderLineRow.order_id.in_(sorted(orders)) & OrderLineRow.passed_on.is_(False)
    theirs = or_(own, OrderLineRow.ticket_id.in_(sorted(tickets)))
    here = OrderLineRow.organisation_id == organisation_id, OrderLineRow.holder_name != "", theirs
    emptied = update(OrderLineRow).where(*here).values(holder_name="").returning(OrderLineRow.position)
    return len(session.execute(emptied.execution_options(synchronize_session=False)).all())
