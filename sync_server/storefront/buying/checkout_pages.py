"""/o/{slug}/events/{event}/checkout: all of buying on one page. Whatever has held seats or places leads here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask import Response, redirect, request
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.checkout import queries as orders
from sync_server.checkout.codes import presales, spending
from sync_server.checkout.orders import leaving, placing
from sync_server.checkout.orders.order_request import Buyer, OrderRequest
from sync_server.checkout.payments import choices
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.queries import Order, OrderFilter
from sync_server.checkout.rules import Channel, OrderState
from sync_server.checkout.sessions import entering
from sync_server.checkout.sessions.queries import Visit
from sync_server.customers.cookies import GuestSession
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context
from sync_server.storefront.buying import baskets, holding, paying
from sync_server.storefront.buying.baskets import Basket, basket_of
from sync_server.storefront.buying.buyers import BuyerForm, typed_now
from sync_server.storefront.buying.quotes import Quote, quote
from sync_server.storefront.event_pages import shown
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.refusals import in_words
from sync_server.storefront.visitors import GUEST, Visitor, require_form, require_guest, visit_of, visitor_of
from sync_server.storefront.windows import Window, type_offers, window_of

_DONE: Final = frozenset({OrderState.PENDING.value, OrderState.PAID.value})
_RECENT_MS: Final = 30 * 60_000
_CODE_GONE: Final = frozenset({"code_spent", "code_revoked", "code_not_valid"})


@dataclass(frozen=True, slots=True)
class Checkout:
    """What somebody is about to buy."""

    page: Page
    window: Window
    visitor: Visitor
    guest: GuestSession
    basket: Basket
    quote: Quote
    methods: list[str]
    ends_at: Millis  # when the first of the holds, or the time in the checkout, runs out
    extended: bool

    @property
    def event(self) -> EventKey:
        """The event."""
        return EventKey(self.page.shop.id, self.window.id)

    @property
    def path(self) -> str:
        """Its address."""
        return f"{self.page.shop.at}/events/{self.window.event['slug']}"


@bp.get("/<slug>/events/<event>/checkout")
def checkout(slug: str, event: str) -> Response:
    """What is held, what it costs, who buys, and how it is paid."""
    found = _checkout(slug, event)
    if isinstance(found, Response):
        return found
    basket = found.basket
    if not basket.typed and not basket.problem:
        return _page(found, BuyerForm.known(found.page, found.visitor))
    form = BuyerForm.known(found.page, found.visitor)
    if basket.typed:
        form = BuyerForm.typed(found.page, basket.typed, found.methods)
    if not basket.checked:
        form.errors.clear()
    response = _page(found, form, basket.problem)
    basket.checked, basket.problem = False, ""
    return baskets.remember(response, found.page, basket)


@bp.post("/<slug>/events/<event>/checkout")
def place_order(slug: str, event: str) -> Response:
    """Order what is held, and begin to pay; a refusal changes nothing, and what was typed stays.

    Whatever there is to say is said by the page that the browser is sent to: nobody is asked to send a form again.
    """
    page = page_of(slug)
    visitor = visitor_of(page)
    require_form(visitor)
    window = window_of(parts(), page.shop, event)
    basket = basket_of(page, window.id)
    basket.typed = typed_now()
    _take_seat_types(basket)
    found = _checkout_of(page, window, visitor, basket)
    if isinstance(found, Response):
        return found if found.location else _say(page, window, basket, problem=basket.problem)
    form = BuyerForm.typed(page, basket.typed, found.methods)
    if "update" in request.form or _shown_another_total(found):
        changed = "" if "update" in request.form else _total_changed(found)
        return _say(page, window, basket, problem=basket.problem or changed)
    if form.errors:
        return _say(page, window, basket, checked=True)
    try:
        key = _place(found, form)
    except GatehouseError as refusal:
        if refusal.error_code in _CODE_GONE:
            basket.codes.clear()
        return _say(page, window, basket, problem=in_words(page, refusal))
    return baskets.forget(paying.begin(page, key, form.method), page)


def _say(page: Page, window: Window, basket: Basket, *, checked: bool = False, problem: str = "") -> Response:
    """Send the browser to the checkout, which shows what was typed and says what is wrong with it."""
    basket.checked, basket.problem = checked, problem
    there = redirect(f"{page.shop.at}/events/{window.event['slug']}/checkout", 303)
    return baskets.remember(there, page, basket)  # type: ignore[arg-type]


@bp.post("/<slug>/events/<event>/checkout/extend")
def extend_holds(slug: str, event: str) -> Response:
    """Keep what is held for its full time once more."""
    return _changed(slug, event, holding.extend_all, to="/checkout")


@bp.post("/<slug>/events/<event>/checkout/leave")
def leave_checkout(slug: str, event: str) -> Response:
    """Give up what is held, so that others can have it."""
    return _changed(slug, event, lambda key, guest, _: _leave(key, guest), to="")


def _leave(event: EventKey, guest_id: str) -> None:
    holding.release_all(event, guest_id)
    with parts().database.writing() as session:
        leaving.leave(session, Visit(event, GUEST, guest_id), context())


def _changed(slug: str, event: str, change: Any, *, to: str) -> Response:
    page = page_of(slug)
    visitor = visitor_of(page)
    require_form(visitor)
    guest, window = require_guest(visitor), window_of(parts(), page.shop, event)
    change(EventKey(page.shop.id, window.id), guest.guest_id, basket_of(page, window.id))
    return redirect(f"{page.shop.at}/events/{window.event['slug']}{to}", 303)  # type: ignore[return-value]


def _checkout(slug: str, event: str) -> Checkout | Response:
    """The checkout of this visitor, who enters it now; or the page that stands in its place, and says why."""
    page = page_of(slug)
    window = window_of(parts(), page.shop, event)
    return _checkout_of(page, window, visitor_of(page), basket_of(page, window.id))


def _checkout_of(page: Page, window: Window, visitor: Visitor, basket: Basket) -> Checkout | Response:
    if visitor.guest is None:
        return _nothing(page, window)
    guest, key, now = require_guest(visitor), EventKey(page.shop.id, window.id), parts().clock()
    with parts().database.reading() as session:
        held = holding.held_at(session, key, guest.guest_id, now)
        if not held:
            return _ordered_or_nothing(session, page, window, guest, now)
        redeemed = _redeemed(session, page, key, basket, now)
        offers = type_offers(session, key, redeemed, now)
        quoted = quote(held, offers, basket, redeemed)
        if quoted is None:
            return _nothing(page, window, basket.problem)
        row = events.event(session, *key)
        offered = choices.beforehand(session, row, quoted.amounts.total, now)
        early = bool(redeemed.opened_early) and presales.is_to_begin(session, key, now)
    try:
        with parts().database.writing() as session:
            visit = visit_of(page, guest, window.id)
            entered = entering.enter(session, visit, context(), tab=basket.tab, early=early)
            ends_at = min(entered.session.expires_at, *(each.until for each in held))
    except GatehouseError as refusal:
        return _waiting(page, window, visitor, refusal)
    methods = [each.method for each in offered if each.available]
    extended = all(each.extended for each in held)
    return Checkout(page, window, visitor, guest, basket, quoted, methods, ends_at, extended)


def _redeemed(session: Session, page: Page, event: EventKey, basket: Basket, now: Millis) -> spending.Redeemed:
    """What the codes give; where one was withdrawn, or others were quicker, nothing, and the page says why."""
    try:
        redeemed = spending.redeem(session, parts().sealer, event, basket.codes, now)
        spending.require_unspent(session, event, redeemed)
    except GatehouseError as refusal:
        basket.codes, basket.problem = [], in_words(page, refusal)
        return spending.Redeemed()
    return redeemed


def _ordered_or_nothing(session: Session, page: Page, window: Window, guest: GuestSession, now: Millis) -> Response:
    """The order that was made a moment ago, where a form is sent twice; else that nothing is held any more."""
    wanted = OrderFilter(event_id=window.id, bearer_id=guest.guest_id)
    found = orders.orders(session, page.shop.id, wanted, limit=1, after=None).items
    if found and found[0].state in _DONE and now - found[0].created_at < _RECENT_MS:
        return redirect(order_path(page, found[0]), 303)  # type: ignore[return-value]
    return _nothing(page, window)


def order_path(page: Page, order: Order) -> str:
    """The page of an order of this browser or customer."""
    return f"{page.shop.at}/orders/{order.id}/confirmation"


def _nothing(page: Page, window: Window, problem: str = "") -> Response:
    """Nothing is held that could be bought; the problem says why, where a code is what is missing."""
    return render(page, "nothing_held.html", 409, **shown(page, window), problem=problem)


def _waiting(page: Page, window: Window, visitor: Visitor, refusal: GatehouseError) -> Response:
    """As many as can are paying: what is held stays, and the page asks again by itself."""
    problem, seconds = in_words(page, refusal), int(refusal.details.get("retry_after", 0))
    values = {"problem": problem, "seconds": seconds, "csrf": visitor.csrf}
    response = render(page, "checkout_full.html", refusal.status, **shown(page, window), **values)
    if seconds:
        response.headers["Retry-After"] = str(seconds)
    return response


def _shown_another_total(found: Checkout) -> bool:
    """Whether the page that was sent showed another total than what was chosen there comes to."""
    return request.form.get("total", str(found.quote.amounts.total)) != str(found.quote.amounts.total)


def _total_changed(found: Checkout) -> str:
    """What was chosen comes to another total, at which the buyer looks first; nothing is ordered yet."""
    amount = found.page.style().amount(found.quote.amounts.total, found.quote.currency)
    return found.page.t("checkout.changed", sum=amount)


def _take_seat_types(basket: Basket) -> None:
    """As which ticket type each seat is bought, where there is a choice."""
    for name, value in request.form.items():
        if name.startswith("seat-") and value.isascii() and value.isdigit() and len(value) <= 5:
            basket.seats[name.removeprefix("seat-")] = int(value)


def _place(found: Checkout, form: BuyerForm) -> OrderKey:
    """Make the order, by the ticket types as they were sent with the form."""
    key, now = found.event, parts().clock()
    buyer = Buyer(form.name, form.email, found.page.language)
    with parts().database.writing() as session:
        held = holding.held_at(session, key, found.guest.guest_id, now)
        redeemed = spending.redeem(session, parts().sealer, key, found.basket.codes, now)
        quoted = quote(held, type_offers(session, key, redeemed, now), found.basket, redeemed)
        chosen = quoted.chosen if quoted is not None else found.quote.chosen
        who = (GUEST, found.guest.guest_id)
        wanted = OrderRequest(
            *key, Channel.SHOP, *who, chosen, buyer, tab=found.basket.tab, codes=tuple(found.basket.codes)
        )
        row = placing.place(session, parts().sealer, wanted, context()).whole.order
        return OrderKey(row.organisation_id, row.id)


def _page(found: Checkout, form: BuyerForm, problem: str = "") -> Response:
    values = shown(found.page, found.window) | {
        "quote": found.quote,
        "form": form,
        "methods": found.methods,
        "problem": problem,
        "csrf": found.visitor.csrf,
        "signed_in": found.visitor.customer is not None,
        "ends_at": found.ends_at,
        "now": parts().clock(),
        "extended": found.extended,
        "codes": found.basket.codes,
    }
    return render(found.page, "checkout.html", 200, **values)
