"""Asks Stripe what became of disputes, and notes it: when a webhook tells, and again and again while one is open."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.checkout.models import CheckoutSettingsRow, DisputeRow, StripePaymentRow
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.payments import disputes
from sync_server.checkout.payments.disputes import LOOK_AGAIN_MS
from sync_server.checkout.payments.stripe import beginning, outcomes
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.payments.stripe.outcomes import LANE, STRIPE
from sync_server.plumbing.due import due_if_any, next_due, organisations_due
from sync_server.plumbing.jobs import HeavyJob
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG

BATCH_SIZE: Final = 50
SEARCHED_MS: Final = 30 * 24 * 3_600_000
"""How far back untold disputes are searched: longer than a bank waits for an answer."""
_HAS_KEY: Final = CheckoutSettingsRow.stripe_sealed_key.is_not(None)


def follow(access: StripeAccess, organisation_id: str, payment_id: str, context: ActionContext) -> None:
    """Note every dispute that Stripe has of a payment; the payment itself first, if nobody has told of it yet."""
    row = _payment(access, organisation_id, payment_id)
    if row.state in beginning.FOLLOWED:
        outcomes.follow(access, organisation_id, payment_id, context)
        row = _payment(access, organisation_id, payment_id)
    if row.intent is None or row.state != "received":
        return
    with access.database.reading() as session:
        gateway = access.gateway(session, organisation_id)
    for told in gateway.disputes(row.intent):
        if told.currency != row.currency:
            LOG.error("stripe_currency_differs", payment_id=row.id)
            continue
        with access.database.writing() as session:
            order = lock_order(session, organisation_id, row.order_id)
            disputes.note(session, order, STRIPE.name, told, context.by_system())


def _payment(access: StripeAccess, organisation_id: str, payment_id: str) -> StripePaymentRow:
    with access.database.reading() as session:
        return session.get_one(StripePaymentRow, (organisation_id, payment_id))


def job(access: StripeAccess) -> HeavyJob:
    """Asks again what became of open disputes; several workers may do it at once."""
    return HeavyJob(
        "stripe.disputes",
        60_000,
        lambda _database, context: _follow_some(access, context),
        lambda session, _now: next_due(session, DisputeRow.look_at),
        lane=LANE,
    )


def search_job(access: StripeAccess) -> HeavyJob:
    """Asks for disputes of which no webhook ever told; several workers may do it at once."""
    return HeavyJob(
        "stripe.search_disputes",
        LOOK_AGAIN_MS,
        lambda _database, context: _search(access, context),
        lambda session, _now: due_if_any(session, CheckoutSettingsRow.organisation_id, _HAS_KEY),
        lane=LANE,
    )


def _search(access: StripeAccess, context: ActionContext) -> None:
    with access.database.reading() as session:
        organisations = organisations_due(session, CheckoutSettingsRow.organisation_id, _HAS_KEY)
    for organisation_id in organisations:
        try:
            for payment_id in _untold(access, organisation_id, context.now - SEARCHED_MS):
                follow(access, organisation_id, payment_id, context)
        except GatehouseError as problem:
            LOG.warning("disputes_not_searched", organisation_id=organisation_id, code=problem.error_code)


def _untold(access: StripeAccess, organisation_id: str, since: Millis) -> list[str]:
    """Our payments with disputes at Stripe, opened since then, that are not known here."""
    with access.database.reading() as session:
        gateway = access.gateway(session, organisation_id)
    told = gateway.disputes_since(since)
    row = DisputeRow
    with access.database.reading() as session:
        references = row.reference.in_(sorted(each.reference for each in told))
        known = set(session.scalars(select(row.reference).where(row.organisation_id == organisation_id, references)))
        intents = sorted({each.payment for each in told if each.reference not in known and each.payment})
        found = [outcomes.find(session, organisation_id, intent=intent, payment="") for intent in intents]
    return [payment.id for payment in found if payment is not None]


def _due(now: Millis) -> tuple[ColumnElement[bool], ...]:
    return DisputeRow.look_at.is_not(None), DisputeRow.look_at <= now


def _follow_some(access: StripeAccess, context: ActionContext) -> None:
    with access.database.reading() as session:
        organisations = organisations_due(session, DisputeRow.organisation_id, *_due(context.now))
    for organisation_id in organisations:
        for intent in _claim(access, organisation_id, context.now):
            with access.database.reading() as session:
                payment = outcomes.find(session, organisation_id, intent=intent, payment="")
            try:
                if payment is not None:
                    follow(access, organisation_id, payment.id, context)
            except GatehouseError as problem:
                LOG.warning("dispute_not_followed", payment_id=payment and payment.id, code=problem.error_code)


def _claim(access: StripeAccess, organisation_id: str, now: Millis) -> list[str]:
    """The payments whose disputes to look at; the next look at each is later."""
    with access.database.writing() as session:
        return _claimed(session, organisation_id, now)


def _claimed(session: Session, organisation_id: str, now: Millis) -> list[str]:
    row = DisputeRow
    due = select(row).where(row.organisation_id == organisation_id, *_due(now)).order_by(row.look_at)
    found = session.execute(due.limit(BATCH_SIZE).with_for_update(skip_locked=True)).scalars().all()
    for each in found:
        each.look_at = now + LOOK_AGAIN_MS
    return sorted({each.payment for each in found})
