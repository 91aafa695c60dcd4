"""/o/{slug}/orders/{order}/…: paying an order, and what its buyer gets: tickets at once, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import segno
from flask import Response, redirect, request
from markupsafe import Markup
from sqlalchemy.orm import Session

from shared.errors import GatehouseError
from sync_server.checkout import queries as orders
from sync_server.checkout import schemas, views
from sync_server.checkout.money import epc
from sync_server.checkout.orders import ending, links
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.payments.stripe.proceeding import proceed
from sync_server.checkout.queries import Order
from sync_server.checkout.rules import OrderState
from sync_server.checkout.sessions import entering
from sync_server.checkout.sessions.rules import SessionState
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context
from sync_server.self_service import cancelling
from sync_server.self_service.settings import allowed_at, settings_of
from sync_server.storefront.account.drawn_codes import ShownTicket, shown_tickets
from sync_server.storefront.buying import paying
from sync_server.storefront.event_pages import shown
from sync_server.storefront.page import Page, bp, content_security_policy, page_of, render
from sync_server.storefront.visitors import GUEST, Visitor, require_form, require_guest, visitor_of
from sync_server.storefront.windows import Window, window_of
from sync_server.ticket_files import files
from sync_server.ticket_files.responses import pdf_response
from sync_server.ticket_files.schemas import faces_view

STRIPE_SCRIPT: Final = "https://js.stripe.com"
STRIPE_FRAMES: Final = "https://js.stripe.com https://hooks.stripe.com"
STRIPE_API: Final = "https://api.stripe.com"
_TICKETS: Final = frozenset({OrderState.PAID.value, OrderState.PARTIALLY_REFUNDED.value})


@dataclass(frozen=True, slots=True)
class OwnOrder:
    """An order of the visitor, as its pages show it."""

    page: Page
    visitor: Visitor
    row: Order
    view: schemas.OrderView
    window: Window

    @property
    def key(self) -> OrderKey:
        """What names it."""
        return OrderKey(self.page.shop.id, self.row.id)

    @property
    def is_pending(self) -> bool:
        """Whether it waits to be paid."""
        return self.row.state == OrderState.PENDING.value

    @property
    def at(self) -> str:
        """What its pages begin with."""
        return f"{self.page.shop.at}/orders/{self.row.id}"


def own_order(slug: str, order_id: str) -> OwnOrder:
    """The order, for the guest who made it or the customer whose it is; NotFound for everybody else."""
    page = page_of(slug)
    visitor = visitor_of(page)
    with parts().database.reading() as session:
        row = orders.order(session, page.shop.id, order_id)
        if not _is_of(row, visitor):
            raise orders.no_such_order()
        view = views.view_of(session, row, parts().clock())
    if visitor.guest is not None:
        require_guest(visitor)
    return OwnOrder(page, visitor, row, view, window_of(parts(), page.shop, row.event_id))


def _is_of(row: Order, visitor: Visitor) -> bool:
    by_customer = visitor.customer is not None and row.customer_id == visitor.customer.id
    by_guest = visitor.guest is not None and (row.bearer_kind, row.bearer_id) == (GUEST, visitor.guest.guest_id)
    return by_customer or by_guest


@bp.get("/<slug>/orders/<order_id>/pay")
def methods(slug: str, order_id: str) -> Response:
    """The ways to pay an order that waits."""
    found = own_order(slug, order_id)
    if not found.is_pending or found.view.due_at is not None:
        return _to(found, "/confirmation")
    available = [each for each in found.view.methods if each.available]
    return render(found.page, "pay.html", **_values(found), methods=available)


@bp.post("/<slug>/orders/<order_id>/pay")
def choose_method(slug: str, order_id: str) -> Response:
    """Begin to pay by the method that was chosen."""
    found = own_order(slug, order_id)
    require_form(found.visitor)
    return paying.begin(found.page, found.key, request.form.get("method", ""))


@bp.get("/<slug>/orders/<order_id>/pay/card")
def pay_by_card(slug: str, order_id: str) -> Response:
    """The payment service's own form. Only this page lets its script in; no card number reaches this server.

    Asked for again when the form has paid, it leads to the tickets.
    """
    found = own_order(slug, order_id)
    if not found.is_pending:
        return _to(found, "/confirmation")
    try:
        secret = proceed(StripeAccess.of(parts()), found.key, context())
    except GatehouseError as refusal:
        if not refusal.retryable:
            return _to(found, "/pay")
        raise
    if not secret:
        return _to(found, "/confirmation")
    payment = found.view.payment
    values = _values(found) | {"secret": secret, "key": payment.publishable_key if payment else ""}
    response = render(found.page, "pay_card.html", **values)
    response.headers["Content-Security-Policy"] = content_security_policy(
        scripts=STRIPE_SCRIPT, connections=STRIPE_API, frames=STRIPE_FRAMES
    )
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@bp.post("/<slug>/orders/<order_id>/cancel")
def cancel_order(slug: str, order_id: str) -> Response:
    """Give up an order that is not paid."""
    found = own_order(slug, order_id)
    require_form(found.visitor)
    with parts().database.writing() as session:
        row = lock_order(session, *found.key)
        if row.state != OrderState.CANCELLED:
            ending.end(session, row, OrderState.CANCELLED, context(), reason="cancelled by the buyer")
            entering.close_of(session, row, SessionState.LEFT, context().now)
    return _to(found, "/confirmation")


@bp.get("/<slug>/orders/<order_id>/confirmation")
def confirmation(slug: str, order_id: str) -> Response:
    """What became of an order: its tickets at once, how to transfer the money, or what happened instead."""
    found = own_order(slug, order_id)
    if found.is_pending and found.view.due_at is None:
        return _to(found, "/pay")
    with parts().database.reading() as session:
        faces = _faces(session, found)
        allowed = allowed_at(settings_of(session, found.page.shop.id), events.details(session, *found.row.event))
        terms = _terms(session, found) if allowed.cancellations else None
        secret = links.secret_of(parts().sealer, *found.key)
    values = _values(found) | {"faces": faces, "allowed": allowed, "terms": terms, "phone_link": f"{found.at}#{secret}"}
    payment = found.view.payment
    values["iban"] = epc.written_iban(payment.iban) if payment is not None else ""
    values["transfer_code"] = _qr(payment.qr_text) if payment is not None and payment.qr_text else ""
    return render(found.page, "confirmation.html", **values)


@bp.get("/<slug>/orders/<order_id>/tickets.pdf")
def tickets_pdf(slug: str, order_id: str) -> Response:
    """The tickets as PDF, one on each page."""
    found = own_order(slug, order_id)
    with parts().database.reading() as session:
        content = files.pdf_of_order(session, parts().sealer, *found.key, parts().clock())
    return pdf_response(content, found.row.number)


@bp.get("/<slug>/orders/<order_id>/calendar.ics")
def order_calendar(slug: str, order_id: str) -> Response:
    """The order as an entry for calendars."""
    found = own_order(slug, order_id)
    with parts().database.reading() as session:
        content = files.calendar_of_order(session, *found.key, parts().clock())
    response = Response(content, content_type="text/calendar; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{found.row.number}.ics"'
    return response


def _faces(session: Session, found: OwnOrder) -> Sequence[ShownTicket]:
    """What stands on the tickets, with their codes drawn; nothing where there is none."""
    try:
        faces, colour, _logo = files.faces_of_order(session, parts().sealer, *found.key)
    except GatehouseError:
        return []
    return shown_tickets(faces_view(faces, colour).tickets)


def _terms(session: Session, found: OwnOrder) -> cancelling.Terms | None:
    """What giving the whole order back comes to; None where the organiser or the time does not allow it."""
    try:
        return cancelling.terms(session, found.key, None, parts().clock())
    except GatehouseError:
        return None


def _qr(text: str) -> Markup:
    drawn = segno.make(text, error="m").svg_inline(scale=4, border=3, svgclass="qr", lineclass=None)
    return Markup(drawn)  # noqa: S704 - paths that segno draws


def _values(found: OwnOrder) -> dict[str, Any]:
    style = found.page.style(found.window.event["timezone"])
    expires = found.row.expires_at if found.view.expires_at is not None else None
    return shown(found.page, found.window) | {
        "order": found.view,
        "at": found.at,
        "csrf": found.visitor.csrf,
        "groups": _grouped(found.view),
        "expires_at": expires,
        "due_by": style.moment(found.row.due_at) if found.row.due_at is not None else "",
        "now": parts().clock(),
        "has_tickets": found.view.state in _TICKETS,
        "signed_in": found.visitor.customer is not None,
    }


def _grouped(view: schemas.OrderView) -> list[dict[str, Any]]:
    """The lines of an order, those of a ticket type without seats together, by their days."""
    groups: dict[tuple[int, str, tuple[str, ...]], dict[str, Any]] = {}
    for line in view.lines:
        each = groups.setdefault(
            (line.ticket_type, line.seat_id, tuple(line.days)),
            {"name": line.ticket_type_name, "seat": line.seat_label, "dates": line.days, "n": 0, "cents": 0},
        )
        each["n"] += 1
        each["cents"] += line.unit_cents + line.fee_cents
    return list(groups.values())


def _to(found: OwnOrder, path: str) -> Response:
    return redirect(f"{found.at}{path}", 303)  # type: ignore[return-value]
