"""Who asks in a shop, and for which order: a session of its organisation, or the secret of the order's link."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from flask import g, request

from shared.errors import NotFound, NotSignedIn
from sync_server.accounts import queries as accounts
from sync_server.checkout import queries
from sync_server.checkout.models import OrderRow
from sync_server.checkout.orders import links as order_links
from sync_server.checkout.payments.paying import OrderKey
from sync_server.customers import browsers
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.web import SAFE_METHODS, current_principal, maybe_principal

P = ParamSpec("P")
T = TypeVar("T")

LINK_HEADER = "X-Order-Secret"
TAB_HEADER = "X-Queue-Tab"
MAX_SHOPS = 1_024
"""Whose ids are kept."""


def shop(slug: str) -> str:
    """The organisation of the shop, which must be the caller's own; NotFound otherwise."""
    principal, id = current_principal(), _organisation(slug)
    if id is None or principal.organisation_id != id:
        raise NotFound("There is no organisation with this slug.", code="organisation_not_found")
    return id


class ShopIds(SharedLoads[str, str]):
    """The ids of the organisations whose shops this process has served, by slug: neither ever changes."""


def _organisation(slug: str) -> str | None:
    database = parts().database

    def load() -> str:
        with database.autocommit_reading() as session:
            found = accounts.organisation_by_slug(session, slug)
        if found is None:
            raise NotFound  # forgotten, as another may get this slug
        return found.id

    try:
        return database.ports.of(ShopIds).get(slug, load)
    except NotFound:
        return None


def tab() -> str:
    """The secret of the tab that has the pass, where the event has a queue."""
    return request.headers.get(TAB_HEADER, "")[:128]


def for_buyer(view: Callable[Concatenate[OrderKey, P], T]) -> Callable[..., T]:
    """Allow a view of one order, which takes its key first, only for its buyer: see `_identify`."""

    @wraps(view)
    def guarded(slug: str, order_id: str, *args: P.args, **kwargs: P.kwargs) -> T:
        return view(OrderKey(_identify(slug, order_id), order_id), *args, **kwargs)

    return guarded


def _identify(slug: str, order_id: str) -> str:
    """Find out who asks for an order; returns its organisation.

    Whoever sends the secret of its link acts as the buyer, whatever session the browser has. Without one, the order
    must be that of the customer who is signed in, or of the session: NotFound otherwise.
    """
    secret, principal = request.headers.get(LINK_HEADER, ""), maybe_principal()
    customer = None if secret else _customer(slug)
    if not secret and principal is None and customer is None:
        raise NotSignedIn("Start a session of the shop, or open the order by its link.", code="no_session")
    organisation_id = _organisation(slug)
    if organisation_id is None:
        raise queries.no_such_order()
    with parts().database.autocommit_reading() as session:
        order = queries.order(session, organisation_id, order_id)
    if secret:
        if not order_links.opens(parts().sealer, organisation_id, order.id, secret):
            raise queries.no_such_order()
        g.principal = Principal("order", order.id, organisation_id)
    elif customer is not None and (order.organisation_id, order.customer_id) == (customer.organisation_id, customer.id):
        g.principal = customer
    elif principal is None or not _made(order, principal):
        raise queries.no_such_order()
    return organisation_id


def _customer(slug: str) -> Principal | None:
    """The customer who is signed in; for what changes something, only with the CSRF token of that session."""
    principal = maybe_principal()
    if principal is not None and principal.kind == "customer":
        return principal
    return browsers.customer(slug) if request.method in SAFE_METHODS else None


def _made(order: OrderRow, principal: Principal) -> bool:
    whose = order.organisation_id, order.bearer_kind, order.bearer_id
    return whose == (principal.organisation_id, principal.kind, principal.id)
