"""Money that a payment service is to pay back: asked for in the transaction that owes it, sent afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.ids import uuid7
from sync_server.checkout.models import DisputeRow, OrderRow, PayoutRow
from sync_server.checkout.money import ledger
from sync_server.checkout.money.ledger import Account, Kind, Told
from sync_server.checkout.orders import recording
from sync_server.checkout.payments.methods import METHODS, PaymentMethod
from sync_server.checkout.rules import PayoutState
from sync_server.events import queries as events
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.waking import wake

PAY_BACK: Final = "stripe.pay_back"
"""The job that sends payouts to the service."""


def owed(session: Session, order: OrderRow, *, credited: int = 0) -> int:
    """What is owed to the buyer and not on its way yet, in cents; or would be, once so much more is credited."""
    way = on_their_way(session, order.organisation_id, [order.id]).get(order.id, 0)
    disputed = sum(_disputed(session, order, "open").values())
    return max(0, credited - ledger.balance(session, order).due - way - disputed)


def _disputed(session: Session, order: OrderRow, *states: str) -> dict[str, int]:
    """What banks take back, or have taken back, by payment: it must not be paid back once more."""
    row = DisputeRow
    here = row.organisation_id == order.organisation_id, row.order_id == order.id, row.state.in_(states)
    found = session.execute(select(row.payment, func.sum(row.cents)).where(*here).group_by(row.payment))
    return {payment: int(cents) for payment, cents in found}


def on_their_way(session: Session, organisation_id: str, orders: Collection[str]) -> dict[str, int]:
    """What waits to be paid back, by order."""
    row = PayoutRow
    here = row.organisation_id == organisation_id, row.order_id.in_(sorted(orders))
    waiting = select(row.order_id, func.sum(row.cents)).where(*here, row.state == PayoutState.WAITING.value)
    found = session.execute(waiting.group_by(row.order_id)).all() if orders else ()
    return {id: int(cents) for id, cents in found}


def ask(  # noqa: PLR0917 - one payout
    session: Session, order: OrderRow, method: PaymentMethod, cents: int, reason: str, context: ActionContext
) -> int:
    """Ask that so much be paid back of what came by this method; how much of it that can be.

    The order is locked. Of several payments the latest is paid back first.
    """
    left = cents
    for payment, free in reversed(_refundable(session, order, method)):
        part = min(left, free)
        if part > 0:
            session.add(_row(order, method, payment, part, reason, context))
            left -= part
    session.flush()
    if left < cents:
        wake(session, PAY_BACK)
    return cents - left


def refundable(session: Session, order: OrderRow, method: PaymentMethod) -> int:
    """How much of what came by this method can still be paid back by it."""
    return sum(free for _, free in _refundable(session, order, method))


def _refundable(session: Session, order: OrderRow, method: PaymentMethod) -> Sequence[tuple[str, int]]:
    taken: Counter[str] = Counter(_disputed(session, order, "open", "lost"))
    for row in of_order(session, order):
        if row.method == method.name and row.state != PayoutState.FAILED:
            taken[row.payment] += row.cents
    return [
        (moved.external_reference, moved.cents - taken[moved.external_reference])
        for moved in ledger.movements(session, order.organisation_id, order.id)
        if moved.kind == Kind.PAYMENT and moved.method == method.name and moved.external_reference is not None
    ]


def of_order(session: Session, order: OrderRow) -> Sequence[PayoutRow]:
    """All payouts of an order."""
    row = PayoutRow
    wanted = select(row).where(row.organisation_id == order.organisation_id, row.order_id == order.id)
    return session.execute(wanted.order_by(row.id)).scalars().all()


def _row(  # noqa: PLR0917 - one payout
    order: OrderRow, method: PaymentMethod, payment: str, cents: int, reason: str, context: ActionContext
) -> PayoutRow:
    return PayoutRow(
        organisation_id=order.organisation_id,
        id=uuid7(context.now, context.entropy),
        order_id=order.id,
        method=method.name,
        payment=payment,
        cents=cents,
        reason=reason,
        state=PayoutState.WAITING.value,
        try_at=context.now,
        created_at=context.now,
    )


def note_made(session: Session, order: OrderRow, row: PayoutRow, refund: str, context: ActionContext) -> None:
    """The service has paid it back; the order is locked. Told twice, it counts once."""
    if row.state != PayoutState.WAITING:
        return
    row.state, row.refund, row.ended_at, row.problem = PayoutState.MADE.value, refund, context.now, ""
    ledger.pay_out(session, order, Told(row.method, _account(row), row.cents, refund, row.reason), context)
    _record(session, order, row, "payout_made", context)


def note_foreign(  # noqa: PLR0917 - one payout
    session: Session,
    order: OrderRow,
    method: PaymentMethod,
    payment: str,
    refund: str,
    cents: int,
    context: ActionContext,
) -> None:
    """Somebody has paid it back at the service itself; the order is locked. Told twice, it counts once."""
    if any(row.refund == refund for row in of_order(session, order)):
        return
    row = _row(order, method, payment, cents, "paid back at the payment service", context)
    session.add(row)
    session.flush()
    note_made(session, order, row, refund, context)


def note_failed(session: Session, order: OrderRow, row: PayoutRow, problem: str, context: ActionContext) -> None:
    """The service has not paid it back, or it came back: it is owed to the buyer; the order is locked."""
    if row.state == PayoutState.FAILED:
        return
    if row.state == PayoutState.MADE:
        ledger.take_back(session, order, Told(row.method, _account(row), row.cents, row.refund, row.reason), context)
    row.state, row.problem, row.ended_at = PayoutState.FAILED.value, problem, context.now
    session.flush()
    _record(session, order, row, "payout_failed", context)


def _account(row: PayoutRow) -> Account:
    account = METHODS[row.method].account
    if account is None:
        raise LookupError(f"nothing is paid by {row.method}")
    return account


def _record(session: Session, order: OrderRow, row: PayoutRow, name: str, context: ActionContext) -> None:
    number = events.event(session, order.organisation_id, order.event_id).number
    recording.record_order(session, order, number, name, context, reason=row.reason, cents=row.cents, method=row.method)


def return_excess(session: Session, order: OrderRow, method: PaymentMethod, context: ActionContext) -> None:
    """Pay back by itself what came too late, twice, or for an order that had ended; the order is locked."""
    cents = ask(session, order, method, owed(session, order), "paid too late or twice", context)
    if cents:
        number = events.event(session, order.organisation_id, order.event_id).number
        recording.record_order(
            session,
            order,
            number,
            "payment_returned",
            context,
            because=_because(order),
            cents=cents,
            method=method.name,
        )


def _because(order: OrderRow) -> str:
    return {"expired": "late", "cancelled": "cancelled"}.get(order.state, "double")
