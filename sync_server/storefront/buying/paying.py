"""Begins to pay an order by a method of the shop, and says which page follows."""

from __future__ import annotations

from flask import Response, redirect

from shared.errors import GatehouseError
from sync_server.checkout.payments import paying
from sync_server.checkout.payments.methods import method_named
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.payments.stripe import beginning
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context
from sync_server.storefront.page import Page

STRIPE = "stripe"


def begin(page: Page, key: OrderKey, method: str) -> Response:
    """Pay a free order at once, let an invoice wait, or go on to the form of the payment service.

    A way to pay that is refused leads to the page with the others; the order stays.
    """
    at = f"{page.shop.at}/orders/{key.order_id}"
    try:
        chosen = method_named(method)
        paying.require_in_shop(chosen)
        with parts().database.writing(paying.event_in_demand(parts().database, key)) as session:
            order = paying.start(session, parts().sealer, key, chosen, context()).order
            if chosen.online:
                beginning.plan(session, order, context())
    except GatehouseError:
        return redirect(f"{at}/pay", 303)  # type: ignore[return-value]
    return redirect(f"{at}/pay/card" if chosen.online else f"{at}/confirmation", 303)  # type: ignore[return-value]
