"""What the orders of an event come to: by sums of those that are filed, and row by row of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, Subquery, and_, case, func, or_, select, text, union_all
from sqlalchemy.orm import Session

from sync_server.checkout.filing.models import OrderSumRow
from sync_server.checkout.models import MoneyMovementRow, OrderLineRow, OrderRow, PayoutRow
from sync_server.checkout.money.ledger import Kind
from sync_server.checkout.rules import ONLINE, REFUNDABLE, LineState, OrderState, PayoutState
from sync_server.plumbing.event_key import EventKey

_PAID: Final = OrderRow.state.in_(sorted(state.value for state in REFUNDABLE))
COMING: Final = or_(_PAID, and_(OrderRow.state == OrderState.PENDING.value, OrderRow.due_at.is_not(None)))
"""Orders whose buyers mean to come: paid ones, and invoices that are not paid yet."""


class Figure(StrEnum):
    """What is summed of the orders that are paid, and not refunded as a whole; the last two of all who mean to come."""

    ORDERS = "orders"
    TICKETS = "tickets"  # that stand
    CENTS = "cents"  # paid for these
    FEES = "fees"  # that are part of it
    BACK = "back"  # what of it payment services can pay back
    BACK_LESS_FEES = "back_less_fees"  # and where fees are kept
    BOUGHT = "bought"  # orders
    ADDRESSED = "addressed"  # those of them with an address


@dataclass(frozen=True, slots=True)
class Which:
    """Some orders of an event."""

    these: ColumnElement[bool]
    hint: str = ""

    def orders(self, event: EventKey) -> Any:
        """Their ids."""
        return self.of(select(OrderRow.id), event)

    def of(self, wanted: Any, event: EventKey) -> Any:
        """A statement about orders, limited to them."""
        hinted = wanted.with_hint(OrderRow, self.hint, "sqlite") if self.hint else wanted
        return hinted.where(event.of(OrderRow), self.these)


NOT_FILED: Final = Which(text("NOT orders.filed"), "INDEXED BY ix_orders_not_filed")  # type: ignore[arg-type]
"""As literal text, to match the partial index; SQLite would read every order of the event for the few of these."""
FILED: Final = Which(OrderRow.filed.is_(True))


def of_event(session: Session, event: EventKey) -> Mapping[Figure, int]:
    """The figures of an event; one statement, so that no order is in both or in neither."""
    row = OrderSumRow
    stored = select(*(func.sum(case((row.figure == each.value, row.n), else_=0)) for each in Figure))
    parts: list[Any] = [stored.where(event.of(row)), counted(event, NOT_FILED)]
    both: Sequence[Any] = session.execute(union_all(*parts)).all()
    return {each: sum(int(found[at] or 0) for found in both) for at, each in enumerate(Figure)}


def counted(event: EventKey, which: Which) -> Any:
    """Counts every figure of some orders from their rows, in the order of the figures."""
    parts, online = _in_part(event, which), _online(event, which)
    cents, fees = func.coalesce(parts.c.cents, OrderRow.total_cents), func.coalesce(parts.c.fees, OrderRow.fees_cents)
    back = func.coalesce(online.c.cents, 0)
    of_paid = {
        Figure.ORDERS: 1,
        Figure.TICKETS: func.coalesce(parts.c.tickets, OrderRow.admissions),
        Figure.CENTS: cents,
        Figure.FEES: fees,
        Figure.BACK: _least(back, cents),
        Figure.BACK_LESS_FEES: _least(back, cents - fees),
    }
    values: dict[Figure, Any] = {each: case((_PAID, value), else_=0) for each, value in of_paid.items()}
    values |= {Figure.BOUGHT: 1, Figure.ADDRESSED: case((OrderRow.buyer_email != "", 1), else_=0)}
    wanted = (
        select(*(func.sum(values[each]) for each in Figure))
        .select_from(OrderRow)
        .outerjoin(parts, parts.c.order_id == OrderRow.id)
        .outerjoin(online, online.c.order_id == OrderRow.id)
    )
    return which.of(wanted, event).where(COMING)


def _least(one: Any, other: Any) -> Any:
    return case((one < other, one), else_=other)


def _in_part(event: EventKey, which: Which) -> Subquery:
    """The tickets that stand and what was paid for them, by order of which some do not; of the others all do."""
    line = OrderLineRow
    price = func.sum(line.unit_cents - line.discount_cents + line.fee_cents).label("cents")
    issued = line.organisation_id == event.organisation_id, line.state == LineState.ISSUED.value
    refunded = which.orders(event).where(OrderRow.state == OrderState.PARTIALLY_REFUNDED.value)
    standing = select(line.order_id, func.count().label("tickets"), price, func.sum(line.fee_cents).label("fees"))
    return standing.where(*issued, line.order_id.in_(refunded)).group_by(line.order_id).subquery()


def _online(event: EventKey, which: Which) -> Subquery:
    """What payment services can still pay back, by order."""
    move, payout, orders = MoneyMovementRow, PayoutRow, which.orders(event)
    paid = (
        select(move.order_id, move.cents)
        .where(move.organisation_id == event.organisation_id, move.order_id.in_(orders))
        .where(move.kind == Kind.PAYMENT.value, move.method.in_(sorted(ONLINE)))
    )
    asked = (
        select(payout.order_id, -payout.cents)
        .where(payout.organisation_id == event.organisation_id, payout.order_id.in_(orders))
        .where(payout.state != PayoutState.FAILED.value)
    )
    both = union_all(paid, asked).subquery()
    return select(both.c.order_id, func.sum(both.c.cents).label("cents")).group_by(both.c.order_id).subquery()
