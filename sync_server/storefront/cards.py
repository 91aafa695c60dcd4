"""Events as lists of the shop show them: what the listing says, in the words of the visitor's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from shared.clock import Millis
from sync_server.appearance.made_covers import MadeCover
from sync_server.storefront.page import Page


@dataclass(frozen=True, slots=True)
class Mark:
    """What a visitor must know before opening an event: a word, and how it is shown."""

    kind: str  # good, warn, bad, info
    text: str


@dataclass(frozen=True, slots=True)
class EventCard:
    """An event in a list."""

    path: str
    name: str
    iso: str
    day: str
    place: str
    price: str  # what the cheapest ticket costs; empty where nothing is to be had
    mark: Mark | None
    cover: Mapping[str, str] | None  # an uploaded picture: id and alternative text
    made_cover: str  # the address of the one that stands in


def millis(text: str) -> Millis:
    """A time of the public listing."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def starts_at(event: Mapping[str, Any]) -> Millis:
    """When it takes place: on its new date, if it has one."""
    return millis(event["rescheduled_at"] or event["start_at"])


def event_card(event: Mapping[str, Any], page: Page) -> EventCard:
    """An event of the public listing as a card."""
    start, style = starts_at(event), page.style(event["timezone"])
    covers = event["covers"]
    return EventCard(
        path=page.public_link(f"/events/{event['slug']}"),
        name=event["name"],
        iso=style.iso(start),
        day=page.t("event.date_open") if event["mark"] == "postponed" else style.moment(start),
        place=", ".join(part for part in (event["venue_name"], event["city"]) if part),
        price=_price(event, page),
        mark=mark_of(event, page),
        cover=covers[0] if covers else None,
        made_cover="" if covers else made_cover_path(event, page),
    )


_NOT_SOLD: Final = frozenset({"sold_out", "closed"})


def _price(event: Mapping[str, Any], page: Page) -> str:
    """From what on, where tickets can be bought now or soon."""
    offer = event["offer"]
    if offer is None or not offer["left"] or event["mark"] == "postponed" or event["sale_status"] in _NOT_SOLD:
        return ""
    return price_range(page, offer["from_cents"], offer["to_cents"], offer["currency"])


def price_range(page: Page, least: int, most: int, currency: str) -> str:
    """From what on tickets cost; where only some are free, how dear the others are."""
    if least:
        return page.t("tickets.from", sum=page.style().amount(least, currency))
    return page.t("tickets.free_to", sum=page.style().amount(most, currency)) if most else page.t("tickets.from_free")


def sale_begins(event: Mapping[str, Any]) -> Millis | None:
    """When the first ticket can be bought, of an event whose sale is to come and whose beginning is known."""
    starts = [event["sale_start_at"], event["offer"]["begins_at"] if event["offer"] else None]
    known = [millis(each) for each in starts if each]
    return max(known) if known and event["sale_status"] == "upcoming" else None


def mark_of(event: Mapping[str, Any], page: Page) -> Mark | None:
    """The one thing to know before opening an event; nothing where it can simply be bought."""
    t, style = page.t, page.style(event["timezone"])
    if event["mark"] == "postponed":
        return Mark("warn", t("mark.postponed"))
    if event["sale_status"] == "sold_out" or (event["offer"] and not event["offer"]["left"]):
        return Mark("bad", t("mark.sold_out"))
    if event["mark"] == "rescheduled":
        return Mark("info", t("mark.rescheduled"))
    begins = sale_begins(event)
    if begins:
        return Mark("info", t("mark.upcoming", when=style.moment(begins)))
    if event["sale_status"] in {"upcoming", "closed"}:
        return Mark("", t("mark.closed"))
    return None


def made_cover_path(event: Mapping[str, Any], page: Page, kind: str = "svg") -> str:
    """The address of the cover that stands in for a picture."""
    dated = None if event["mark"] == "postponed" else starts_at(event)
    cover = MadeCover.of(event["name"], dated, page.style(event["timezone"]), page.shop.colour)
    return cover.path(page.shop.slug, event["id"], page.language, kind)
