"""Figures of sales over time, and what of the money waits for somebody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import case, exists, func, literal, select, text, union_all
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import first_id
from sync_server.checkout.models import OrderLineRow, OrderRow, PayoutRow
from sync_server.checkout.payments.payouts import PayoutState
from sync_server.checkout.rules import OrderState
from sync_server.plumbing.event_key import EventKey

DAY_MS: Final = 86_400_000
SOLD: Final = tuple(state.value for state in (OrderState.PAID, OrderState.PARTIALLY_REFUNDED, OrderState.REFUNDED))
"""States of orders that were paid, whatever became of them."""
BY_PENDING: Final = "INDEXED BY ix_orders_expires_at"
"""SQLite would read every order of the organisation for the few that are not paid."""


@dataclass(frozen=True, slots=True)
class Sold:
    """What was sold on one day, before refunds."""

    at: int  # which day, counted from 0
    currency: str
    orders: int
    cents: int


@dataclass(frozen=True, slots=True)
class TypeSold:
    """How many tickets of one type were sold in one stretch of time, and for how much, before refunds."""

    at: int  # which stretch, counted from 0
    ticket_type: int
    currency: str
    tickets: int
    cents: int
    orders: int  # that begin with one of them, so that each counts once


@dataclass(frozen=True, slots=True)
class MoneyWaiting:
    """Money that waits for somebody to look."""

    overdue_invoices: int
    failed_payouts: int


def by_day(session: Session, organisation_id: str, since: Millis) -> list[Sold]:
    """The paid orders of an organisation by the day on which they were made, in days since then."""
    day = ((OrderRow.created_at - since) // DAY_MS).label("day")
    counted = select(day, OrderRow.currency, func.count(), func.sum(OrderRow.total_cents))
    made = OrderRow.organisation_id == organisation_id, OrderRow.id >= first_id(since), OrderRow.created_at >= since
    wanted = counted.where(*made, OrderRow.state.in_(SOLD)).group_by("day", OrderRow.currency).order_by("day")
    return [Sold(int(at), currency, int(orders), int(cents)) for at, currency, orders, cents in session.execute(wanted)]


def first_sale(session: Session, event: EventKey) -> Millis | None:
    """When an event was sold first; None where nobody has bought yet."""
    sold = select(OrderRow.created_at).where(event.of(OrderRow), OrderRow.state.in_(SOLD))
    return session.execute(sold.order_by(OrderRow.id).limit(1)).scalar_one_or_none()


def bought(session: Session, events: Sequence[EventKey]) -> set[str]:
    """Those of these events that somebody has bought tickets of: tickets can be issued without an order, too."""
    asked = [
        select(literal(event.event_id)).where(exists().where(event.of(OrderRow), OrderRow.state.in_(SOLD)))
        for event in events
    ]
    return set(session.execute(union_all(*asked)).scalars()) if asked else set()


def types_of_event(session: Session, event: EventKey, since: Millis, step: Millis) -> list[TypeSold]:
    """The tickets in paid orders of an event, by type and by stretches of this length since then."""
    line, order = OrderLineRow, OrderRow
    at = ((order.created_at - since) // step).label("stretch")
    same = (line.organisation_id == order.organisation_id) & (line.order_id == order.id)
    paid = func.sum(line.unit_cents - line.discount_cents + line.fee_cents)
    first = func.sum(case((line.position == 1, 1), else_=0))
    counted = select(at, line.ticket_type, order.currency, func.count(), paid, first).join(line, same)
    sold = event.of(order), order.created_at >= since, order.state.in_(SOLD)
    rows = session.execute(counted.where(*sold).group_by(at, line.ticket_type, order.currency).order_by(at))
    return [TypeSold(int(row[0]), row[1], row[2], int(row[3]), int(row[4]), int(row[5])) for row in rows]


def money_waiting(session: Session, organisation_id: str, now: Millis) -> MoneyWaiting:
    """How many invoices are overdue, and how many payouts a payment service has refused."""
    overdue = (
        select(func.count())
        .where(
            OrderRow.organisation_id == organisation_id,
            OrderRow.state == text("'pending'"),  # as literal text, to match the partial index
            OrderRow.due_at < now,
        )
        .with_hint(OrderRow, BY_PENDING, "sqlite")
    )
    failed = select(func.count()).where(
        PayoutRow.organisation_id == organisation_id, PayoutRow.state == PayoutState.FAILED.value
    )
    return MoneyWaiting(*session.execute(select(overdue.scalar_subquery(), failed.scalar_subquery())).one())
