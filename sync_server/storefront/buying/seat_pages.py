"""/o/{slug}/events/{event}/seats: the page on which guests choose their seats; its script draws the map."""

from __future__ import annotations

from typing import Any, Final

import orjson
from flask import Response, redirect

from sync_server.plumbing.parts import parts
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.storefront.cards import starts_at
from sync_server.storefront.cover_accents import accent_of
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.windows import TypeOffer, Window, window_of
from sync_server.tickets.types.seat_types import SoldIn, types_in_shop

SCRIPT_TEXTS: Final = "picker."
"""Texts whose keys begin so are for the script."""
_MOST_IN_ORDER: Final = 10


@bp.get("/<slug>/events/<event>/seats")
def seats(slug: str, event: str) -> Response:
    """The seats of an event, to choose from; an event without any is bought on its own page."""
    page = page_of(slug, public=True)
    window = window_of(parts(), page.shop, event)
    with parts().database.autocommit_reading() as session:
        plan = None if window.over else find_event_plan(session, page.shop.id, window.id)
    path = f"/events/{window.event['slug']}"
    if plan is None:
        return redirect(page.link(path), 303)  # type: ignore[return-value]  # a response, too
    style = page.style(window.event["timezone"])
    return render(
        page,
        "seats.html",
        width="picker-page",
        window=window,
        path=page.link(path),
        checkout=page.link(f"{path}/checkout"),
        queue=page.link(f"{path}/queue"),
        when=style.moment(starts_at(window.event)),
        every_day=any(each.every_day for each in window.types),
        days=window.event["days"] if len(window.event["days"]) > 1 else [],
        config=orjson.dumps(_config(page, window, plan)).decode(),
        zones=_zones(window, plan),
        style=style,
        colour=accent_of(parts(), page.shop, window.event),
    )


def _config(page: Page, window: Window, plan: SeatPlan) -> dict[str, Any]:
    """All that the script needs to know."""
    policy, path = plan.policy, f"/events/{window.event['slug']}"
    return {
        "event": window.id,
        "shop": page.shop.slug,
        "language": page.language,
        "currency": window.types[0].currency if window.types else page.shop.currency,
        "limit": min(policy.max_seats_per_booking, _MOST_IN_ORDER),
        "wheelchairs": policy.max_wheelchair_seats_per_booking,
        "minutes": policy.default_hold_ttl_minutes,
        "queued": window.queued,
        "map": f"/api/public/events/{window.id}/seatmap",
        "changes": f"/api/events/{window.id}/seatmap/changes",
        "holds": f"/api/events/{window.id}/holds",
        "event_page": page.link(path),
        "queue_page": page.link(f"{path}/queue"),
        "prices": _prices(window, plan),
        "texts": page.t.for_script(SCRIPT_TEXTS),
    }


def _prices(window: Window, plan: SeatPlan) -> list[dict[str, Any]]:
    """What seats cost, by zone and price category, and places of zones without seats."""
    found = []
    for zone in plan.zones.values():
        where = SoldIn.at(plan, zone.number)
        categories = plan.layout.price_categories if zone.zone_type.numbered else ("",)
        for category in {"": None, **dict.fromkeys(categories)}:
            types = _sold(window, where, category, numbered=zone.zone_type.numbered)
            found.append({"zone": zone.number, "category": category, "types": [_type(each) for each in types]})
    return found


def _sold(window: Window, where: SoldIn, category: str, *, numbered: bool) -> list[TypeOffer]:
    """The types of a seat, or those among which the buyer chooses; those of a place are of its own zone."""
    if not numbered:
        return [each for each in window.types if each.zone == where.event_zone]
    return types_in_shop(window.types, where, category)


def _type(each: TypeOffer) -> dict[str, Any]:
    on_sale = each.on_sale and each.left > 0
    return {"number": each.number, "name": each.name, "cents": each.each_cents, "on_sale": on_sale, **_days(each)}


def _days(each: TypeOffer) -> dict[str, Any]:
    """At an event of several days: on which it is left, and whether it is on all of them."""
    if not each.days:
        return {}
    left = [date for date, count in each.days.items() if count]
    return {"days": left, "every_day": each.every_day and len(left) == len(each.days)}


def _zones(window: Window, plan: SeatPlan) -> list[tuple[str, int | None]]:
    """The zones by name with their least price, for browsers without scripts."""
    sold = ((entry["zone"], each) for entry in _prices(window, plan) for each in entry["types"])
    prices = [(zone, each["cents"]) for zone, each in sold if each["on_sale"]]
    least = {zone: min(cents for number, cents in prices if number == zone) for zone, _ in prices}
    return [(zone.name, least.get(zone.number)) for zone in plan.zones.values()]
