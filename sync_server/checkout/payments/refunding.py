"""Refunds of orders, whole or line by line: credited in the ledger, paid out, and refused at the gates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from shared.wire.snapshot import TicketState
from sync_server.checkout import queries
from sync_server.checkout.models import OrderLineRow, OrderRow
from sync_server.checkout.money import amounts as money
from sync_server.checkout.money import ledger
from sync_server.checkout.money.amounts import Amounts
from sync_server.checkout.money.ledger import Kind
from sync_server.checkout.orders import recording
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.payments import payouts
from sync_server.checkout.payments.methods import METHODS, PaymentMethod, Payout
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.rules import REFUNDABLE, LineState, OrderState, require_transition, state_after_refund
from sync_server.events import queries as events
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.tickets import queries as tickets
from sync_server.tickets import service as ticket_service


@dataclass(frozen=True, slots=True)
class Refund:
    """What is refunded, and how it is paid back."""

    method: PaymentMethod
    positions: Collection[int] | None = None  # of lines; None: all that are not refunded yet
    keep_fees: bool = False
    reference: str | None = None  # as the bank or the terminal names the payout
    reason: str = ""
    kept_cents: int = 0  # of what would be owed back, as a fee for cancelling
    pay_back: bool = True  # else it is owed, and staff pay it back


def refund(session: Session, key: OrderKey, wanted: Refund, context: ActionContext) -> OrderRow:
    """Refund lines, and pay back whatever is owed to the buyer then. A payout told twice counts once.

    Conflict where nothing of it is left to refund; never more is paid back than was paid.
    """
    order = lock_order(session, *key)
    every = queries.lines(session, key.organisation_id, order.id)
    if _known(session, order, every, wanted):
        return order
    number = events.event(session, key.organisation_id, order.event_id).number
    lines = _credit(session, order, every, wanted, context)
    owed = payouts.owed(session, order) if wanted.pay_back else 0
    if owed:
        owed = _pay_back(session, order, owed, wanted, context)
    elif not lines:
        raise Conflict("Nothing of this order is left to refund.", code="nothing_to_refund")
    payload = {"admissions": len(lines), "cents": owed, "method": wanted.method.name}
    recording.record_order(session, order, number, "order_refunded", context, reason=wanted.reason, **payload)
    return order


def sum_of(session: Session, key: OrderKey, wanted: Refund) -> int:
    """What a refund would pay back now, in cents: with whatever else is owed to the buyer."""
    order = queries.order(session, *key)
    lines = _chosen(queries.lines(session, key.organisation_id, order.id), order, wanted.positions)
    owed = payouts.owed(session, order, credited=_amounts(lines, wanted).total)
    return min(owed, payouts.refundable(session, order, wanted.method)) if wanted.method.online else owed


def call_off(session: Session, key: OrderKey, context: ActionContext, *, keep_fees: bool, reason: str) -> None:
    """Refund all that is left of an order.

    What payment services have taken they are asked to pay back; the rest is owed, and told as `payout_due`.
    """
    order = lock_order(session, *key)
    wanted = Refund(METHODS["free"], keep_fees=keep_fees, reason=reason)
    lines = _credit(session, order, queries.lines(session, order.organisation_id, order.id), wanted, context)
    if not lines:
        return
    number = events.event(session, order.organisation_id, order.event_id).number
    owed = payouts.owed(session, order)
    asked = 0
    for method in METHODS.values():
        if method.online and owed > asked:
            asked += payouts.ask(session, order, method, owed - asked, reason, context)
    payload = {"admissions": len(lines), "cents": asked, "method": order.method}
    recording.record_order(session, order, number, "order_refunded", context, reason=reason, **payload)
    left = owed - asked
    if left:
        recording.record_order(
            session, order, number, "payout_due", context, reason=reason, cents=left, method=order.method
        )


def end_lines(session: Session, order: OrderRow, context: ActionContext, *, reason: str) -> None:
    """Refund all lines that stand, and pay nothing back: the buyer has the money already. The order is locked."""
    lines = _chosen(queries.lines(session, order.organisation_id, order.id), order, None)
    if lines:
        _credit(session, order, lines, Refund(METHODS["free"], reason=reason), context)


def require_refundable(session: Session, key: OrderKey) -> None:
    """Conflict unless something of the order is paid, and not refunded yet."""
    order = queries.order(session, *key)
    if not _chosen(queries.lines(session, key.organisation_id, order.id), order, None):
        raise Conflict("Nothing of this order is left to refund.", code="nothing_to_refund")


def _pay_back(session: Session, order: OrderRow, owed: int, wanted: Refund, context: ActionContext) -> int:
    """Note that so much is paid back, or ask the payment service to; how much that is."""
    if not wanted.method.online:
        payout = Payout(owed, wanted.reference, wanted.reason)
        ledger.pay_out(session, order, wanted.method.pay_back(wanted.method, payout), context)
        return owed
    asked = payouts.ask(session, order, wanted.method, owed, wanted.reason, context)
    if not asked:
        raise Conflict(
            "Nothing that is left of this order was paid online. Pay it back by cash, card or transfer.",
            code="not_paid_online",
        )
    return asked


def _known(session: Session, order: OrderRow, every: Sequence[OrderLineRow], wanted: Refund) -> bool:
    """Whether this payout is in the ledger; Conflict where its reference stands there for something else."""
    row = ledger.told_before(session, order.organisation_id, Kind.PAYOUT, wanted.method.name, wanted.reference)
    if row is None:
        return False
    standing = {line.position for line in every if line.state == LineState.ISSUED.value}
    left = standing if wanted.positions is None else standing & {*wanted.positions}
    if row.order_id != order.id or left or (wanted.positions == [] and payouts.owed(session, order)):
        raise Conflict(
            "A payout with this reference was noted for another order or other lines. Nothing is refunded: check the"
            " reference.",
            code="payment_known",
        )
    return True


def _chosen(
    lines: Sequence[OrderLineRow], order: OrderRow, positions: Collection[int] | None
) -> Sequence[OrderLineRow]:
    """The lines to refund; InvalidRequest for one that the order does not have, Conflict for one refunded before."""
    refundable = OrderState(order.state) in REFUNDABLE
    standing = {line.position: line for line in lines if refundable and line.state == LineState.ISSUED.value}
    if positions is None:
        return list(standing.values())
    if unknown := sorted(set(positions) - {line.position for line in lines}):
        raise InvalidRequest(f"The order has no line {unknown[0]}.", field="lines", code="unknown_line")
    if gone := sorted(set(positions) - standing.keys()):
        raise Conflict(f"Line {gone[0]} is not paid, or was refunded before.", code="line_not_refundable", lines=gone)
    return [standing[position] for position in sorted(set(positions))]


def _amounts(lines: Sequence[OrderLineRow], wanted: Refund) -> Amounts:
    """What these lines are credited for."""
    amounts = money.amounts_of(lines)
    amounts = replace(amounts, fees=0) if wanted.keep_fees else amounts
    return money.less(amounts, wanted.kept_cents)


def _credit(
    session: Session, order: OrderRow, every: Sequence[OrderLineRow], wanted: Refund, context: ActionContext
) -> Sequence[OrderLineRow]:
    """Credit those of the order's lines that are wanted, and end their tickets; which lines those are."""
    lines = _chosen(every, order, wanted.positions)
    if not lines:
        return lines
    ids = [line.ticket_id for line in lines if line.ticket_id is not None]
    for id, row in sorted(tickets.tickets_by_id(session, order.organisation_id, ids).items()):
        if row.state != TicketState.CANCELLED:
            reason = wanted.reason or "the ticket was refunded"
            ticket_service.cancel(session, order.organisation_id, id, context, reason=reason)
    ledger.credit(session, order, _amounts(lines, wanted), context)
    for line in lines:
        line.state = LineState.REFUNDED.value
    state = state_after_refund(line.state for line in every)
    require_transition(OrderState(order.state), state)
    order.state, order.updated_at = state.value, context.now
    session.flush()
    return lines
