"""Sells at the box office: order and payment in one step."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from sync_server.checkout.models import OrderRow
from sync_server.checkout.orders import placing
from sync_server.checkout.orders.order_request import OrderRequest
from sync_server.checkout.payments import paying
from sync_server.checkout.payments.methods import PaymentMethod
from sync_server.checkout.payments.paying import Arrived
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer


@dataclass(frozen=True, slots=True)
class Sale:
    """What is sold, and how it is paid."""

    request: OrderRequest
    method: PaymentMethod
    reference: str | None = None  # as the terminal names the payment


def sell(session: Session, sealer: Sealer, sale: Sale, context: ActionContext) -> OrderRow:
    """Make the order and note its payment; one by invoice waits for it, and a free one needs none."""
    order = placing.place(session, sealer, sale.request, context).whole.order
    key = paying.key_of(order)
    if order.total_cents and not sale.method.in_shop:
        paying.require_noting(sale.method, context)
        return paying.receive(session, sealer, key, Arrived(sale.method, reference=sale.reference), context)
    return paying.start(session, sealer, key, sale.method, context).order
