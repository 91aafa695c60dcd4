"""/o/{slug}/events/{event}: the page of an event, and its entry for calendars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson
from flask import Response, current_app
from markupsafe import Markup

from sync_server.events.days.chosen_days import EVERY_DAY
from sync_server.images.urls import image_url
from sync_server.listings import responses
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.storefront.cards import (
    EventCard,
    Mark,
    event_card,
    made_cover_path,
    mark_of,
    millis,
    price_range,
    starts_at,
)
from sync_server.storefront.cover_accents import accent_of
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.windows import TypeOffer, Window, window_of
from sync_server.ticket_files.calendar import entry_of
from sync_server.ticket_files.faces import Setting

_SCHEMA: Final = "https://schema.org/"
_FEW: Final = 8
"""So few left are told in numbers."""


@bp.get("/<slug>/events/<event>")
def event(slug: str, event: str) -> Response:
    """The page of an event: what, when, where, and the tickets."""
    page = page_of(slug, public=True)
    window = window_of(parts(), page.shop, event)
    return render(page, "event.html", 410 if window.over else 200, **shown(page, window))


def shown(page: Page, window: Window) -> dict[str, Any]:
    """What the templates show of an event, on its own page and on those of buying."""
    facts, style = window.event, page.style(window.event["timezone"])
    start, end = starts_at(facts), millis(facts["end_at"])
    moved = facts["rescheduled_at"] is not None
    doors = millis(facts["doors_at"]) + start - millis(facts["start_at"]) if facts["doors_at"] else None
    return {
        "window": window,
        "card": event_card(facts, page),
        "status": _status(page, window),
        "day": style.day(start),
        "days": style.days(facts["days"]) if len(facts["days"]) > 1 else "",
        "starts": f"{style.time(start)} {style.zone(start)}",
        "doors": style.time(doors) if doors is not None and doors != start else "",
        "ends": style.time(end if not moved else start + end - millis(facts["start_at"])),
        "old_day": style.day(millis(facts["start_at"])) if moved else "",
        "address": _address(facts),
        "map_link": _map_link(window),
        "style": style,
        "few": _FEW,
        "ticked": window.days_of_passes,
        "path": f"{page.shop.at}/events/{facts['slug']}",
        "picks_seats": "storefront.seats" in current_app.view_functions,
        "queues": "storefront.queue" in current_app.view_functions,
        "similar": _similar(page, window),
        "prices": _prices(page, window),
        "when": page.t("event.date_open") if facts["mark"] == "postponed" else style.day(start),
        "json_ld": Markup(_json_ld(page, window)),  # noqa: S704 - JSON in which no tag can begin or end
        "share_picture": _share_picture(page, facts),
        "colour": accent_of(parts(), page.shop, facts),
    }


def _status(page: Page, window: Window) -> Mark | None:
    """What stands above everything else; nothing where tickets can simply be chosen."""
    if window.over:
        return Mark("bad" if window.over == "cancelled" else "", page.t(f"status.{window.over}"))
    if window.sold_out and window.event["mark"] != "postponed":
        return Mark("bad", page.t("mark.sold_out"))
    return mark_of(window.event, page)


def _prices(page: Page, window: Window) -> str:
    """What tickets cost, where there are some to choose from."""
    cents = [each.each_cents for each in window.types if each.on_sale]
    return price_range(page, min(cents), max(cents), window.types[0].currency) if window.sells and cents else ""


def _address(facts: Mapping[str, Any]) -> str:
    """Where the venue is; what the address says already is not said again."""
    said = facts["address"].casefold()
    more = (part for part in (facts["city"], facts["country"]) if part and part.casefold() not in said)
    return ", ".join(part for part in (facts["address"], *more) if part)


def _map_link(window: Window) -> str:
    if window.place is not None:
        latitude, longitude = window.place
        return f"https://www.openstreetmap.org/?mlat={latitude}&mlon={longitude}#map=17/{latitude}/{longitude}"
    where = ", ".join(part for part in (window.event["venue_name"], _address(window.event)) if part)
    return f"https://www.openstreetmap.org/search?{urlencode({'query': where})}" if where else ""


def _similar(page: Page, window: Window) -> Sequence[EventCard]:
    """Events like this one that are on sale, where this one cannot be bought any more."""
    if not (window.sold_out or window.over):
        return []
    if window.over:
        criteria = responses.FeedCriteria(organisation=page.shop.slug)
        items = orjson.loads(responses.feed(parts(), criteria, None, 3))["items"]
    else:
        items = orjson.loads(responses.similar(parts(), window.id))["items"]
    own = [each for each in items if each["organisation"]["slug"] == page.shop.slug]
    return [event_card(each, page) for each in own[:3]]


def _share_picture(page: Page, facts: Mapping[str, Any]) -> str:
    """What is shown beside a link to the event that somebody shares."""
    base = parts().config.base_url.rstrip("/")
    if facts["covers"]:
        return base + image_url(facts["covers"][0]["id"], "1600.jpg")
    return base + made_cover_path(facts, page, "png")


def _json_ld(page: Page, window: Window) -> str:
    """The event for search engines, by schema.org; a data block, which the policy lets be as it is never run."""
    facts, style = window.event, page.style(window.event["timezone"])
    base = parts().config.base_url.rstrip("/")
    start = starts_at(facts)
    status = "EventCancelled" if window.over == "cancelled" else _SCHEMA_STATUS.get(facts["mark"], "EventScheduled")
    parts_of_address = {"streetAddress": "address", "addressLocality": "city", "addressCountry": "country"}
    address = {name: facts[field] for name, field in parts_of_address.items() if facts[field]}
    place: dict[str, Any] = {"@type": "Place", "name": facts["venue_name"]}
    if address:
        place["address"] = {"@type": "PostalAddress", **address}
    if window.place is not None:
        place["geo"] = {"@type": "GeoCoordinates", "latitude": window.place[0], "longitude": window.place[1]}
    about: dict[str, Any] = {
        "@context": _SCHEMA.rstrip("/"),
        "@type": "Event",
        "name": facts["name"],
        "description": facts["description"],
        "startDate": style.iso(start),
        "endDate": style.iso(start + millis(facts["end_at"]) - millis(facts["start_at"])),
        "eventStatus": f"{_SCHEMA}{status}",
        "eventAttendanceMode": f"{_SCHEMA}OfflineEventAttendanceMode",
        "location": place,
        "organizer": {"@type": "Organization", "name": page.shop.name, "url": f"{base}{page.shop.at}"},
        "url": f"{base}{page.shop.at}/events/{quote(facts['slug'])}",
        "image": [_share_picture(page, facts)],
        "offers": [_offer(each, window, base, page) for each in window.types if not window.over],
    }
    if facts["rescheduled_at"]:
        about["previousStartDate"] = style.iso(millis(facts["start_at"]))
    if facts["doors_at"]:
        about["doorTime"] = style.iso(millis(facts["doors_at"]) + start - millis(facts["start_at"]))
    if window.venue.get("age_limit"):
        about["typicalAgeRange"] = f"{window.venue['age_limit']}-"
    if window.types:
        about["isAccessibleForFree"] = all(each.each_cents == 0 for each in window.types)
    # Neither a tag nor a comment can begin in it, whatever an event is called.
    return orjson.dumps(about).decode().replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_SCHEMA_STATUS: Final = {"postponed": "EventPostponed", "rescheduled": "EventRescheduled"}


def _offer(each: TypeOffer, window: Window, base: str, page: Page) -> dict[str, Any]:
    offer = {
        "@type": "Offer",
        "name": each.name,
        "price": f"{each.each_cents / 100:.2f}",
        "priceCurrency": each.currency,
        "availability": f"{_SCHEMA}{_availability(each, window)}",
        "url": f"{base}{page.shop.at}/events/{quote(window.event['slug'])}",
    }
    event_start = window.event["sale_start_at"]
    begins = each.sale_start_at or (millis(event_start) if event_start else None)
    if begins is not None:
        offer["validFrom"] = page.style(window.event["timezone"]).iso(begins)
    return offer


def _availability(each: TypeOffer, window: Window) -> str:
    """One of the three that search engines show; what can no longer be bought is not announced as coming."""
    if window.opens and each.most:
        return "InStock"
    begins_later = each.left and each.sale_start_at is not None and each.sale_start_at > parts().clock()
    upcoming = window.event["sale_status"] == "upcoming" and window.event["mark"] != "postponed"
    return "PreOrder" if begins_later or upcoming else "SoldOut"


@bp.get("/<slug>/events/<event>/calendar.ics")
def calendar(slug: str, event: str) -> Response:
    """The event as an entry for calendars; fetched again, it moves with its event."""
    page = page_of(slug, public=True)
    window = window_of(parts(), page.shop, event)
    with parts().database.reading() as session:
        setting = Setting.read(session, EventKey(page.shop.id, window.id), page.language)
        content = entry_of(setting, window.id, "", [EVERY_DAY], parts().clock())
    response = Response(content, content_type="text/calendar; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{window.event["slug"]}.ics"'
    return response
