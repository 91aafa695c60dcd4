"""/o/{slug}/account: the tickets and orders of whoever is signed in, or of this browser."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, redirect, request
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout import views as order_views
from sync_server.checkout.queries import OrderFilter
from sync_server.customers import queries as customers
from sync_server.customers.logins import passkeys, passwords
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.web import context
from sync_server.self_service import owners
from sync_server.self_service import views as own_views
from sync_server.storefront.account.drawn_codes import shown_tickets
from sync_server.storefront.cards import millis
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.visitors import Visitor, require_customer, require_form, visitor_of
from sync_server.ticket_files import faces
from sync_server.ticket_files.faces import Setting
from sync_server.ticket_files.schemas import faces_view
from sync_server.tickets import queries as tickets

ON_A_PAGE: Final = 20
_STANDING: Final = frozenset({"valid", "unpaid", "blocked"})


@bp.get("/<slug>/account")
def account(slug: str) -> Response:
    """My tickets and orders; without signing in those of this browser."""
    page = page_of(slug)
    visitor = visitor_of(page)
    values: dict[str, Any] = {"csrf": visitor.csrf, "tickets": [], "orders": [], "following": "", "email": ""}
    with parts().database.reading() as session:
        if visitor.customer is not None:
            values["email"] = customers.customer(session, page.shop.id, visitor.customer.id).email or ""
            values["tickets"] = _tickets(session, page, visitor.customer)
            values |= _passkeys(session, page, visitor.customer)
        values |= _orders(session, page, visitor)
    return render(page, "account.html", **values)


def _passkeys(session: Session, page: Page, customer: Principal) -> dict[str, Any]:
    """The customer's passkeys, and whether another may be made now: who signed in long ago asks for a link first."""
    style = page.style()
    keys = [
        {"id": row.id, "name": row.name, "day": style.short_day(row.created_at)}
        for row in passkeys.passkeys(session, page.shop.id, customer.id)
    ]
    may_add = passwords.has_just_signed_in(session, customer, parts().clock())
    return {"keys": keys, "may_add": may_add, "account_csrf": customer.csrf}


@bp.post("/<slug>/account/passkeys/remove")
def remove_passkey(slug: str) -> Response:
    """Do without a passkey: it signs in no longer."""
    page = page_of(slug)
    visitor = visitor_of(page)
    require_form(visitor)
    with parts().database.writing() as session:
        passkeys.remove(session, require_customer(visitor), request.form.get("passkey", "")[:36], context())
    return redirect(page.link("/account"), 303)  # type: ignore[return-value]


def _tickets(session: Session, page: Page, customer: Principal) -> list[dict[str, Any]]:
    """The tickets that still admit somebody or were received, those of the next event first."""
    found = sorted(own_views.own_tickets(session, customer), key=lambda each: each.starts_at)
    zones = {each.event_id: events.details(session, page.shop.id, each.event_id).timezone for each in found}
    shown: list[dict[str, Any]] = []
    for each in found:
        if each.state not in _STANDING:
            continue
        style = page.style(zones[each.event_id])
        offered = style.moment(millis(each.offered_until)) if each.offered_until else ""
        day = style.moment(millis(str(each.starts_at)))
        shown.append({"ticket": each, "day": day, "offered": offered})
    return shown


def _orders(session: Session, page: Page, visitor: Visitor) -> dict[str, Any]:
    if visitor.customer is not None:
        wanted = OrderFilter(customer_id=visitor.customer.id)
    elif visitor.guest is not None:
        wanted = OrderFilter(bearer_id=visitor.guest.guest_id)
    else:
        return {}
    after = request.args.get("after")
    found = order_views.page_of(session, page.shop.id, wanted, limit=ON_A_PAGE, after=after)
    rows = {each.event_id: events.event(session, page.shop.id, each.event_id) for each in found.items}
    shown = [
        {
            "order": each,
            "name": rows[each.event_id].name,
            "day": page.style(rows[each.event_id].timezone).moment(_takes_place(rows[each.event_id])),
            "total": page.style().amount(each.total_cents, each.currency) if each.total_cents else "",
        }
        for each in found.items
    ]
    return {"orders": shown, "following": page.link("/account", after=found.next) if found.next else ""}


def _takes_place(row: events.Event) -> Millis:
    """What buyers look for in the list of their orders."""
    return row.start_at if row.rescheduled_at is None else row.rescheduled_at


@bp.get("/<slug>/account/tickets/<ticket_id>")
def own_ticket(slug: str, ticket_id: str) -> Response:
    """One ticket of the customer, with its code: also one that somebody else has bought and passed on."""
    page = page_of(slug)
    customer = require_customer(visitor_of(page))
    with parts().database.reading() as session:
        key = owners.ticket_of(session, customer, tickets.internal_id(ticket_id))
        row = tickets.ticket(session, page.shop.id, key.ticket_id)
        setting = Setting.read(session, EventKey(page.shop.id, row.event_id), page.language)
        found = faces.faces_of(session, parts().sealer, setting, faces.standing([row]))
    shown = shown_tickets(faces_view(found, page.shop.colour).tickets) if found else []
    return render(page, "own_ticket.html", faces=shown)
