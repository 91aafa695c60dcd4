"""The pages of organisers ask the database a fixed number of questions, however much an organisation has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, EVENING, HOUR, a_gate, a_ticket_type, a_zone, an_event

MOST = 15
MANY = 30


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


def test_no_page_asks_more_than_fifteen_questions(app_server: AppServer) -> None:
    organisation = app_server.organisation("marquee")
    api = app_server.api(organisation)
    concert = busy(api)
    app_server.user("owner@marquee.example", organisation, "owner")
    client = app_server.browser("owner@marquee.example").client
    here = f"/admin/events/{concert.event['id']}"
    order = api.get("/api/orders?limit=1")["items"][0]["id"]
    ticket = api.get(f"{concert.path}/tickets?limit=1")["items"][0]["id"]
    hook = api.post("/api/webhooks", {"url": "https://shop.example.org/", "facts": ["*"]})["id"]
    message = api.post(f"/api/webhooks/{hook}/test")["message_id"]
    draft = api.get("/api/events?status=draft&limit=1")["items"][0]["id"]
    off = called_off(api, concert.venue["id"])
    token = api.post("/api/tokens", {"name": "box office", "scopes": ["read"]})["id"]
    member = app_server.user("stan@marquee.example", organisation, "staff")
    settings = "/admin/settings"
    pages = [
        "/admin/",
        "/admin/decisions",
        "/admin/events",
        "/admin/events/new",
        "/admin/events/calendar",
        "/admin/orders",
        "/admin/search?q=guest",
        "/admin/devices",
        "/admin/alerts",
        "/admin/venues",
        f"/admin/venues/{concert.venue['id']}",
        f"/admin/orders/{order}",
        f"/admin/orders/{order}/refund",
        f"/admin/orders/{order}/names",
        *(
            here + part
            for part in (
                "",
                "/edit",
                "/orders",
                "/types",
                "/types/1",
                "/sell",
                "/sales",
                "/codes",
                "/queue",
                "/waiting-list",
                "/scans",
                "/conflicts",
                f"/guests/{ticket}/move",
                "/new-date",
                f"/sell?sold={order}",
            )
        ),
        *(here + part for part in ("/door", "/wall", "/screens", "/names", "/names.pdf", "/badges")),
        f"{here}/status?target=cancelled",
        f"/admin/events/{off}",
        f"/admin/events/{off}/calling-off",
        f"/admin/events/{draft}/status?target=published",
        "/admin/account",
        "/admin/account/second-factor",
        settings,
        f"{settings}/members",
        f"{settings}/members/{member}",
        f"{settings}/members/{member}/remove",
        f"{settings}/tokens",
        f"{settings}/tokens/new",
        f"{settings}/tokens/{token}/end",
        f"{settings}/webhooks",
        f"{settings}/webhooks/new",
        *(f"{settings}/webhooks/{hook}{part}" for part in ("", "/edit", "/secret", "/remove", f"/messages/{message}")),
        f"{settings}/audit",
        f"{settings}/exports",
        f"{settings}/exports?event={concert.event['id']}",
        f"{settings}/people",
        f"{settings}/retention",
        *(f"{settings}/{name}" for name in ("general", "branding", "policies", "payments", "mails")),
    ]
    asked = {}
    for path in pages:
        with counted(app_server) as sent:
            assert client.get(path).status_code == 200, path
        asked[path] = len(sent)
    assert {path: count for path, count in asked.items() if count > MOST} == {}
