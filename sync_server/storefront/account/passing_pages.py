"""/o/{slug}/orders/{order}/pass-on and …/give-back: what buyers do alone with the tickets of an order."""

from __future__ import annotations

from typing import Any

from flask import Response, redirect, request

from shared.errors import GatehouseError, InvalidRequest
from shared.wire.snapshot import TicketState
from sync_server.checkout import queries as orders
from sync_server.checkout.payments import paying
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.form_fields import typed_line
from sync_server.plumbing.web import context
from sync_server.self_service import cancelling, owners, transfers
from sync_server.self_service.owners import TicketKey
from sync_server.self_service.transfers import Gift
from sync_server.storefront.account.order_pages import OwnOrder, own_order
from sync_server.storefront.page import bp, render
from sync_server.storefront.refusals import in_words
from sync_server.storefront.visitors import require_form
from sync_server.tickets import queries as tickets


@bp.get("/<slug>/orders/<order_id>/pass-on")
def pass_on(slug: str, order_id: str) -> Response:
    """Which ticket, and to whom."""
    return _form(own_order(slug, order_id))


@bp.post("/<slug>/orders/<order_id>/pass-on")
def offer_ticket(slug: str, order_id: str) -> Response:
    """Mail a link to whoever is to have the ticket; until it is used nothing changes."""
    found = own_order(slug, order_id)
    require_form(found.visitor)
    email, giver = typed_line("email", 254), typed_line("giver", 100)
    try:
        with parts().database.writing() as session:
            gift = Gift(email, giver, found.page.language)
            transfers.offer(parts(), session, _ticket(found), gift, context())
    except InvalidRequest:
        return _form(found, found.page.t("buyer.email_wrong"), 400)
    except GatehouseError as refusal:
        return _form(found, in_words(found.page, refusal), refusal.status)
    return _form(found, sent=email)


@bp.post("/<slug>/orders/<order_id>/pass-on/withdraw")
def withdraw_offer(slug: str, order_id: str) -> Response:
    """Take an offer back that nobody has accepted."""
    found = own_order(slug, order_id)
    require_form(found.visitor)
    with parts().database.writing() as session:
        transfers.withdraw(session, _ticket(found), context())
    return redirect(f"{found.at}/pass-on", 303)  # type: ignore[return-value]


def _ticket(found: OwnOrder) -> TicketKey:
    """The ticket that the form names, which must be one of the order and its buyer's."""
    id = tickets.internal_id(request.form.get("ticket", "")[:16])
    with parts().database.reading() as session:
        paying.require_ticket(orders.lines(session, *found.key), id)
    return TicketKey(*found.key, id)


def _form(found: OwnOrder, problem: str = "", status: int = 200, *, sent: str = "") -> Response:
    style = found.page.style(found.window.event["timezone"])
    valid = TicketState.VALID.name.lower()
    mine = [each for each in found.view.lines if each.ticket and not each.passed_on and each.ticket.state == valid]
    ids = {each.ticket.id: tickets.internal_id(each.ticket.id) for each in mine if each.ticket}
    with parts().database.reading() as session:
        offered = owners.offered(session, found.page.shop.id, ids.values())
    open_offers = [
        {"line": each, "until": style.moment(offered[ids[each.ticket.id]].ends_at)}
        for each in mine
        if each.ticket and ids[each.ticket.id] in offered
    ]
    free = [each for each in mine if each.ticket and ids[each.ticket.id] not in offered]
    values: dict[str, Any] = {
        "problem": problem,
        "sent": sent,
        "free": free,
        "offers": open_offers,
        "at": found.at,
        "style": style,
    }
    return render(found.page, "pass_on.html", status, **values, csrf=found.visitor.csrf, order=found.view)


@bp.get("/<slug>/orders/<order_id>/give-back")
def give_back(slug: str, order_id: str) -> Response:
    """What giving the order back comes to, before anything happens."""
    found = own_order(slug, order_id)
    try:
        with parts().database.reading() as session:
            terms = cancelling.terms(session, found.key, None, parts().clock())
    except GatehouseError:
        return render(found.page, "give_back.html", 409, terms=None, at=found.at, order=found.view)
    style = found.page.style(found.window.event["timezone"])
    sums = {"paid": terms.paid_cents, "kept": terms.kept_cents, "refund": terms.paid_cents - terms.kept_cents}
    shown = {name: style.amount(cents, found.view.currency) for name, cents in sums.items()}
    lines = [each for each in found.view.lines if each.position in terms.positions]
    values = {"terms": terms, "sums": shown, "lines": lines, "style": style, "order": found.view, "at": found.at}
    return render(found.page, "give_back.html", **values, csrf=found.visitor.csrf)


@bp.post("/<slug>/orders/<order_id>/give-back")
def give_back_now(slug: str, order_id: str) -> Response:
    """Give the order back: its places are for sale again."""
    found = own_order(slug, order_id)
    require_form(found.visitor)
    with parts().database.writing() as session:
        cancelling.cancel(session, found.key, None, context())
    return redirect(f"{found.at}/confirmation", 303)  # type: ignore[return-value]
