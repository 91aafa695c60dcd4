"""Sends payouts to Stripe: each is claimed, asked for with its own key, and noted; a kill anywhere repeats nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from sqlalchemy import ColumnElement, select, text

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.checkout.models import PayoutRow
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.payments import payouts
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.payments.stripe.gateway import Gateway, KeysRefused, Refunded, StripeRefused
from sync_server.checkout.payments.stripe.outcomes import LANE, STRIPE, note_refund, payout_of
from sync_server.checkout.rules import PayoutState
from sync_server.plumbing.due import next_due, organisations_due
from sync_server.plumbing.jobs import MORE, HeavyJob
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG

BATCH_SIZE: Final = 200
AT_ONCE: Final = 8
"""Requests side by side: Stripe takes 100 a second, and answers each after some hundred milliseconds."""
LEASE_MS: Final = 120_000
"""A worker that has not noted an answer by then has gone: another asks again."""
PAUSES_MS: Final = (10_000, 60_000, 300_000, 1_800_000)
"""Before an attempt after one that was not answered."""
_OURS: Final = PayoutRow.state == text("'waiting'"), PayoutRow.method == STRIPE.name
"""As literal text, to match the partial index."""


def job(access: StripeAccess) -> HeavyJob:
    """Pays back what is owed; several workers may do it at once."""
    return HeavyJob(
        payouts.PAY_BACK,
        2_000,
        lambda _database, context: _send_some(access, context),
        lambda session, _now: next_due(session, PayoutRow.try_at, *_OURS),
        lane=LANE,
    )


def _due(now: Millis) -> tuple[ColumnElement[bool], ...]:
    return *_OURS, PayoutRow.try_at <= now


def _send_some(access: StripeAccess, context: ActionContext) -> object:
    sent = 0
    with access.database.reading() as session:
        organisations = organisations_due(session, PayoutRow.organisation_id, *_due(context.now))
    for organisation_id in organisations:
        claimed = _claim(access, organisation_id, context.now)
        sent += len(claimed)
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="payout") as pool:
            list(pool.map(partial(_guarded, access, context), claimed))
    return MORE if sent else None


def _claim(access: StripeAccess, organisation_id: str, now: Millis) -> list[PayoutRow]:
    """Payouts that nobody else tries now; that they are tried is committed before Stripe hears of them."""
    row = PayoutRow
    with access.database.writing() as session:
        due = select(row).where(row.organisation_id == organisation_id, *_due(now)).order_by(row.try_at, row.id)
        found = session.execute(due.limit(BATCH_SIZE).with_for_update(skip_locked=True)).scalars().all()
        for each in found:
            each.attempts += 1
            each.try_at = now + LEASE_MS
        return list(found)


def _guarded(access: StripeAccess, context: ActionContext, row: PayoutRow) -> None:
    try:
        send(access, row, context)
    except GatehouseError as problem:
        LOG.warning("payout_not_sent", payout_id=row.id, code=problem.error_code)
        _put_off(access, row, problem.error_code, context)


def send(access: StripeAccess, row: PayoutRow, context: ActionContext) -> None:
    """Ask Stripe for one payout that was claimed, and note the answer."""
    with access.database.reading() as session:
        gateway = access.gateway(session, row.organisation_id)
    try:
        refunded = _asked_before(gateway, row) or gateway.refund(
            key=row.id,
            intent=row.payment,
            cents=row.cents,
            metadata={"organisation": row.organisation_id, "order": row.order_id, "payout": row.id},
        )
    except KeysRefused:
        raise  # until the organiser corrects them
    except StripeRefused as refusal:
        _give_up(access, row, str(refusal.details.get("reason") or refusal.error_code), context)
        return
    with access.database.writing() as session:
        order = lock_order(session, row.organisation_id, row.order_id)
        note_refund(session, order, row.payment, refunded, context.by_system())


def _asked_before(gateway: Gateway, row: PayoutRow) -> Refunded | None:
    """The refund that an earlier attempt made, whose answer was lost: Stripe forgets keys after a day."""
    if row.attempts == 1:
        return None
    return next((each for each in gateway.refunds(row.payment) if each.payout == row.id), None)


def _give_up(access: StripeAccess, row: PayoutRow, problem: str, context: ActionContext) -> None:
    with access.database.writing() as session:
        order = lock_order(session, row.organisation_id, row.order_id)
        stored = payout_of(session, row.organisation_id, row.id)
        payouts.note_failed(session, order, stored, problem, context.by_system())


def _put_off(access: StripeAccess, row: PayoutRow, problem: str, context: ActionContext) -> None:
    with access.database.writing() as session:
        stored = payout_of(session, row.organisation_id, row.id)
        if stored.state == PayoutState.WAITING:
            stored.problem = problem
            stored.try_at = context.now + PAUSES_MS[min(row.attempts, len(PAUSES_MS)) - 1]
