"""An event on sale in a house with seats, those who want them, and what the tables say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from sync_server.holds import inventory
from sync_server.plumbing.principals import SYSTEM, Deed
from tests.builders import a_venue, an_event
from tests.contracts.seating.stage import a_layout
from tests.office import Desk, Office


@dataclass
class House:
    """One event of one organisation; seats are called A-1 to B-8 and numbered as the layout numbers them."""

    office: Office
    organisation_id: str
    slug: str
    desk: Desk
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

    def deed(self) -> Deed:
        return Deed(SYSTEM, self.office.now, self.office.dice)

    def sell(self, *names: str, holds: tuple[str, ...] = (), first: int = 1) -> None:
        """Sell seats to tickets that are called 1, 2, 3 …"""
        tickets = {self.number(name): first + turn for turn, name in enumerate(names)}
        with self.office.database.writing() as session:
            inventory.sell(session, self.organisation_id, self.id, tickets, self.deed(), holds=holds)

    def rows(self, query: str, **values: Any) -> list[Any]:
        """What the tables say."""
        with self.office.database.reading() as session:
            return [tuple(row) for row in session.execute(text(query), values)]

    def guest(self) -> Desk:
        """Somebody who came into the shop."""
        client = self.office.app.test_client()
        answer = client.post(f"/api/o/{self.slug}/session")
        assert answer.status_code == 201 and answer.json is not None, answer.get_data(as_text=True)
        return Desk(client, {"X-CSRF-Token": answer.json["csrf_token"]})

    def reserve_path(self, name: str) -> str:
        return f"{self.path}/seats/{self.seats[name][0]}/reserve"

    def reserve(self, who: Desk, name: str, status: int = 201, **body: Any) -> Any:
        """Hold a seat."""
        return who.post(self.reserve_path(name), body, status)["data"]

    def refused(self, who: Desk, name: str, **body: Any) -> tuple[int, str]:
        """Why a seat cannot be held."""
        return who.refused("POST", self.reserve_path(name), body)

    def states(self) -> dict[str, int]:
        """The seats that have a row, by name."""
        names = {number: name for name, (_, number) in self.seats.items()}
        found = self.rows("SELECT seat, state FROM event_seats WHERE event_id = :event", event=self.id)
        return {names[seat]: state for seat, state in found}


def a_house(office: Office, *, slug: str = "marquee", layout: dict[str, Any] | None = None, **event: Any) -> House:
    """An organisation with a venue, a layout, and an event on sale."""
    organisation_id = office.organisation(slug)
    desk = office.desk(organisation_id)
    venue = desk.post("/api/venues", a_venue())
    made = desk.post(f"/api/venues/{venue['id']}/layouts", layout or a_layout())
    here = f"/api/venues/{venue['id']}/layouts/{made['id']}"
    desk.post(f"{here}/activate", status=200)
    happening = desk.post("/api/events", an_event(venue["id"], **event))
    desk.put(f"/api/events/{happening['id']}/layout", {"layout_id": made["id"]})
    happening = desk.post(f"/api/events/{happening['id']}/publish", {}, 200)
    return House(
        office,
        organisation_id,
        slug,
        desk,
        happening,
        _seats(office, made["id"]),
        {zone["name"]: zone["id"] for zone in made["zones"]},
    )


def _seats(office: Office, layout_id: str) -> dict[str, tuple[str, int]]:
    with office.database.reading() as session:
        query = text("SELECT seat_id, id, number FROM layout_seats WHERE layout_id = :layout")
        return {name: (id, number) for name, id, number in session.execute(query, {"layout": layout_id})}
