"""A season that sells: a concert of last month, and this month's, which is half sold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, HOUR, a_ticket_type, a_venue, an_event
from tests.served_app import served
from tests.staff import PASSWORD

EMAIL = "owner@marquee.example"
LAST_MONTH = (3, 5, 2, 4, 8, 6, 9, 12)
"""Orders of two tickets, day by day."""
SO_FAR = (4, 7, 3, 9, 10)


@dataclass
class Season:
    """The running server and its two concerts."""

    server: AppServer
    api: ApiClient
    address: str
    venue: dict[str, Any]
    before: dict[str, Any]
    concert: dict[str, Any]
    sold_out: dict[str, Any]

    def page_of(self, part: str = "") -> str:
        """The address of a page of this month's concert."""
        return f"{self.address}/admin/events/{self.concert['id']}{part}"

    def guest(self) -> ApiClient:
        """A visitor of the shop."""
        client = self.server.app.test_client()
        answer = client.post("/api/o/marquee/session")
        assert answer.json is not None
        return ApiClient(client, {"X-CSRF-Token": answer.json["csrf_token"]})

    def buys_with(self, code: str) -> None:
        """Somebody orders a ticket in the shop with this code."""
        shop, guest = f"/api/o/marquee/events/{self.concert['id']}", self.guest()
        held = guest.post(f"/api/events/{self.concert['id']}/holds", {"count": 1})["data"]["holds"][0]["hold_id"]
        buyer = {"name": "Grace Sommer", "email": "grace@example.org"}
        lines = [{"hold_id": held, "ticket_type": 1}]
        guest.post(f"{shop}/orders", {"holds": lines, "codes": [code], "buyer": buyer})

    def another(self, name: str) -> str:
        """The id of one more concert, which is published and which nobody has bought."""
        start = self.server.now + 20 * DAY
        times = {"start_at": start, "end_at": start + HOUR}
        made = self.api.post("/api/events", an_event(self.venue["id"], name=name, **times))
        self.api.post(f"/api/events/{made['id']}/ticket-types", a_ticket_type())
        self.api.post(f"/api/events/{made['id']}/publish", {}, 200)
        return str(made["id"])

    def queues(self, event_id: str, guests: int) -> None:
        """So many guests join the queue, each from a browser of their own; some are let in."""
        for _ in range(guests):
            self.guest().post(f"/api/o/marquee/events/{event_id}/queue")
        self.server.run_worker()

    def waits(self, *sizes: int) -> None:
        """Parties of these sizes join the waiting list."""
        here = f"/api/o/marquee/events/{self.sold_out['id']}/waiting"
        for number, size in enumerate(sizes):
            self.guest().post(here, {"size": size, "email": f"party{number}@example.org"})

    def sign_in(self, page: Page) -> None:
        """Sign in on the form, unless this browser is signed in."""
        sign_in(page, self.address)


def sign_in(page: Page, address: str) -> None:
    """Sign the owner in on the form, unless this browser is signed in."""
    page.goto(f"{address}/admin/")
    if page.get_by_label("Password").count():
        page.get_by_label("E-mail address").fill(EMAIL)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("heading", level=1).wait_for()


@contextmanager
def a_season(url: str, folder: Path) -> Iterator[Season]:
    """Run the season on this database and a local port."""
    server = AppServer(url, folder)
    try:
        organisation = server.organisation("marquee")
        server.user(EMAIL, organisation, "owner")
        api = server.api(organisation)
        venue = api.post("/api/venues", a_venue())
        before = _concert(server, api, venue["id"], "Night Music 6", LAST_MONTH)
        for step in ("go-live", "end"):
            api.post(f"/api/events/{before['id']}/{step}", {}, 200)
        concert = _concert(server, api, venue["id"], "Night Music 7", SO_FAR)
        with served(server) as address:
            yield Season(server, api, address, venue, before, concert, _sold_out(server, api, venue["id"]))
    finally:
        server.close()


def _concert(server: AppServer, api: ApiClient, venue: str, name: str, days: tuple[int, ...]) -> dict[str, Any]:
    start = server.now + 8 * DAY
    made: dict[str, Any] = api.post("/api/events", an_event(venue, name=name, start_at=start, end_at=start + 3 * HOUR))
    here = f"/api/events/{made['id']}"
    api.post(f"{here}/ticket-types", a_ticket_type(name="Regular", quantity=300))
    api.post(f"{here}/ticket-types", a_ticket_type(name="Student", price_cents=1_800, quantity=60))
    api.post(f"{here}/publish", {}, 200)
    for orders in days:
        for number in range(orders):
            _sell(api, here, name, number)
        server.advance(DAY)
    return made


def _sold_out(server: AppServer, api: ApiClient, venue: str) -> dict[str, Any]:
    start = server.now + 20 * DAY
    made: dict[str, Any] = api.post("/api/events", an_event(venue, name="Chamber", start_at=start, end_at=start + HOUR))
    here = f"/api/events/{made['id']}"
    api.post(f"{here}/ticket-types", a_ticket_type(quantity=6))
    api.post(f"{here}/publish", {}, 200)
    for _ in range(3):
        api.post(f"{here}/sales", {"places": [{"ticket_type": 1, "count": 2}], "method": "cash"})
    return made


def _sell(api: ApiClient, here: str, name: str, number: int) -> None:
    kind = 2 if number % 4 == 3 else 1
    buyer = {"name": f"{_NAMES[number % len(_NAMES)]}", "email": f"guest{number}@{name[-1]}.example"}
    api.post(f"{here}/sales", {"places": [{"ticket_type": kind, "count": 2}], "method": "card", "buyer": buyer})


_NAMES = ("Ada Winter", "Björn Åkesson", "Chidi Okafor", "Dana Peters", "Émile Roux", "Fatma Kaya")
