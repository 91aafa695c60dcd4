"""Layouts as organisers send them, and an event that uses one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy.orm import Session

from shared.admission import decide
from shared.reasons import Reason
from shared.snapshot import EventRow, TicketRow, ZoneRow
from shared.tickets import ReadTicket, read
from sync_server.seating.taken import ASKED, Taken
from tests.builders import a_venue, an_event
from tests.office import Desk, Evening, Office
from tests.unit.shared.attempt_builders import an_attempt


def a_seat(row: str, number: int, **changed: Any) -> dict[str, Any]:
    """A seat, standing where its row and number say."""
    at = {"x": float(number), "y": float(ord(row[0]) - ord("A"))}
    return {"seat_id": f"{row}-{number}", "row": row, "number": number, "coordinates": at} | changed


def stalls(rows: str = "AB", width: int = 8, **changed: Any) -> dict[str, Any]:
    """A zone with reserved seats."""
    seats = [a_seat(row, number) for row in rows for number in range(1, width + 1)]
    return {"name": "Stalls", "zone_type": "reserved_seating", "seats": seats} | changed


def floor(**changed: Any) -> dict[str, Any]:
    """A zone where people stand."""
    return {"name": "Floor", "zone_type": "ga_standing", "capacity": 300} | changed


def a_layout(**changed: Any) -> dict[str, Any]:
    """Two rows of stalls and a floor."""
    return {"name": "Main hall", "zones": [stalls(), floor()]} | changed


def with_wheelchairs() -> dict[str, Any]:
    """The same; the ends of row A are a wheelchair place and its companion seat."""
    zone = stalls()
    zone["seats"][0] |= {"category": "wheelchair", "companion_seat_id": "A-2"}
    zone["seats"][1] |= {"category": "companion", "companion_seat_id": "A-1"}
    return a_layout(zones=[zone, floor()])


@dataclass
class BoxOffice:
    """Stands for the rooms above that sell and hold: says what is gone."""

    seats: dict[str, set[int]] = field(default_factory=dict)
    places: dict[str, dict[int, int]] = field(default_factory=dict)
    sold: bool = False

    def answer(self, _session: Session, asked: Taken, _now: int) -> None:
        """Add what this office sold or held."""
        asked.seats |= self.seats.get(asked.event_id, set())
        asked.places.update(self.places.get(asked.event_id, {}))
        asked.sold = asked.sold or self.sold


@dataclass
class Stage:
    """An event, its venue and the layout of the venue."""

    desk: Desk
    venue: dict[str, Any]
    layout: dict[str, Any]
    event: dict[str, Any]
    box_office: BoxOffice

    @property
    def layouts(self) -> str:
        return f"/api/venues/{self.venue['id']}/layouts"

    @property
    def path(self) -> str:
        return f"/api/events/{self.event['id']}/layout"

    def zone(self, name: str) -> str:
        """The id of a zone."""
        return str(next(zone["id"] for zone in self.layout["zones"] if zone["name"] == name))

    def words(self, **overrides: Any) -> dict[str, Any]:
        """A request to use the layout."""
        return {"layout_id": self.layout["id"], "overrides": overrides}

    def choose(self, status: int = 200, **overrides: Any) -> Any:
        """Use the layout for the event."""
        return self.desk.put(self.path, self.words(**overrides), status)

    def take(self, *seats: int) -> None:
        """Let somebody have these seats, by number."""
        self.box_office.seats.setdefault(self.event["id"], set()).update(seats)

    def best(self, size: int, status: int = 200, **wish: Any) -> Any:
        """Ask for the best seats."""
        return self.desk.post(f"{self.path}/best-seats", {"size": size} | wish, status)

    def pick(self, *seats: str, status: int = 200, **wish: Any) -> Any:
        """Ask for these seats."""
        return self.desk.post(f"{self.path}/picked-seats", {"seat_ids": list(seats)} | wish, status)


def a_stage(office: Office, desk: Desk, layout: dict[str, Any] | None = None, **event: Any) -> Stage:
    """A venue with an active layout, and an event there."""
    box_office = BoxOffice()
    office.database.when(ASKED, box_office.answer)
    venue = desk.post("/api/venues", a_venue())
    made = desk.post(f"/api/venues/{venue['id']}/layouts", layout or a_layout())
    made = desk.post(f"/api/venues/{venue['id']}/layouts/{made['id']}/activate", status=200)
    return Stage(desk, venue, made, desk.post("/api/events", an_event(venue["id"], **event)), box_office)


def at_the_gate(office: Office, evening: Evening, ticket: dict[str, Any], text: str, **known: Any) -> Reason:
    """What a gate with the newest rows says of a code of this ticket."""
    rows = office.held(evening.number)
    code = read(text, office.ring(evening.number))
    assert isinstance(code, ReadTicket)
    event = next(each for each in rows if isinstance(each, EventRow))
    zones = {each.number: each for each in rows if isinstance(each, ZoneRow)}
    found = next(each for each in rows if isinstance(each, TicketRow) and each.number == ticket["number"])
    attempt = an_attempt(code=code, organisation=code.organisation, event=event, row=found, zone=zones[found.zone])
    return decide(replace(attempt, now=office.now, snapshot_as_of=office.now, **known)).reason
