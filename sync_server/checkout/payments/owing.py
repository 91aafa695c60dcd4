"""What an event's orders come to if it is cancelled: which are refunded, what goes back by itself, and what by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Select, Subquery, case, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.filing import figures
from sync_server.checkout.filing.figures import NOT_FILED, Figure
from sync_server.checkout.models import MoneyMovementRow, OrderRow, PayoutRow
from sync_server.checkout.money.ledger import Kind
from sync_server.checkout.rules import REFUNDABLE, OrderState, PayoutState
from sync_server.plumbing.event_key import EventKey

_SIGNS: Final = {
    Kind.CHARGE: 1,
    Kind.REVERSAL: -1,
    Kind.CREDIT: -1,
    Kind.PAYMENT: -1,
    Kind.PAYOUT: 1,
    Kind.RETURN: -1,
}
"""How a movement changes what the buyer owes."""


@dataclass(frozen=True, slots=True)
class Affected:
    """Whom it concerns if an event is cancelled, and how much."""

    orders: int  # that are paid, with
    tickets: int  # that stand
    cents: int  # paid for them
    by_itself_cents: int  # that payment services pay back
    unpaid_orders: int

    @property
    def by_hand_cents(self) -> int:
        """What the box office has to pay back."""
        return self.cents - self.by_itself_cents


@dataclass(frozen=True, slots=True)
class Owed:
    """An order whose buyer is owed money that no payment service pays back."""

    order: OrderRow
    cents: int


@dataclass(frozen=True, slots=True)
class Totals:
    """So many orders, and so much of them together."""

    orders: int
    cents: int


def affected(session: Session, event: EventKey, *, keep_fees: bool = False) -> Affected:
    """The paid orders of an event and what refunding all of them comes to."""
    found = figures.of_event(session, event)
    unpaid = NOT_FILED.of(select(func.count()).select_from(OrderRow), event)
    return Affected(
        found[Figure.ORDERS],
        found[Figure.TICKETS],
        found[Figure.CENTS] - (found[Figure.FEES] if keep_fees else 0),
        found[Figure.BACK_LESS_FEES if keep_fees else Figure.BACK],
        session.execute(unpaid.where(OrderRow.state == OrderState.PENDING.value)).scalar_one(),
    )


def _of(event: EventKey) -> tuple[ColumnElement[bool], ...]:
    return OrderRow.organisation_id == event.organisation_id, OrderRow.event_id == event.event_id


def _refundable(event: EventKey) -> tuple[ColumnElement[bool], ...]:
    return *_of(event), OrderRow.state.in_(sorted(state.value for state in REFUNDABLE))


def _orders(event: EventKey) -> Select[str]:
    return select(OrderRow.id).where(*_of(event))


def refundable_after(
    session: Session, event: EventKey, after: str | None, limit: int, *, made_by: Millis
) -> Sequence[OrderRow]:
    """The next paid orders of an event that were made by then, by id."""
    wanted = select(OrderRow).where(*_refundable(event), OrderRow.created_at <= made_by)
    if after is not None:
        wanted = wanted.where(OrderRow.id > after)
    return session.execute(wanted.order_by(OrderRow.id).limit(limit)).scalars().all()


def owed(session: Session, event: EventKey, *, after: str | None = None, limit: int = 100) -> Sequence[Owed]:
    """The orders of an event whose buyers are owed money that is not on its way, by id."""
    left = _left(event)
    wanted = select(OrderRow, left.c.cents).join(left, left.c.id == OrderRow.id).where(*_of(event))
    if after is not None:
        wanted = wanted.where(OrderRow.id > after)
    return [Owed(order, int(cents)) for order, cents in session.execute(wanted.order_by(OrderRow.id).limit(limit))]


def owed_in_all(session: Session, event: EventKey) -> Totals:
    """How many they are, and how much."""
    left = _left(event)
    orders, cents = session.execute(select(func.count(), func.coalesce(func.sum(left.c.cents), 0))).one()
    return Totals(int(orders), int(cents))


def _left(event: EventKey) -> Subquery:
    """What is owed to buyers and not on its way, by order."""
    move, payout = MoneyMovementRow, PayoutRow
    sign = case({kind.value: value for kind, value in _SIGNS.items()}, value=move.kind)
    due = (
        select(move.order_id.label("id"), func.sum(sign * move.cents).label("cents"))
        .where(move.organisation_id == event.organisation_id, move.order_id.in_(_orders(event)))
        .group_by(move.order_id)
        .subquery()
    )
    way = (
        select(payout.order_id.label("id"), func.sum(payout.cents).label("cents"))
        .where(payout.organisation_id == event.organisation_id, payout.order_id.in_(_orders(event)))
        .where(payout.state == PayoutState.WAITING.value)
        .group_by(payout.order_id)
        .subquery()
    )
    cents = -due.c.cents - func.coalesce(way.c.cents, 0)
    return select(due.c.id, cents.label("cents")).outerjoin(way, way.c.id == due.c.id).where(cents > 0).subquery()


def paying_back(session: Session, event: EventKey) -> dict[str, int]:
    """How much payment services are to pay back, have paid back and have refused, in cents by state."""
    row = PayoutRow
    here = row.organisation_id == event.organisation_id, row.order_id.in_(_orders(event))
    found = session.execute(select(row.state, func.sum(row.cents)).where(*here).group_by(row.state)).all()
    return {state.value: 0 for state in PayoutState} | {state: int(cents) for state, cents in found}
