"""/o/{slug}/events/{event}/tickets: choosing places by their number, and the codes that open or cheapen them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from flask import Response, redirect, request

from shared.errors import Conflict, GatehouseError, InvalidRequest, NotFound
from sync_server.checkout.codes import guessing, spending
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.languages import remember as remember_language
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context
from sync_server.storefront.buying import baskets, holding
from sync_server.storefront.buying.baskets import MAX_CODES, Basket, basket_of
from sync_server.storefront.event_pages import shown
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.refusals import in_words
from sync_server.storefront.visitors import begin, remember, require_form, require_same_site, visitor_of
from sync_server.storefront.windows import TypeOffer, Window, type_offers, window_of

_MOST_DIGITS: Final = 3


@bp.get("/<slug>/events/<event>/tickets")
def tickets(slug: str, event: str) -> Response:
    """The choice of tickets, with what codes have opened and what was chosen before."""
    page = page_of(slug)
    window = window_of(parts(), page.shop, event)
    visitor, basket = visitor_of(page), basket_of(page, window.id)
    return _chooser(page, _opened(page, window, basket), basket, visitor.csrf)


@bp.post("/<slug>/events/<event>/tickets")
def choose(slug: str, event: str) -> Response:
    """Hold what was chosen, and go on to the checkout; or use a code, and show what it opens.

    It may come from a page that shared caches keep and that holds no token; whoever has a guest session sends one.
    """
    page = page_of(slug)
    window = window_of(parts(), page.shop, event)
    visitor = visitor_of(page)
    require_form(visitor) if "csrf_token" in request.form else require_same_site()
    guest, basket = begin(page, visitor), basket_of(page, window.id)
    wanted, basket.problem = _wanted(window), ""
    try:
        _use_code(page, window, basket)
        window = _opened(page, window, basket)
        basket.types = {str(number): count for number, count in _wanted(window).items()}
        basket.days = {
            str(each.number): _days(each) for each in window.places if each.days and basket.count_of(each.number)
        }
        if request.form.get("use") == "code":
            response = _chooser(page, window, basket, guest.csrf)
        else:
            response = _hold(page, window, basket, guest.guest_id)
    except GatehouseError as refusal:
        problem = in_words(page, refusal)
        response = _chooser(page, window, basket, guest.csrf, problem=problem, chosen=wanted, status=refusal.status)
    remember_language(response)
    return baskets.remember(remember(response, page, guest), page, basket)


def _use_code(page: Page, window: Window, basket: Basket) -> None:
    """Add the code that was typed, if it is one of this event; guesses are slowed down."""
    typed = request.form.get("code", "").strip()[:40]
    if not typed or typed in basket.codes:
        return
    event = EventKey(page.shop.id, window.id)
    guessing.require_codes(parts().database, parts().sealer, event, [typed], context())
    codes = [*basket.codes, typed][-MAX_CODES:]
    with parts().database.reading() as session:
        redeemed = spending.redeem(session, parts().sealer, event, codes, parts().clock())
        spending.require_unspent(session, event, redeemed)
    basket.codes = codes


def _opened(page: Page, window: Window, basket: Basket) -> Window:
    """The window as the visitor's codes have it, without what the cache may have missed."""
    event = EventKey(page.shop.id, window.id)
    if window.over:
        raise NotFound("There is no such event.", code="event_not_found")
    with parts().database.reading() as session:
        try:
            redeemed = spending.redeem(session, parts().sealer, event, basket.codes, parts().clock())
        except GatehouseError:
            basket.codes, redeemed = [], spending.Redeemed()  # withdrawn or spent meanwhile
        return replace(window, types=type_offers(session, event, redeemed, parts().clock()))


def _wanted(window: Window) -> dict[int, int]:
    """How many of each type that has no seats; what is no number counts as none."""
    found = {each.number: _number(request.form.get(f"t{each.number}", "")) for each in window.places}
    return {number: count for number, count in found.items() if count}


def _days(offer: TypeOffer) -> list[str]:
    """The days that were chosen of a type; none for every day of the event."""
    chosen = _chosen_days(offer)
    return [] if offer.every_day and len(chosen) == len(offer.days) else chosen


def _chosen_days(offer: TypeOffer) -> list[str]:
    ticked = request.form.getlist(f"d{offer.number}")
    return [date for date in offer.days if not offer.has_choice_of_days or date in ticked]


def _ticked(window: Window, offer: TypeOffer, basket: Basket) -> Collection[str]:
    """The days that the form shows as chosen: as it was sent, or as they were chosen before."""
    if request.method == "POST":
        return _chosen_days(offer)
    if not basket.count_of(offer.number):
        return window.days_of_passes.get(offer.number, ())
    return basket.dates_of(offer.number) or [*offer.days]


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0


def _hold(page: Page, window: Window, basket: Basket, guest_id: str) -> Response:
    wanted, event = _wanted(window), EventKey(page.shop.id, window.id)
    with parts().database.reading() as session:
        seats = [each for each in holding.held_at(session, event, guest_id, parts().clock()) if each.numbered]
    if not wanted and not seats:
        return _chooser(page, window, basket, "", problem=page.t("tickets.choose_some"), status=400)
    _require_numbers(page, window, wanted)
    holding.hold_places(event, guest_id, window.places, wanted, basket)
    return redirect(f"{page.shop.at}/events/{window.event['slug']}/checkout", 303)  # type: ignore[return-value]


def _require_numbers(page: Page, window: Window, wanted: Mapping[int, int]) -> None:
    for each in window.places:
        count = wanted.get(each.number, 0)
        if count and not each.min_per_order <= count <= each.max_per_order:
            limits = {"name": each.name, "least": each.min_per_order, "most": each.max_per_order}
            raise InvalidRequest(page.t("tickets.limits", **limits), code="order_limit_said")
        if count and each.days:
            _require_days(page, window, each, count)


def _require_days(page: Page, window: Window, offer: TypeOffer, count: int) -> None:
    """Some days are chosen, and on each of them enough is left."""
    chosen = _chosen_days(offer)
    if not chosen:
        raise InvalidRequest(page.t("tickets.choose_days", name=offer.name), code="days_not_said")
    short = [date for date in chosen if offer.days[date] < count]
    if short:
        days = page.style(window.event["timezone"]).days(short)
        raise Conflict(page.t("tickets.too_few_left", name=offer.name, days=days), code="too_few_left_said")


def _chooser(
    page: Page,
    window: Window,
    basket: Basket,
    csrf: str,
    *,
    problem: str = "",
    chosen: Mapping[int, int] | None = None,
    status: int = 200,
) -> Response:
    counts = chosen or {int(number): count for number, count in basket.types.items()}
    ticked = {each.number: _ticked(window, each, basket) for each in window.places if each.has_choice_of_days}
    values = shown(page, window) | {"csrf": csrf, "problem": problem, "chosen": counts, "codes": basket.codes}
    values["ticked"] = ticked
    return render(page, "tickets.html", status, **values)
