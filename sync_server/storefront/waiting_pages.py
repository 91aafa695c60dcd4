"""/o/{slug}/waiting: joining the waiting list of a sold-out event, one's place in it, and taking what is offered."""

from __future__ import annotations

from flask import Response, redirect, request

from shared.errors import GatehouseError
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context
from sync_server.storefront.buying import baskets
from sync_server.storefront.buying.baskets import Basket
from sync_server.storefront.cards import millis
from sync_server.storefront.event_pages import shown
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.refusals import in_words
from sync_server.storefront.visitors import (
    begin,
    remember,
    require_form,
    require_guest,
    require_same_site,
    visitor_of,
)
from sync_server.storefront.windows import window_of
from sync_server.waiting_list import links, queries, service, views
from sync_server.waiting_list.rules import Wish
from sync_server.waiting_list.schemas import PartyView
from sync_server.waiting_list.service import Joining

_LARGEST = 200


@bp.post("/<slug>/events/<event>/waiting")
def join_waiting_list(slug: str, event: str) -> Response:
    """Join as a party of so many; what fits it is held for it when its turn comes."""
    page = page_of(slug)
    window, visitor = window_of(parts(), page.shop, event), visitor_of(page)
    require_form(visitor) if "csrf_token" in request.form else require_same_site()
    guest = begin(page, visitor)
    typed, email = request.form.get("size", "").strip(), request.form.get("email", "").strip()[:254]
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= 4
    size = int(typed) if is_number and 1 <= int(typed) <= _LARGEST else 1
    joining = Joining(guest.guest_id, email, page.language, Wish(size, together=True))
    try:
        with parts().database.writing() as session:
            row = service.join(session, EventKey(page.shop.id, window.id), joining, context())
    except GatehouseError as refusal:
        values = shown(page, window) | {"problem": in_words(page, refusal), "given": {"size": size, "email": email}}
        return render(page, "join_waiting.html", refusal.status, **values, csrf=visitor.csrf)
    return remember(redirect(f"{page.shop.at}/waiting/{row.id}", 303), page, guest)  # type: ignore[arg-type]


@bp.get("/<slug>/waiting/<party_id>")
def own_party(slug: str, party_id: str) -> Response:
    """The place of a party, for the browser that has joined."""
    page = page_of(slug)
    guest = require_guest(visitor_of(page))
    with parts().database.reading() as session:
        row = queries.party(session, page.shop.id, party_id)
        if row.bearer_id != guest.guest_id:
            raise queries.no_such_party()
        return _place(page, views.party_view(session, row, parts().sealer))


@bp.get("/<slug>/waiting")
def waiting_place(slug: str) -> Response:
    """Takes the code of the link in the mail."""
    page = page_of(slug)
    form = {"action": f"{page.shop.at}/waiting", "title": page.t("waiting.title"), "go": page.t("waiting.open")}
    return render(page, "one_time.html", **form)


@bp.post("/<slug>/waiting")
def show_waiting_place(slug: str) -> Response:
    """The place of a party, for whoever has the link."""
    require_same_site()
    page = page_of(slug)
    return _place(page, _party(page))


@bp.post("/<slug>/waiting/leave")
def leave_waiting_list(slug: str) -> Response:
    """Leave the list; what was offered goes to the next."""
    require_same_site()
    page = page_of(slug)
    found = _party(page)
    with parts().database.writing() as session:
        service.leave(session, page.shop.id, found.id, context())
    return _place(page, _party(page))


@bp.post("/<slug>/waiting/take")
def take_offered_places(slug: str) -> Response:
    """Let this browser hold what was offered, and go on to the checkout."""
    require_same_site()
    page = page_of(slug)
    found, guest = _party(page), begin(page, visitor_of(page))
    with parts().database.writing() as session:
        offer = queries.open_offer(session, page.shop.id, found.id)
        held = service.take(session, page.shop.id, found.id, guest.guest_id, context())
    number = offer.ticket_type if offer is not None else 0
    places = sum(each.quantity for each in held if each.seat is None)
    basket = Basket(found.event_id, {str(number): places} if places else {})
    basket.seats = {each.id: number for each in held if each.seat is not None}
    response = redirect(f"{page.shop.at}/events/{found.event_id}/checkout", 303)
    return baskets.remember(remember(response, page, guest), page, basket)  # type: ignore[arg-type]


def _party(page: Page) -> PartyView:
    """The party whose link the form holds: its id, and the secret that opens it."""
    party_id, _, secret = request.form.get("code", "").strip()[:200].partition(".")
    with parts().database.reading() as session:
        if not links.opens(parts().sealer, page.shop.id, party_id, secret):
            raise queries.no_such_party()
        return views.party_view(session, queries.party(session, page.shop.id, party_id), parts().sealer)


def _place(page: Page, party: PartyView) -> Response:
    window = window_of(parts(), page.shop, party.event_id)
    style = page.style(window.event["timezone"])
    until = style.moment(millis(str(party.offer.ends_at))) if party.offer is not None else ""
    values = {"party": party, "code": f"{party.id}.{party.secret}", "until": until}
    return render(page, "waiting_place.html", **shown(page, window), **values)
