"""An event with numbered seats on sale, its guests, and what the tables contain."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import text

from sync_server.holds.selling import inventory
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from tests.app_server import ApiClient, AppServer
from tests.builders import a_venue, an_event
from tests.contracts.seating.stage import a_layout

ADDRESS = "198.51.100.1"


@dataclass
class SeatedEvent:
    """One event of one organisation, with seats A-1 to B-8 numbered by the layout."""

    app_server: AppServer
    organisation_id: str
    slug: str
    api: ApiClient
    event: dict[str, Any]
    seats: dict[str, tuple[str, int]]  # by name: id and number
    zones: dict[str, str]  # by name: id

    @property
    def id(self) -> str:
        return str(self.event["id"])

    @property
    def path(self) -> str:
        return f"/api/events/{self.id}"

    def number(self, name: str) -> int:
        """The number of a seat."""
        return self.seats[name][1]

    def context(self) -> ActionContext:
        return ActionContext(SYSTEM, self.app_server.now, self.app_server.entropy)

    def sell(self, *names: str, holds: tuple[str, ...] = (), first: int = 1) -> None:
        """Sell seats to the tickets 1, 2, 3 …, and record it as issuing does."""
        tickets = {self.number(name): first + index for index, name in enumerate(names)}
        with self.app_server.database.writing() as session:
            inventory.sell(session, self.organisation_id, self.id, tickets, self.context(), holds=holds)
            subjects = {"event": self.id, "event_number": self.event["number"]}
            payload = {"ticket_type": 1, "count": len(names), "first": first, "last": first + len(names) - 1}
            seats = {"seats": sorted(tickets)}
            record(
                session, Fact("tickets_issued", self.organisation_id, self.app_server.now, subjects, payload | seats)
            )

    def rows(self, query: str, **values: Any) -> list[Any]:
        """Rows of a query."""
        with self.app_server.database.reading() as session:
            return [tuple(row) for row in session.execute(text(query), values)]

    def guest(self) -> ApiClient:
        """A new guest of the shop; all come from one address of the internet, as through one office's router."""
        client = self.app_server.app.test_client()
        client.environ_base["REMOTE_ADDR"] = ADDRESS
        response = client.post(f"/api/o/{self.slug}/session")
        assert response.status_code == 201 and response.json is not None, response.get_data(as_text=True)
        return ApiClient(client, {"X-CSRF-Token": response.json["csrf_token"]})

    def reserve_path(self, name: str) -> str:
        return f"{self.path}/seats/{self.seats[name][0]}/reserve"

    def reserve(self, who: ApiClient, name: str, status: int = 201, **body: Any) -> Any:
        """Hold a seat."""
        return who.post(self.reserve_path(name), body, status)["data"]

    def refused(self, who: ApiClient, name: str, **body: Any) -> tuple[int, str]:
        """Status and error code of an attempt to hold a seat that is refused."""
        return who.refused("POST", self.reserve_path(name), body)

    def states(self) -> dict[str, int]:
        """The seats that have a row, by name."""
        names = {number: name for name, (_, number) in self.seats.items()}
        found = self.rows("SELECT seat, state FROM event_seats WHERE event_id = :event", event=self.id)
        return {names[seat]: state for seat, state in found}


def moved(sale: SeatedEvent, app_server: AppServer) -> SeatedEvent:
    """The same event at another server, whose database is a copy."""
    api = ApiClient(app_server.app.test_client(), dict(sale.api.headers))
    known = {"event": deepcopy(sale.event), "seats": dict(sale.seats), "zones": dict(sale.zones)}
    return replace(sale, app_server=app_server, api=api, **known)


def a_seated_event(
    app_server: AppServer,
    *,
    slug: str = "marquee",
    layout: dict[str, Any] | None = None,
    zones: Sequence[dict[str, Any]] = (),
    **event: Any,
) -> SeatedEvent:
    """An organisation with a venue, a layout, and an event on sale, which had `zones` before it had the layout."""
    organisation_id = app_server.organisation(slug)
    api = app_server.api(organisation_id)
    venue = api.post("/api/venues", a_venue())
    layout_made = api.post(f"/api/venues/{venue['id']}/layouts", layout or a_layout())
    path = f"/api/venues/{venue['id']}/layouts/{layout_made['id']}"
    api.post(f"{path}/activate", status=200)
    created = api.post("/api/events", an_event(venue["id"], **event))
    for zone in zones:
        api.post(f"/api/events/{created['id']}/zones", zone)
    api.put(f"/api/events/{created['id']}/layout", {"layout_id": layout_made["id"]})
    created = api.post(f"/api/events/{created['id']}/publish", {}, 200)
    return SeatedEvent(
        app_server,
        organisation_id,
        slug,
        api,
        created,
        _seats(app_server, layout_made["id"]),
        {zone["name"]: zone["id"] for zone in layout_made["zones"]},
    )


def _seats(app_server: AppServer, layout_id: str) -> dict[str, tuple[str, int]]:
    with app_server.database.reading() as session:
        query = text("SELECT seat_id, id, number FROM layout_seats WHERE layout_id = :layout")
        return {name: (id, number) for name, id, number in session.execute(query, {"layout": layout_id})}
