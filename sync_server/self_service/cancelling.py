"""The buyer gives tickets back alone, where the organiser allows it: by the same way as every other refund."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from sync_server.checkout import queries as orders
from sync_server.checkout.money import amounts as money
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.payments import refunding
from sync_server.checkout.payments.methods import METHODS
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.payments.refunding import Refund
from sync_server.checkout.queries import Order, Ordered
from sync_server.checkout.rules import LineState
from sync_server.events import queries as events
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.self_service import owners, rules, settings, transfers
from sync_server.tickets import queries as tickets


@dataclass(frozen=True, slots=True)
class Terms:
    """What giving these lines back comes to."""

    positions: tuple[int, ...]
    paid_cents: int  # for these lines
    kept_cents: int  # of them, by the organiser


def terms(session: Session, key: OrderKey, positions: Collection[int] | None, now: int) -> Terms:
    """What giving lines of an order back comes to now; the first reason why it may not be."""
    return _terms(session, orders.order(session, *key), positions, now)


def cancel(session: Session, key: OrderKey, positions: Collection[int] | None, context: ActionContext) -> Order:
    """Give lines of a paid order back. A payment service pays back at once; else the money is owed until staff pay."""
    order = lock_order(session, *key)
    found = _terms(session, order, positions, context.now)
    chosen = _chosen(session, order, found.positions)
    ids = [line.ticket_id for line in chosen if line.ticket_id is not None]
    transfers.end_offers(session, key.organisation_id, ids, context)
    method = METHODS.get(order.method, METHODS["cash"])
    wanted = Refund(
        method,
        found.positions,
        kept_cents=found.kept_cents,
        pay_back=method.online,
        reason="cancelled by the buyer",
    )
    return refunding.refund(session, key, wanted, context)


def _terms(session: Session, order: Order, positions: Collection[int] | None, now: int) -> Terms:
    lines = _chosen(session, order, positions)
    if not lines:
        raise Conflict("Nothing of this order is left to cancel.", code="nothing_to_refund")
    policy = settings.settings_of(session, order.organisation_id)
    allowed = settings.allowed_at(policy, events.details(session, order.organisation_id, order.event_id))
    found = tickets.tickets_by_id(session, order.organisation_id, [line.ticket_id for line in lines if line.ticket_id])
    for line in lines:
        standing = owners.standing_of(session, found[line.ticket_id or 0], int(line.passed_on))
        refusal = rules.refuse_cancellation(allowed, standing, now)
        if refusal is not None:
            raise refusal
    kept = sum(min(policy.cancel_fee_cents, money.amounts_of([line]).total) for line in lines)
    return Terms(tuple(line.position for line in lines), money.amounts_of(lines).total, kept)


def _chosen(session: Session, order: Order, positions: Collection[int] | None) -> Sequence[Ordered]:
    """The lines to give back; without positions all that are still the buyer's."""
    lines = orders.lines(session, order.organisation_id, order.id)
    issued = [line for line in lines if line.state == LineState.ISSUED.value]
    if positions is None:
        return [line for line in issued if not line.passed_on] or issued
    wanted = set(positions)
    if unknown := sorted(wanted - {line.position for line in lines}):
        raise InvalidRequest(f"The order has no line {unknown[0]}.", field="lines", code="unknown_line")
    if gone := sorted(wanted - {line.position for line in issued}):
        raise Conflict(f"Line {gone[0]} is not paid, or was refunded before.", code="line_not_refundable", lines=gone)
    return [line for line in issued if line.position in wanted]
