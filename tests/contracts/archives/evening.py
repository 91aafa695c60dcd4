"""An evening that is over: tickets of every state, scans of two gates, holds, and a seat that was sold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from sync_server.archives.event_rows import event_tables, leaving
from sync_server.archives.work import ArchiveWorker
from sync_server.plumbing.event_key import EventKey
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import HOUR, a_ticket_type, a_venue, an_event
from tests.contracts.seating.stage import a_layout
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.office_gates import a_gate, shown


@dataclass
class Evening:
    """An event at which guests were admitted, and which has ended."""

    app_server: AppServer
    concert: Concert
    gate: Gate
    device: dict[str, Any]
    tickets: list[dict[str, Any]]

    @property
    def api(self) -> ApiClient:
        return self.concert.api

    @property
    def path(self) -> str:
        return self.concert.path

    @property
    def key(self) -> EventKey:
        return self.app_server.event_key(self.concert.number)

    def sell(self, guests: int) -> None:
        """Two tickets on seats, all others on the floor."""
        types = {each["name"]: each["number"] for each in self.api.get(f"{self.path}/ticket-types")["items"]}
        seats = {"ticket_type": types["Stalls"], "seats": [{"seat_id": "A-1"}, {"seat_id": "A-2"}]}
        self.tickets += self.api.post(f"{self.path}/tickets", seats | {"holder_name": "Gail Guest"})["items"]
        left = guests - len(self.tickets)
        while left > 0:
            body = {"ticket_type": types["Floor"], "count": min(left, 100), "holder_name": "Hugo Guest"}
            self.tickets += self.api.post(f"{self.path}/tickets", body)["items"]
            left -= 100

    def counts(self, *, leaving_only: bool = True) -> dict[str, int]:
        """How many rows of the event each table has; tables without any are left out."""
        tables = leaving() if leaving_only else event_tables()
        with self.app_server.database.reading() as session:
            counted = {
                each.name: session.execute(
                    select(func.count()).select_from(each.table).where(*each.of(self.key))
                ).scalar_one()
                for each in tables
            }
        return {name: count for name, count in counted.items() if count}

    def content(self) -> dict[str, list[bytes]]:
        """Every row of the event that leaves, as its file has it."""
        with self.app_server.database.reading() as session:
            return {each.name: list(each.lines(session, self.key)) for each in leaving()}

    def ask(self, **body: Any) -> Any:
        return self.api.post(f"{self.path}/put-away", body, 202)

    def work(self) -> None:
        """Let the worker carry every archive to its end."""
        ArchiveWorker(self.app_server.parts).carry_on_with(self.key)

    def put_away(self) -> Any:
        """Ask for the archive, and wait for it."""
        self.ask()
        self.work()
        shown_now = self.api.get(f"{self.path}/archive")
        assert shown_now["state"] == "put_away", shown_now
        return shown_now

    def file(self) -> Path:
        """The sealed file."""
        name = self.api.get(f"{self.path}/archive")["file"]
        found = self.app_server.parts.config.archives
        assert found is not None
        return found / name


def an_evening(
    app_server: AppServer,
    *,
    guests: int = 6,
    api: ApiClient | None = None,
    number: int = 1,
    ended: bool = True,
    last_hello: bool = True,
) -> Evening:
    """Guests on seats and on the floor: one code was replaced, one ticket cancelled, one guest never came."""
    evening = _on_sale(app_server, api or app_server.api(app_server.organisation("marquee")), number)
    evening.sell(guests)
    api = evening.api
    api.post(f"/api/tickets/{evening.tickets[0]['id']}/reissue", {"reason": "lost"}, 200)
    api.post(f"/api/tickets/{evening.tickets[1]['id']}/cancel", {"reason": "ill"}, 200)
    app_server.advance(2 * HOUR)
    evening.gate.anchor()
    for ticket in evening.tickets[2:-1]:
        shown(evening.gate, evening.concert, ticket)
    refused = {"event": evening.concert.number, "ticket_id": int(evening.tickets[1]["id"], 16)}
    evening.gate.write(**refused, issue=1, reason="ticket_cancelled")
    evening.gate.upload()
    evening.gate.hello()
    if ended:
        api.post(f"{evening.path}/end", status=200)
    app_server.advance(8 * HOUR)
    if last_hello:
        evening.gate.hello()
    return evening


def _on_sale(app_server: AppServer, api: ApiClient, number: int) -> Evening:
    venue = api.post("/api/venues", a_venue(name=f"Harbour Hall {number}"))
    api.post(f"/api/venues/{venue['id']}/gates", {"code": "W", "name": "West"})
    layouts = f"/api/venues/{venue['id']}/layouts"
    layout = api.post(layouts, a_layout())
    api.post(f"{layouts}/{layout['id']}/activate", status=200)
    starts = app_server.now + 2 * HOUR
    times = {"start_at": starts, "end_at": starts + 6 * HOUR}
    event = api.post("/api/events", an_event(venue["id"], name=f"Night Music {number}", **times))
    concert = Concert(api, venue, event)
    api.put(f"{concert.path}/layout", {"layout_id": layout["id"]})
    for zone in api.get(f"{concert.path}/zones")["items"]:
        api.post(f"{concert.path}/ticket-types", a_ticket_type(name=zone["name"], zone=zone["number"], quantity=300))
    for step in ("publish", "go-live"):
        api.post(f"{concert.path}/{step}", status=200)
    device, gate = a_gate(app_server, concert)
    return Evening(app_server, concert, gate, device, [])
