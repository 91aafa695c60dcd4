"""A shop with an event of every kind and a guest in every state, and the address of each of its pages."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from PIL import Image, ImageDraw, ImageFilter
from playwright.sync_api import BrowserContext

from tests.app_server import ApiClient, AppServer
from tests.browser.theatre import a_theatre
from tests.builders import DAY, EVENING, HOUR, MINUTE
from tests.contracts.checkout.shop_floor import ACCOUNT
from tests.contracts.holds.seated_event import SeatedEvent
from tests.contracts.storefront.browsing import Browser as Guest
from tests.contracts.storefront.conftest import REDUCED, STANDING, Evening, an_evening
from tests.contracts.storefront.test_customers import link, signed_in
from tests.services.mail_server import MailBox

ADA = {"name": "Ada Lovelace", "email": "ada@lovelace.example"}
BOB = "bartholomaeus.winterbottom@freundeskreis-der-philharmonie.example"
FREE = {"name": "Free entry", "price_cents": 0}
TEXT = (
    "Four choirs and a brass band play from three stages around the harbour basin, and the audience walks between "
    "them.\n\nBring a warm coat: the last piece begins when it is dark."
)
LONG = "Donaudampfschifffahrtsgesellschaftskapitänsball der Nordwestdeutschen Philharmonie"
TERMS = "Organiser: Marquee e.V., Hafenstraße 1, 10245 Berlin. Tickets can be given back until a week before."


@dataclass
class WholeShop:
    """The shop, its guests, and where each of its pages is."""

    server: AppServer
    api: ApiClient
    mail: MailBox
    paths: dict[str, tuple[str, str]] = field(default_factory=dict)  # by name: which guest, and the path
    guests: dict[str, Guest] = field(default_factory=dict)

    def at(self, name: str, path: str, guest: str = "stranger") -> None:
        """This guest sees that page there."""
        self.paths[name] = (guest, path)

    def guest(self, name: str) -> Guest:
        """A new guest with a browser."""
        self.guests[name] = Guest.at(self.server, f"198.51.100.{len(self.guests) + 1}")
        return self.guests[name]

    def pages(self) -> Iterator[tuple[str, str, str]]:
        """Name, guest and path of every page, those of one guest after each other."""
        for name, (guest, path) in sorted(self.paths.items(), key=lambda item: item[1][0]):
            yield name, guest, path

    def lend(self, guest: str, context: BrowserContext, address: str) -> None:
        """Make a real browser this guest, by the cookies."""
        context.clear_cookies()
        if guest in self.guests:
            jar = self.guests[guest].client._cookies.values()
            context.add_cookies([{"name": each.key, "value": each.value, "url": address} for each in jar])

    def evening(self, *types: dict[str, Any], **event: Any) -> Evening:
        """One more event on sale."""
        start = event.pop("start", EVENING + 20 * DAY)
        times = {"start_at": start, "end_at": start + 3 * HOUR, "doors_at": start - HOUR}
        return an_evening(self.server, self.api, *types, **{"description": TEXT} | times | event)

    def step(self, evening: Evening, step: str, **body: Any) -> None:
        """Take a step of an event's life."""
        self.api.post(f"/api/events/{evening.event['id']}/{step}", body, 200)


def a_whole_shop(server: AppServer, mail: MailBox) -> WholeShop:
    """Make the shop."""
    theatre = a_theatre(
        server, name="The Cherry Orchard", start_at=EVENING + 9 * DAY, end_at=EVENING + 9 * DAY + 3 * HOUR
    )
    shop = WholeShop(server, theatre.api, mail)
    theatre.sell("C-5", "C-6", "D-9", "D-10", "D-11", "E-1", "E-2")
    shop.api.patch("/api/organisation/checkout", ACCOUNT)
    shop.api.patch("/api/organisation/ticket-design", {"terms": TERMS})
    shop.api.patch("/api/organisation/self-service", {"cancellations": True})
    _ways_of_the_shop(shop)
    _on_sale(shop)
    _not_on_sale(shop)
    _seats(shop, theatre)
    _queue(shop)
    _buyers(shop)
    _waiting(shop)
    server.run_worker()
    server.parts.cache.invalidate_family("public", "shop")
    return shop


def _ways_of_the_shop(shop: WholeShop) -> None:
    for name, path in (
        ("feed", ""),
        ("feed-nothing", "?q=zzz&city=Berlin"),
        ("not-found", "/events/nothing"),
        ("account-empty", "/account"),
        ("sign-in", "/sign-in"),
        ("waiting-link", "/waiting"),
        ("pass-on-link", "/ticket"),
    ):
        shop.at(name, f"/o/marquee{path}")
    shop.server.organisation("quiet")
    shop.at("feed-empty", "/o/quiet")


def _on_sale(shop: WholeShop) -> None:
    admission = shop.evening(
        STANDING, REDUCED, FREE | {"name": "Children under six"}, name="Harbour Night", start=EVENING + 5 * DAY
    )
    shop.at("event", admission.path)
    shop.at("choosing", f"{admission.path}/tickets")
    _cover(shop, admission, "#0b3d5c", "#f2a541")
    long = shop.evening(STANDING | {"name": "Schwerbehindertenbegleitpersonenermäßigung", "quantity": 6}, name=LONG)
    shop.at("event-long", long.path)
    free = shop.evening(FREE, name="Chamber Music by the Canal", start=EVENING + 12 * DAY)
    shop.at("event-free", free.path)
    hidden = shop.evening(FREE | {"name": "For friends", "hidden": True}, name="Friends Only")
    shop.at("event-by-code", hidden.path)
    pass_of_all = STANDING | {"name": "Festival pass"}
    tuesday = {"name": "Second day", "price_cents": 4000, "quantity": 3, "valid_days": [2]}
    first = EVENING + 30 * DAY
    times = {"start_at": first, "end_at": first + 2 * DAY + 2 * HOUR, "doors_at": None}
    festival = shop.evening(pass_of_all, tuesday, name="Harbour Days", **times)
    shop.at("event-days", festival.path)
    _cover(shop, festival, "#7a1f3d", "#ffd9a0")


def _not_on_sale(shop: WholeShop) -> None:
    upcoming = shop.evening(STANDING, name="Winter Session", sale_start_at=EVENING + 3 * DAY)
    shop.at("event-upcoming", upcoming.path)
    nothing = shop.evening(name="Open Rehearsal")
    shop.at("event-nothing", nothing.path)
    postponed = shop.evening(STANDING, name="Storm Songs")
    shop.step(postponed, "postpone", reason="storm")
    shop.at("event-postponed", postponed.path)
    moved = shop.evening(STANDING, name="Moved Brass")
    shop.step(moved, "postpone", reason="storm")
    shop.step(moved, "reschedule", rescheduled_at=EVENING + 41 * DAY)
    shop.at("event-moved", moved.path)
    cancelled = shop.evening(STANDING, name="Lost Weekend")
    shop.step(cancelled, "cancel", reason="storm")
    shop.at("event-cancelled", cancelled.path)
    ended = shop.evening(STANDING, name="Night Music 6", start=EVENING + 2 * HOUR)
    shop.step(ended, "go-live")
    shop.step(ended, "end")
    shop.at("event-ended", ended.path)
    sold_out = shop.evening(FREE | {"quantity": 2}, name="Tiny Room", capacity=2)
    _sell_all(shop, sold_out)
    shop.at("event-sold-out", sold_out.path)


def _sell_all(shop: WholeShop, evening: Evening) -> dict[str, Any]:
    sale = {"places": [{"ticket_type": 1, "count": 2}], "method": "free"}
    return dict(shop.api.post(f"/api/events/{evening.event['id']}/sales", sale))


def _seats(shop: WholeShop, theatre: SeatedEvent) -> None:
    here = f"/o/marquee/events/{theatre.event['slug']}"
    shop.at("event-seated", here)
    shop.at("seats", f"{here}/seats")


def _queue(shop: WholeShop) -> None:
    rush = shop.evening(STANDING, name="The Big One", sale_start_at=EVENING + 10 * MINUTE)
    shop.api.put(f"/api/events/{rush.event['id']}/queue", {"room_minutes": 30})
    shop.at("event-queued", rush.path)
    shop.at("queue-outside", f"{rush.path}/queue")
    guest = shop.guest("in the queue")
    guest.client.post(f"{rush.path}/queue", data={"lang": "en"}, headers={"Sec-Fetch-Site": "same-origin"})
    shop.at("queue-inside", f"{rush.path}/queue", "in the queue")


def _buyers(shop: WholeShop) -> None:
    """Guests with something in the basket, an invoice, tickets, tickets given back, and a ticket that is offered."""
    evening = shop.evening(STANDING, REDUCED, name="Night Music 7", start=EVENING + 15 * DAY)
    free = shop.evening(FREE, name="Free Friday", start=EVENING + 16 * DAY)
    chooser = shop.guest("choosing")
    chooser.get(evening.path)
    chooser.send("/tickets", t1=2, t2=1)
    shop.at("checkout", f"{evening.path}/checkout", "choosing")
    shop.at("checkout-nothing", f"{free.path}/checkout", "choosing")
    owes = shop.guest("owes")
    owes.get(evening.path)
    owes.send("/tickets", t1=2)
    owes.send("/checkout", **ADA, method="invoice")
    shop.at("invoice", owes.path, "owes")
    shop.at("account-browser", "/o/marquee/account", "owes")
    gone = shop.guest("gave back")
    at = _free_order(gone, free)
    gone.get(f"{at}/give-back")
    gone.send("/give-back")
    shop.at("refunded", f"{at}/confirmation", "gave back")
    has = shop.guest("has tickets")
    at = _free_order(has, free)
    shop.at("confirmation", f"{at}/confirmation", "has tickets")
    shop.at("give-back", f"{at}/give-back", "has tickets")
    has.get(f"{at}/confirmation")
    shop.at("tickets-on-the-phone", re.findall(rf'href="({at}#[^"]+)"', has.text)[0])
    has.get(f"{at}/pass-on")
    ticket = has.text.split('name="ticket" value="')[1].split('"')[0]
    has.send("/pass-on", ticket=ticket, email=BOB)
    shop.at("pass-on", f"{at}/pass-on", "has tickets")
    shop.at("pass-on-offered", f"/o/marquee/ticket#{link(free, shop.mail, 'ticket')}")
    signed_in(free, shop.mail, shop.guest("signed in"), ADA["email"])
    shop.at("account", "/o/marquee/account", "signed in")


def _free_order(guest: Guest, free: Evening) -> str:
    guest.get(free.path)
    guest.send("/tickets", t1=2)
    guest.send("/checkout", **ADA)
    return guest.path.removesuffix("/confirmation")


def _waiting(shop: WholeShop) -> None:
    for name in ("Midnight Brass", "Second Chance"):
        evening = shop.evening(FREE | {"quantity": 2}, name=name, capacity=2)
        sold = _sell_all(shop, evening)
        shop.api.put(f"/api/events/{evening.event['id']}/waiting-list", {"open": True, "offer_minutes": 60})
        shop.server.parts.cache.invalidate_family("public", "shop")
        shop.at("event-waiting" if name == "Midnight Brass" else "event-places-came-back", evening.path)
        guest = shop.guest(name)
        guest.get(evening.path)
        guest.send("/waiting", size=2, email=ADA["email"])
        shop.at("waiting-place" if name == "Midnight Brass" else "waiting-offer", guest.path, name)
    shop.api.post(f"/api/orders/{sold['id']}/refunds", {"method": "free", "lines": [1, 2]}, 200)
    for _ in range(3):
        shop.server.run_worker()


def _cover(shop: WholeShop, evening: Evening, dark: str, bright: str) -> None:
    """A picture, so that the page takes its colour from it."""
    picture = Image.new("RGB", (1600, 900), dark)
    pen = ImageDraw.Draw(picture)
    for step in range(6):
        pen.ellipse((900 + step * 60, 150 + step * 50, 1500 - step * 60, 750 - step * 50), outline=bright, width=18)
    pen.rectangle((0, 700, 1600, 900), fill=bright)
    out = io.BytesIO()
    picture.filter(ImageFilter.GaussianBlur(6)).save(out, "PNG")
    path = f"/api/events/{evening.event['id']}/covers"
    answer = shop.api.client.post(path, data=out.getvalue(), headers=shop.api.headers)
    assert answer.status_code == 201, answer.get_data(as_text=True)
