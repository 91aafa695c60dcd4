"""Layouts as organisers upload them, and an event that uses one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import structs
from sqlalchemy.orm import Session

from shared.admission import decide
from shared.clock import Millis
from shared.reasons import Reason
from shared.tickets import ReadTicket, read
from shared.wire.snapshot import EventRow, TicketRow, ZoneRow
from sync_server.seating.taken import SOLD, PlaceCounts, SeatChanges, SeatingPorts, Taken
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import a_venue, an_event
from tests.unit.shared.attempt_builders import an_attempt


def a_seat(row: str, number: int, **changed: Any) -> dict[str, Any]:
    """A seat at the position given by its row and number."""
    position = {"x": float(number), "y": float(ord(row[0]) - ord("A"))}
    return {"seat_id": f"{row}-{number}", "row": row, "number": number, "coordinates": position} | changed


def stalls(rows: str = "AB", width: int = 8, **changed: Any) -> dict[str, Any]:
    """A zone with reserved seats."""
    seats = [a_seat(row, number) for row in rows for number in range(1, width + 1)]
    return {"name": "Stalls", "zone_type": "reserved_seating", "seats": seats} | changed


def floor(**changed: Any) -> dict[str, Any]:
    """A standing zone."""
    return {"name": "Floor", "zone_type": "ga_standing", "capacity": 300} | changed


def a_layout(**changed: Any) -> dict[str, Any]:
    """Two rows of stalls and a floor."""
    return {"name": "Main hall", "zones": [stalls(), floor()]} | changed


def with_wheelchairs() -> dict[str, Any]:
    """A layout in which A-1 is a wheelchair place and A-2 its companion seat."""
    zone = stalls()
    zone["seats"][0] |= {"category": "wheelchair", "companion_seat_id": "A-2"}
    zone["seats"][1] |= {"category": "companion", "companion_seat_id": "A-1"}
    return a_layout(zones=[zone, floor()])


@dataclass
class FakeSales:
    """Sells seats by the word of a test, beside what is really sold and held."""

    really: SeatingPorts
    seats: dict[str, set[int]] = field(default_factory=dict)
    places: dict[str, dict[int, int]] = field(default_factory=dict)
    sold: bool = False

    def taken(self, session: Session, organisation_id: str, event_id: str, now: Millis, days: int) -> Taken:
        """What is sold or held."""
        found = self.really.taken(session, organisation_id, event_id, now, days)
        found.seats |= self.seats.get(event_id, set())
        found.places.update(self.places.get(event_id, {}))
        found.sold = found.sold or self.sold
        return found

    def taken_seats(
        self, session: Session, organisation_id: str, event_id: str, numbers: Collection[int] | None, days: int
    ) -> list[tuple[int, Millis]]:
        """The seats that are really taken, and those of the test, whichever are asked for."""
        sold = [(seat, SOLD) for seat in self.seats.get(event_id, ())]
        return [*self.really.taken_seats(session, organisation_id, event_id, numbers, days), *sold]

    def taken_places(
        self, session: Session, organisation_id: str, event_id: str, now: Millis, days: int
    ) -> PlaceCounts:
        """Places sold or held."""
        found = self.really.taken_places(session, organisation_id, event_id, now, days)
        return replace(found, sold={**found.sold, **self.places.get(event_id, {})})

    def seat_changes(
        self, session: Session, organisation_id: str, event_id: str, since: int | None, known: Collection[str]
    ) -> SeatChanges:
        """A test may have sold any seat."""
        found = self.really.seat_changes(session, organisation_id, event_id, since, known)
        return replace(found, touched=None if event_id in self.seats else found.touched)


@dataclass
class Stage:
    """An event, its venue and the layout of the venue."""

    api: ApiClient
    venue: dict[str, Any]
    layout: dict[str, Any]
    event: dict[str, Any]
    sales: FakeSales

    @property
    def layouts(self) -> str:
        return f"/api/venues/{self.venue['id']}/layouts"

    @property
    def path(self) -> str:
        return f"/api/events/{self.event['id']}/layout"

    def zone(self, name: str) -> str:
        """The id of a zone."""
        return str(next(zone["id"] for zone in self.layout["zones"] if zone["name"] == name))

    def choice(self, **overrides: Any) -> dict[str, Any]:
        """A request to use the layout."""
        return {"layout_id": self.layout["id"], "overrides": overrides}

    def choose(self, status: int = 200, **overrides: Any) -> Any:
        """Choose the layout for the event."""
        return self.api.put(self.path, self.choice(**overrides), status)

    def take(self, *seats: int) -> None:
        """Mark these seats, by number, as taken."""
        self.sales.seats.setdefault(self.event["id"], set()).update(seats)

    def best(self, size: int, status: int = 200, **request: Any) -> Any:
        """Ask for the best seats."""
        return self.api.post(f"{self.path}/best-seats", {"size": size} | request, status)

    def pick(self, *seats: str, status: int = 200, **request: Any) -> Any:
        """Ask for these seats."""
        return self.api.post(f"{self.path}/picked-seats", {"seat_ids": list(seats)} | request, status)


def a_stage(app_server: AppServer, api: ApiClient, layout: dict[str, Any] | None = None, **event: Any) -> Stage:
    """A venue with an active layout, and an event there."""
    ports = app_server.database.ports
    sales = FakeSales(ports.of(SeatingPorts))
    ports.connect(SeatingPorts(sales.taken, sales.taken_seats, sales.taken_places, sales.seat_changes))
    venue = api.post("/api/venues", a_venue())
    layouts = f"/api/venues/{venue['id']}/layouts"
    answer = api.ask("POST", layouts, layout or a_layout())
    assert answer.status_code in {201, 202} and answer.json is not None, answer.get_data(as_text=True)[:500]
    layout_id = answer.json["id"]
    if answer.status_code == 202:  # a large one: a worker imports it
        app_server.run_worker()
        layout_id = api.get(answer.headers["Location"])["layout_id"]
    made = api.post(f"{layouts}/{layout_id}/activate", status=200)
    return Stage(api, venue, made, api.post("/api/events", an_event(venue["id"], **event)), sales)


def at_the_gate(app_server: AppServer, concert: Concert, ticket: dict[str, Any], text: str, **known: Any) -> Reason:
    """The decision of a gate with the newest rows about a code of this ticket."""
    rows = app_server.gate_rows(concert.number)
    code = read(text, app_server.key_ring(concert.number))
    assert isinstance(code, ReadTicket)
    event = next(each for each in rows if isinstance(each, EventRow))
    zones = {each.number: each for each in rows if isinstance(each, ZoneRow)}
    found = next(each for each in rows if isinstance(each, TicketRow) and each.number == ticket["number"])
    attempt = an_attempt(code=code, organisation=code.organisation, event=event, row=found, zone=zones[found.zone])
    return decide(structs.replace(attempt, now=app_server.now, snapshot_as_of=app_server.now, **known)).reason
