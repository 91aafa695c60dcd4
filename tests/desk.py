"""An organisation that has one of everything, and the address of every page of its desk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.app_server import ApiClient, AppServer
from tests.browser.theatre import a_theatre
from tests.builders import DAY, EVENING, HOUR, a_gate, a_ticket_type, a_venue, a_zone, an_event
from tests.contracts.holds.seated_event import SeatedEvent

EMAIL = "owner@marquee.example"
MANY = 30
NO_PAGES = {
    "/admin/<path:unknown>": "what is not there",
    "/admin/events/<event_id>/badges/<name>.png": "a picture of a layout",
    "/admin/devices/<device_id>/enrolment": "a part of the page of a device",
    "/admin/venues/<venue_id>/seat-maps/<layout_id>/versions": "a part of the page of a seat map",
    "/admin/events/<event_id>/names.pdf": "a document",
    "/admin/orders/<order_id>/badges.pdf": "a document, which needs names of guests",
}
"""Addresses under /admin that answer with something else."""
SIGNED_OUT = ("/admin/login", "/admin/forgotten", "/admin/invitation", "/admin/password")
"""Pages for somebody who has not signed in, of which the last two take their secret from the link."""
NEEDS_MORE = {
    "/admin/organisation": "for staff of several organisations",
    "/admin/wall": "at a screen where nobody has signed in",
    "/admin/account/passkeys/<passkey_id>/remove": "names a passkey of the person alone",
    "/admin/account/second-factor/off": "asks for nothing but a password",
}
"""Pages that the owner of one organisation, without passkey and second factor, does not get."""
QUESTIONS = {
    "/admin/search": ("?q=okafor", "?q=nobody"),
    "/admin/events/<event_id>/status": ("?target=cancelled",),
    "/admin/events/<event_id>/sell": ("", "?sold=<order_id>"),
    "/admin/settings/exports": ("", "?event=<event_id>"),
}
"""What is asked of pages that do nothing without a question."""

_GUESTS = ("Ada Winter", "Björn Åkesson", "Chidi Okafor", "Dana Peters", "Émile Roux", "Fatma Kaya", "Gerrit Botha")
_NIGHTS = ("Choir at Dusk", "Harbour Jazz", "The Winter Garden", "Brass on Board", "Poets and Pianos", "Tango Club")


@dataclass
class Desk:
    """What an organisation has, by its names in the addresses of pages: `names`, or those of `where` in some pages."""

    owner: ApiClient
    names: dict[str, str]
    where: dict[str, dict[str, str]]
    also: dict[str, str]  # pages that look otherwise about something else

    def address(self, rule: str) -> str:
        """The address of a page."""
        own = next((names for part, names in self.where.items() if part in rule), {})
        return re.sub(r"<(?:\w+:)?(\w+)>", lambda gap: (self.names | own)[gap[1]], rule)

    def pages(self, app_server: AppServer) -> Iterator[tuple[str, str]]:
        """Every page that the owner can open: what it is named in the server, and its address."""
        rules = {str(rule) for rule in app_server.app.url_map.iter_rules() if "GET" in (rule.methods or ())}
        for rule in sorted(rule for rule in rules if rule.startswith("/admin/")):
            if rule not in NO_PAGES and rule not in SIGNED_OUT and rule not in NEEDS_MORE:
                for question in QUESTIONS.get(rule, ("",)):
                    yield rule + question, self.address(rule + question)
        yield from self.also.items()


def a_desk(app_server: AppServer) -> Desk:
    """A concert on sale among many, one that was called off, and a theatre with numbered seats."""
    hall = a_theatre(app_server, name="Twelfth Night")
    ((layout, in_venue),) = hall.rows("SELECT id, venue_id FROM layouts")
    api = hall.api
    app_server.user(EMAIL, hall.organisation_id, "owner")
    owner = app_server.browser(EMAIL)
    path, venue = _concert(api)
    event_id = path.rpartition("/")[2]
    _season(api, venue)
    for number, name in enumerate(_GUESTS * 4):
        buyer = {"name": name, "email": f"guest{number}@example.org"}
        sale = {"places": [{"ticket_type": 1, "count": 2}], "method": "card", "buyer": buyer}
        api.post(f"{path}/sales", sale)
    seats = [{"seat_id": hall.seats[name][0]} for name in ("C-5", "C-6", "D-9", "D-10")]
    api.post(f"{hall.path}/sales", {"seats": seats, "method": "cash"})
    names = _names(app_server, owner, api, event_id, hall)
    in_hall = {"event_id": hall.id, "seat": str(hall.number("C-5"))}
    off = {"event_id": _called_off(api, venue)}
    waiting = {"order_id": _unpaid(hall)}
    in_maps = {"venue_id": in_venue, "layout_id": layout}
    where = {"/seats": in_hall, "/calling-off": off, "/seat-maps": in_maps, "/cancel": waiting}
    draft = api.get("/api/events?status=draft&limit=1")["items"][0]["id"]
    also = {
        "/admin/events/<event_id>, a draft": f"/admin/events/{draft}",
        "/admin/events/<event_id>/status, to publish it": f"/admin/events/{draft}/status?target=published",
        "/admin/events/<event_id>, cancelled": f"/admin/events/{off['event_id']}",
    }
    return Desk(owner, names | {"event_id": event_id, "venue_id": venue}, where, also)


def _concert(api: ApiClient) -> tuple[str, str]:
    """The path and the venue of a concert on sale at a venue with four gates."""
    venue = api.post("/api/venues", a_venue())["id"]
    made = api.post("/api/events", an_event(venue, name="Night Music 7"))["id"]
    path = f"/api/events/{made}"
    api.post(f"{path}/ticket-types", a_ticket_type(quantity=200))
    api.post(f"{path}/ticket-types", a_ticket_type(name="Student", price_cents=1_800, quantity=60))
    api.post(f"{path}/zones", a_zone())
    for code in "ABC":
        api.post(f"/api/venues/{venue}/gates", a_gate(code=code))
    api.post(f"{path}/publish", {}, 200)
    return path, venue


def _season(api: ApiClient, venue: str) -> None:
    """Drafts of concerts, one a day, and as many gates."""
    for number in range(MANY):
        later = EVENING + (number + 1) * DAY
        name = f"{_NIGHTS[number % len(_NIGHTS)]} {number // len(_NIGHTS) + 1}"
        api.post("/api/events", an_event(venue, name=name, start_at=later, end_at=later + 2 * HOUR))
        api.post("/api/devices", {"name": f"Lane {number + 1}"})


def _names(app_server: AppServer, owner: ApiClient, api: ApiClient, event_id: str, hall: SeatedEvent) -> dict[str, str]:
    """One of everything that the address of a page can name."""
    here, shop = f"/api/events/{event_id}", f"/api/o/{hall.slug}/events/{event_id}"
    api.post(f"{here}/code-batches", {"kind": "discount", "name": "Newsletter", "codes": 5, "percent": 15})
    api.put(f"{here}/queue", {})
    api.put(f"{here}/waiting-list", {"open": True})
    hook = api.post("/api/webhooks", {"url": "https://shop.example.org/", "facts": ["*"]})["id"]
    device = api.get("/api/devices?limit=1")["items"][0]["id"]
    api.put(f"/api/devices/{device}/assignments", {"assignments": [{"event_id": event_id, "gate": 1}]})
    form = {"name": "Foyer", "csrf_token": owner.headers["X-CSRF-Token"]}
    screen = owner.client.post(f"/admin/events/{event_id}/screens", data=form).location
    party = {"size": 2, "email": "ada@example.org"}
    return {
        "number": "1",
        "order_id": api.get(f"/api/orders?limit=1&event={event_id}")["items"][0]["id"],
        "ticket_id": api.get(f"{here}/tickets?limit=1")["items"][0]["id"],
        "device_id": device,
        "webhook_id": hook,
        "message_id": api.post(f"/api/webhooks/{hook}/test")["message_id"],
        "token_id": api.post("/api/tokens", {"name": "box office", "scopes": ["read"]})["id"],
        "user_id": app_server.user("stan@marquee.example", hall.organisation_id, "staff"),
        "party_id": hall.guest().post(f"{shop}/waiting", party)["id"],
        "link_id": screen.rpartition("/")[2],
    }


def _unpaid(hall: SeatedEvent) -> str:
    """The id of an order that nobody has paid yet."""
    guest, name = hall.guest(), "F-3"
    hold = hall.reserve(guest, name)["hold_id"]
    order = {"holds": [{"hold_id": hold}], "buyer": {"name": "Ada Winter", "email": "ada@example.org"}}
    made: dict[str, Any] = guest.post(f"/api/o/{hall.slug}/events/{hall.id}/orders", order)
    return str(made["id"])


def _called_off(api: ApiClient, venue: str) -> str:
    """The id of an event that was cancelled, and whose buyer is owed money."""
    path = f"/api/events/{api.post('/api/events', an_event(venue, name='Rained Off'))['id']}"
    api.post(f"{path}/ticket-types", a_ticket_type())
    api.post(f"{path}/publish", {}, 200)
    api.post(f"{path}/sales", {"places": [{"ticket_type": 1, "count": 2}], "method": "cash"})
    api.post(f"{path}/cancellation", {"choice": "refund", "orders": 1}, 202)
    return path.rpartition("/")[2]
