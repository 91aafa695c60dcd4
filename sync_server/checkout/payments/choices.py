"""Which ways to pay the buyer of an order may choose now, and why not the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.checkout.models import OrderRow
from sync_server.checkout.payments.methods import METHODS, PaymentMethod, Terms
from sync_server.checkout.rules import OrderState
from sync_server.checkout.settings import settings_of
from sync_server.events import queries as events
from sync_server.events.queries import Event


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to pay, and the refusal that choosing it would meet, if any."""

    method: str
    available: bool = True
    code: str = ""
    message: str = ""


def terms_of(session: Session, order: OrderRow, event: Event, now: Millis) -> Terms:
    """On what paying this order depends."""
    starts_at = event.start_at if event.rescheduled_at is None else event.rescheduled_at
    return Terms(cache(partial(settings_of, session, order.organisation_id)), starts_at, now)


def of_order(session: Session, order: OrderRow, now: Millis) -> list[Choice]:
    """The methods of the shop for this order; none once it is paid, has ended or has run out."""
    if order.state != OrderState.PENDING or _has_run_out(order, now):
        return []
    terms = terms_of(session, order, events.event(session, *order.event), now)
    return list(_choices(order, terms))


def beforehand(session: Session, event: Event, total_cents: int, now: Millis) -> list[Choice]:
    """The methods of the shop for an order of this total that a buyer with name and address would make."""
    order = OrderRow(organisation_id=event.organisation_id, total_cents=total_cents, buyer_name="?", buyer_email="?")
    return list(_choices(order, terms_of(session, order, event, now)))


def _has_run_out(order: OrderRow, now: Millis) -> bool:
    return order.remaining_ms is None and order.expires_at <= now


def _choices(order: OrderRow, terms: Terms) -> Iterable[Choice]:
    for method in METHODS.values():
        if method.in_shop:
            yield _choice(method, order, terms)


def _choice(method: PaymentMethod, order: OrderRow, terms: Terms) -> Choice:
    """What beginning to pay would say, asked beforehand: `start` only judges, and writes nothing."""
    try:
        method.start(order, terms)
    except GatehouseError as refusal:
        return Choice(method.name, available=False, code=refusal.error_code, message=refusal.message)
    return Choice(method.name)
