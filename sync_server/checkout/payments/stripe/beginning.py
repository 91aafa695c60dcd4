"""Begins payments at Stripe: planned in one transaction, asked for outside of any, and stored in the next."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.checkout.models import OrderRow, StripePaymentRow
from sync_server.checkout.money import ledger
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.payments.stripe.gateway import Gateway, Intent
from sync_server.checkout.rules import OrderState
from sync_server.plumbing.requests.principals import ActionContext

FIRST_LOOK_MS = 60_000
"""After that the worker asks what became of a payment, if no webhook has told."""
FOLLOWED = ("begun", "open")


def plan(session: Session, order: OrderRow, context: ActionContext) -> None:
    """A payment of all that is due, unless one has begun; the order is locked, and Stripe not asked yet."""
    if order.state != OrderState.PENDING:
        return
    due = ledger.balance(session, order).due
    if due <= 0 or any(row.cents == due for row in open_payments(session, order)):
        return
    session.add(
        StripePaymentRow(
            organisation_id=order.organisation_id,
            id=uuid7(context.now, context.entropy),
            order_id=order.id,
            cents=due,
            currency=order.currency,
            state="begun",
            look_at=context.now + FIRST_LOOK_MS,
            created_at=context.now,
        )
    )
    session.flush()


def open_payments(session: Session, order: OrderRow) -> Sequence[StripePaymentRow]:
    """The payments of an order that may still be made, the newest first."""
    row = StripePaymentRow
    here = row.organisation_id == order.organisation_id, row.order_id == order.id, row.state.in_(FOLLOWED)
    return session.execute(select(row).where(*here).order_by(row.id.desc())).scalars().all()


def begin(access: StripeAccess, key: OrderKey, context: ActionContext) -> tuple[str, Intent]:
    """The payment that was planned for an order, as Stripe has it; its row's id first.

    Repeated, also after a kill, it is the same payment. StripeUnreachable where Stripe does not answer.
    """
    with access.database.reading() as session:
        order = session.get_one(OrderRow, (key.organisation_id, key.order_id))
        due = ledger.balance(session, order).due
        row = next((each for each in open_payments(session, order) if each.cents == due), None)
        if row is None:
            raise Conflict("Nothing of this order is left to pay.", code="nothing_due")
        gateway = access.gateway(session, key.organisation_id)
    return row.id, ask(access, gateway, row, context)


def ask(access: StripeAccess, gateway: Gateway, row: StripePaymentRow, context: ActionContext) -> Intent:
    """The payment of this row as Stripe has it now; begun there, if it was not yet."""
    if row.intent is not None:
        return gateway.look(row.intent)
    metadata = {"organisation": row.organisation_id, "order": row.order_id, "payment": row.id}
    intent = gateway.begin(key=row.id, cents=row.cents, currency=row.currency, metadata=metadata)
    with access.database.writing() as session:
        here = StripePaymentRow.organisation_id == row.organisation_id, StripePaymentRow.id == row.id
        stored = session.execute(select(StripePaymentRow).where(*here).with_for_update()).scalar_one()
        if stored.intent is None:
            stored.intent, stored.state = intent.id, "open"
            stored.look_at = context.now + FIRST_LOOK_MS
    return intent
