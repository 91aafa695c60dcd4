"""The pages of organisers ask the database a fixed number of questions, however much an organisation has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import event

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, EVENING, HOUR, a_gate, a_ticket_type, a_zone, an_event
from tests.contracts.holds.seated_event import a_seated_event

MOST = 15
MANY = 30
NOT_ASKED = {
    "/admin/<path:unknown>": "what is not there",
    "/admin/login": "before anybody has signed in",
    "/admin/forgotten": "before anybody has signed in",
    "/admin/invitation": "before anybody has signed in",
    "/admin/password": "before anybody has signed in",
    "/admin/organisation": "for staff of several organisations",
    "/admin/wall": "at a screen where nobody has signed in",
    "/admin/account/passkeys/<passkey_id>/remove": "names a passkey of the person alone",
    "/admin/account/second-factor/off": "asks for nothing but a password",
    "/admin/events/<event_id>/badges/<name>.png": "a picture of a layout",
    "/admin/orders/<order_id>/badges.pdf": "needs names of guests",
}
"""Pages that hardly depend on what an organisation has."""
QUESTIONS = {
    "/admin/search": ("?q=guest", "?q=nobody"),
    "/admin/events/<event_id>/status": ("?target=cancelled",),
    "/admin/events/<event_id>/sell": ("", "?sold=<order_id>"),
    "/admin/settings/exports": ("", "?event=<event_id>"),
}
"""What is asked of pages that do nothing without a question."""


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@contextmanager
def counted(app_server: AppServer) -> Iterator[list[str]]:
    """The statements that are sent meanwhile."""
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith(("BEGIN", "PRAGMA", "SAVEPOINT", "RELEASE")):
            sent.append(statement)

    event.listen(app_server.database.engine, "before_cursor_execute", note)
    yield sent
    event.remove(app_server.database.engine, "before_cursor_execute", note)


def busy(api: ApiClient) -> Concert:
    """A live concert among many events, with orders, gates and devices."""
    concert = a_concert(api)
    venue = concert.venue["id"]
    for code in "ABC":
        api.post(f"/api/venues/{venue}/gates", a_gate(code=code))
    api.post(f"{concert.path}/zones", a_zone())
    for number in range(MANY):
        later = EVENING + (number + 1) * DAY
        api.post("/api/events", an_event(venue, name=f"Night {number}", start_at=later, end_at=later + HOUR))
    api.post(f"{concert.path}/publish", {}, 200)
    for number in range(MANY):
        buyer = {"name": f"Guest {number}", "email": f"guest{number}@example.org"}
        sale = {"places": [{"ticket_type": 1, "count": 2}], "method": "cash", "buyer": buyer}
        api.post(f"{concert.path}/sales", sale)
        api.post("/api/devices", {"name": f"Gate {number}"})
    api.post(f"{concert.path}/go-live", {}, 200)
    return concert


def called_off(api: ApiClient, venue: str) -> str:
    """An event that was cancelled, and whose buyer is owed money."""
    path = f"/api/events/{api.post('/api/events', an_event(venue, name='Rained Off'))['id']}"
    api.post(f"{path}/ticket-types", a_ticket_type())
    api.post(f"{path}/publish", {}, 200)
    api.post(f"{path}/sales", {"places": [{"ticket_type": 1, "count": 2}], "method": "cash"})
    api.post(f"{path}/cancellation", {"choice": "refund", "orders": 1}, 202)
    return path.rpartition("/")[2]


@dataclass
class Desk:
    """What an organisation has, by its names in the addresses of pages: `names`, or those of `where` in some pages."""

    owner: ApiClient
    names: dict[str, str]
    where: dict[str, dict[str, str]]
    also: list[str]  # pages that look otherwise about something else

    def address(self, rule: str) -> str:
        """The address of a page."""
        own = next((names for part, names in self.where.items() if part in rule), {})
        return re.sub(r"<(?:\w+:)?(\w+)>", lambda gap: (self.names | own)[gap[1]], rule)


def a_desk(app_server: AppServer) -> Desk:
    """One of everything: a live concert, one that is sold out, one that was called off, and a hall with seats."""
    hall = a_seated_event(app_server)
    ((layout, in_venue),) = hall.rows("SELECT id, venue_id FROM layouts")
    concert = busy(hall.api)
    app_server.user("owner@marquee.example", hall.organisation_id, "owner")
    owner = app_server.browser("owner@marquee.example")
    shop, here, api = f"/api/o/{hall.slug}/events/{concert.event['id']}", concert.path, hall.api
    api.post(f"{here}/code-batches", {"kind": "discount", "name": "Newsletter", "codes": 5, "percent": 15})
    api.put(f"{here}/queue", {})
    api.put(f"{here}/waiting-list", {"open": True})
    hook = api.post("/api/webhooks", {"url": "https://shop.example.org/", "facts": ["*"]})["id"]
    device = api.get("/api/devices?limit=1")["items"][0]["id"]
    work = {"event_id": concert.event["id"], "gate": 1}
    api.put(f"/api/devices/{device}/assignments", {"assignments": [work]})
    names = {
        "event_id": concert.event["id"],
        "venue_id": concert.venue["id"],
        "number": "1",
        "order_id": api.get("/api/orders?limit=1")["items"][0]["id"],
        "ticket_id": api.get(f"{here}/tickets?limit=1")["items"][0]["id"],
        "device_id": device,
        "webhook_id": hook,
        "message_id": api.post(f"/api/webhooks/{hook}/test")["message_id"],
        "token_id": api.post("/api/tokens", {"name": "box office", "scopes": ["read"]})["id"],
        "user_id": app_server.user("stan@marquee.example", hall.organisation_id, "staff"),
        "party_id": hall.guest().post(f"{shop}/waiting", {"size": 2, "email": "ada@example.org"})["id"],
    }
    form = {"name": "Foyer", "csrf_token": owner.headers["X-CSRF-Token"]}
    screen = owner.client.post(f"/admin/events/{concert.event['id']}/screens", data=form).location
    in_hall = {"event_id": hall.id, "seat": str(hall.number("A-1"))}
    names["link_id"] = screen.rpartition("/")[2]
    off = {"event_id": called_off(api, concert.venue["id"])}
    where = {"/seats": in_hall, "/calling-off": off, "/seat-maps": {"venue_id": in_venue, "layout_id": layout}}
    draft = api.get("/api/events?status=draft&limit=1")["items"][0]["id"]
    also = [
        f"/admin/events/{draft}",
        f"/admin/events/{draft}/status?target=published",
        f"/admin/events/{off['event_id']}",
    ]
    return Desk(owner, names, where, also)


def test_no_page_asks_more_than_fifteen_questions(app_server: AppServer) -> None:
    desk = a_desk(app_server)
    pages = {str(rule) for rule in app_server.app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    rules = sorted(each for each in pages if each.startswith("/admin/") and each not in NOT_ASKED)
    asked = {}
    for path in [desk.address(rule + each) for rule in rules for each in QUESTIONS.get(rule, ("",))] + desk.also:
        with counted(app_server) as sent:
            assert desk.owner.client.get(path).status_code == 200, path
        asked[path] = len(sent)
    assert {path: count for path, count in asked.items() if count > MOST} == {}
