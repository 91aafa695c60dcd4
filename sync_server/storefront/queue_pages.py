"""/o/{slug}/events/{event}/queue: the place in the queue of an event, with its receipt; scripts keep it up to date."""

from __future__ import annotations

from typing import Any, Final

import orjson
from flask import Response, redirect, request

from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.languages import remember as remember_language
from sync_server.plumbing.parts import parts
from sync_server.queueing import guest_places, queries
from sync_server.queueing.figures import queue_figures
from sync_server.queueing.rules import Opening
from sync_server.storefront.cover_accents import accent_of
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.visitors import begin, remember, require_form, require_same_site, visitor_of
from sync_server.storefront.windows import Window, window_of

TEXTS: Final = "waiting_room."


@bp.get("/<slug>/events/<event>/queue")
def queue(slug: str, event: str) -> Response:
    """The queue of an event: when it opens, the own place, and what comes next."""
    page = page_of(slug)
    window = window_of(parts(), page.shop, event)
    key = EventKey(page.shop.id, window.id)
    with parts().database.autocommit_reading() as session:
        row = queries.find_queue(session, *key)
    if row is None or window.over:
        return render(
            page, "queue.html", window=window, place=None, path=_path(page, window), config="", width="narrow"
        )
    visitor, opening = visitor_of(page), queue_figures(parts()).of(*key).opening
    entry = None if visitor.guest is None else guest_places.find(key, visitor.guest.guest_id)
    place = None if entry is None else guest_places.current(key, entry).model_dump(mode="json")
    style, now = page.style(window.event["timezone"]), parts().clock()
    return render(
        page,
        "queue.html",
        width="narrow",
        window=window,
        path=_path(page, window),
        minutes=row.pass_minutes,
        commitment=row.commitment.hex(),
        place=place,
        opens=style.moment(opening.room_at),
        open=now >= opening.room_at,
        csrf=visitor.csrf,
        config=orjson.dumps(_config(page, window, place, opening, now)).decode(),
        colour=accent_of(parts(), page.shop, window.event),
    )


@bp.post("/<slug>/events/<event>/queue")
def join_queue(slug: str, event: str) -> Response:
    """Join the queue from a page without scripts; the page of the place follows."""
    page = page_of(slug)
    window, visitor = window_of(parts(), page.shop, event), visitor_of(page)
    require_form(visitor) if request.form.get("csrf_token") else require_same_site()
    guest = begin(page, visitor)
    guest_places.join(EventKey(page.shop.id, window.id), guest.guest_id)
    response: Response = redirect(f"{page.shop.at}/events/{window.event['slug']}/queue", 303)  # type: ignore[assignment]
    remember_language(response)
    return remember(response, page, guest)


def _path(page: Page, window: Window) -> str:
    return page.link(f"/events/{window.event['slug']}")


def _config(page: Page, window: Window, place: dict[str, Any] | None, opening: Opening, now: int) -> dict[str, Any]:
    """All that the script needs to know; `now` is the server's clock, by which times are counted down."""
    numbered = any(each.numbered for each in window.types)
    return {
        "event": window.id,
        "shop": page.shop.slug,
        "language": page.language,
        "currency": page.shop.currency,
        "queue": f"/api/o/{page.shop.slug}/events/{window.id}/queue",
        "tickets": page.link(f"/events/{window.event['slug']}/{'seats' if numbered else 'tickets'}"),
        "room_at": opening.room_at,
        "draw_at": opening.draw_at,
        "now": now,
        "place": place,
        "texts": page.t.for_script(TEXTS),
    }
