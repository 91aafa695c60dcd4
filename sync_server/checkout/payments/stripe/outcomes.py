"""Asks Stripe what became of payments and refunds, and notes it.

Whoever hears of a change only starts this: a webhook, the page after it has paid, or the worker where neither came. So
what counts is Stripe's state now, and no order of news.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from shared.ids import as_id
from sync_server.checkout import queries
from sync_server.checkout.models import OrderRow, PayoutRow, StripePaymentRow
from sync_server.checkout.money import ledger
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.payments import paying, payouts
from sync_server.checkout.payments.methods import METHODS
from sync_server.checkout.payments.paying import Arrived, OrderKey
from sync_server.checkout.payments.stripe import beginning
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.payments.stripe.gateway import LOST, Intent, Refunded
from sync_server.checkout.rules import OrderState
from sync_server.plumbing.due import next_due, organisations_due
from sync_server.plumbing.jobs import HeavyJob
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG

STRIPE: Final = METHODS["stripe"]
LANE: Final = "payments"
BATCH_SIZE: Final = 50
MINUTE_MS: Final = 60_000
MOST_PAUSE: Final = 10
"""Minutes between two looks at a payment that nobody makes."""


def find(session: Session, organisation_id: str, *, intent: str, payment: str) -> StripePaymentRow | None:
    """The payment that Stripe calls so, or that was given this id of ours before Stripe's was stored."""
    row = StripePaymentRow
    named = select(row).where(row.organisation_id == organisation_id, row.intent == intent)
    found = session.execute(named).scalar_one_or_none()
    if found is not None or not payment:
        return found
    ours = session.get(row, (organisation_id, as_id(payment)))
    return ours if ours is not None and ours.intent is None else None


def follow(access: StripeAccess, organisation_id: str, payment_id: str, context: ActionContext) -> None:
    """Ask Stripe what became of a payment, and note it; one that nobody wants any more is cancelled there."""
    with access.database.reading() as session:
        row = session.get_one(StripePaymentRow, (organisation_id, payment_id))
        order = queries.order(session, organisation_id, row.order_id)
        wanted = order.state == OrderState.PENDING and ledger.balance(session, order).due == row.cents
        gateway = access.gateway(session, organisation_id)
    if row.state not in beginning.FOLLOWED:
        return
    if row.intent is None and not wanted:
        _end(access, row)  # its secret was never handed out
        return
    intent = beginning.ask(access, gateway, row, context) if wanted else gateway.cancel(row.intent or "")
    note(access, organisation_id, payment_id, intent, context)


def note(access: StripeAccess, organisation_id: str, payment_id: str, intent: Intent, context: ActionContext) -> None:
    """Note what became of a payment: the one way in which money from Stripe arrives."""
    with access.database.reading() as session:
        row = session.get_one(StripePaymentRow, (organisation_id, payment_id))
    if intent.status == "canceled":
        _end(access, row)
    if intent.status != "succeeded" or row.state not in beginning.FOLLOWED:
        return
    if (intent.currency, intent.received) != (row.currency, row.cents):
        LOG.error("stripe_amount_differs", payment_id=row.id, cents=row.cents, received=intent.received)
    if intent.currency != row.currency or intent.received <= 0:
        return
    try:
        _receive(access, row, intent, context, keep_only=False)
    except GatehouseError as refusal:
        if refusal.retryable:
            raise
        _receive(access, row, intent, context, keep_only=True)


def _receive(
    access: StripeAccess, row: StripePaymentRow, intent: Intent, context: ActionContext, *, keep_only: bool
) -> None:
    """The payment in the ledger, the tickets, and what is owed back: together or not at all."""
    key, payment = OrderKey(row.organisation_id, row.order_id), Arrived(STRIPE, intent.received, intent.id)
    with access.database.writing(paying.event_in_demand(access.database, key)) as session:
        by_system = context.by_system()
        order = paying.receive(session, access.sealer, key, payment, by_system, keep_only=keep_only)
        payouts.return_excess(session, order, STRIPE, by_system)
        stored = session.get_one(StripePaymentRow, (row.organisation_id, row.id))
        stored.state, stored.look_at = "received", None


def _end(access: StripeAccess, row: StripePaymentRow) -> None:
    with access.database.writing() as session:
        stored = StripePaymentRow
        here = stored.organisation_id == row.organisation_id, stored.id == row.id
        session.execute(
            update(stored).where(*here, stored.state.in_(beginning.FOLLOWED)).values(state="ended", look_at=None)
        )


def follow_refunds(access: StripeAccess, organisation_id: str, payment_id: str, context: ActionContext) -> None:
    """Note every refund that Stripe has of a payment: ours, those made at Stripe itself, and those that came back."""
    with access.database.reading() as session:
        row = session.get_one(StripePaymentRow, (organisation_id, payment_id))
        gateway = access.gateway(session, organisation_id)
    if row.intent is None or row.state != "received":
        return
    for refunded in gateway.refunds(row.intent):
        with access.database.writing() as session:
            order = lock_order(session, organisation_id, row.order_id)
            note_refund(session, order, row.intent, refunded, context.by_system())


def note_refund(session: Session, order: OrderRow, intent: str, refunded: Refunded, context: ActionContext) -> None:
    """Note one refund of a payment of this order, which is locked; told twice, or late, it counts once."""
    known = [row for row in payouts.of_order(session, order) if row.payment == intent]
    ours = next((row for row in known if refunded.id == row.refund or refunded.payout == row.id), None)
    if refunded.status in LOST:
        if ours is not None:
            payouts.note_failed(session, order, ours, f"the refund is {refunded.status} at Stripe", context)
    elif ours is not None:
        payouts.note_made(session, order, ours, refunded.id, context)
    else:
        payouts.note_foreign(session, order, STRIPE, intent, refunded.id, refunded.cents, context)


def job(access: StripeAccess) -> HeavyJob:
    """Asks what became of payments of which no webhook told; several workers may do it at once."""
    return HeavyJob(
        "stripe.follow",
        5_000,
        lambda _database, context: _follow_some(access, context),
        lambda session, _now: next_due(session, StripePaymentRow.look_at),
        lane=LANE,
    )


def _due(now: Millis) -> tuple[ColumnElement[bool], ...]:
    return StripePaymentRow.look_at.is_not(None), StripePaymentRow.look_at <= now


def _follow_some(access: StripeAccess, context: ActionContext) -> None:
    with access.database.reading() as session:
        organisations = organisations_due(session, StripePaymentRow.organisation_id, *_due(context.now))
    for organisation_id in organisations:
        for payment_id in _claim(access, organisation_id, context.now):
            try:
                follow(access, organisation_id, payment_id, context)
            except GatehouseError as problem:
                LOG.warning("stripe_not_followed", payment_id=payment_id, code=problem.error_code)


def _claim(access: StripeAccess, organisation_id: str, now: Millis) -> list[str]:
    """Payments to look at; the next look at each is later."""
    row = StripePaymentRow
    with access.database.writing() as session:
        due = select(row).where(row.organisation_id == organisation_id, *_due(now)).order_by(row.look_at)
        found = session.execute(due.limit(BATCH_SIZE).with_for_update(skip_locked=True)).scalars().all()
        for each in found:
            each.looks += 1
            each.look_at = now + min(each.looks, MOST_PAUSE) * MINUTE_MS
        return [each.id for each in found]


def payout_of(session: Session, organisation_id: str, payout_id: str) -> PayoutRow:
    """A payout, locked until the transaction ends; its order is locked before."""
    here = PayoutRow.organisation_id == organisation_id, PayoutRow.id == payout_id
    return session.execute(select(PayoutRow).where(*here).with_for_update()).scalar_one()
