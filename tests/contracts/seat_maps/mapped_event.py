"""An event with a seat map, its seats held and sold, and a page that keeps the map up to date."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy import text, update

from shared.ids import NIL_ID, uuid7
from sync_server.holds.endings import ending
from sync_server.holds.models import EventSeatRow, HoldRow, HoldStatus, SeatState
from sync_server.outbox.service import Fact, record
from sync_server.seat_maps import wiring
from sync_server.seat_maps.map_responses import MapResponses
from sync_server.seating.bitmap import unpack
from sync_server.seating.plans.seat_plans import SeatPlans
from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE, a_ticket_type
from tests.contracts.seating.stage import Stage, a_stage

FREE, HELD, TAKEN, CLOSED = range(4)


@dataclass
class MappedEvent:
    """An event with a layout."""

    app_server: AppServer
    stage: Stage
    visitor: ApiClient = field(init=False)

    def __post_init__(self) -> None:
        self.visitor = ApiClient(self.app_server.app.test_client(), {})

    @property
    def id(self) -> str:
        return str(self.stage.event["id"])

    @property
    def path(self) -> str:
        return f"/api/events/{self.id}/seatmap"

    def hold(self, seat: int, minutes: int = 5) -> str:
        """Hold a seat; the relay has not delivered the fact yet."""
        app_server, id = self.app_server, uuid7(self.app_server.now, self.app_server.entropy)
        until = app_server.now + minutes * MINUTE
        with app_server.database.writing() as session:
            key = {"organisation_id": self.stage.event["organisation_id"], "event_id": self.id, "day": 0, "seat": seat}
            row = session.get(EventSeatRow, key, with_for_update=True) or EventSeatRow(**key, version=0)
            row.state, row.hold_id, row.held_until, row.version = SeatState.HELD, id, until, row.version + 1
            over = HoldRow.event_id == self.id, HoldRow.seat == seat, HoldRow.status == HoldStatus.ACTIVE.value
            session.execute(update(HoldRow).where(*over).values(status=HoldStatus.EXPIRED.value))
            hold = HoldRow(
                id=id,
                organisation_id=row.organisation_id,
                event_id=self.id,
                kind="seat",
                seat=seat,
                zone=1,
                quantity=1,
                bearer_kind="guest",
                bearer_id=NIL_ID,
                status=HoldStatus.ACTIVE.value,
                held_until=until,
                source="web",
                created_at=app_server.now,
                updated_at=app_server.now,
            )
            session.add_all([row, hold])
            subjects = ending.subjects_of(hold, self.stage.event["number"])
            payload = ending.payload_of(hold, tuple(day["date"] for day in self.stage.event["days"]))
            record(session, Fact("seat_held", row.organisation_id, app_server.now, subjects, payload))
        return id

    def sell(self, *seats: str) -> list[dict[str, Any]]:
        """Issue tickets for seats, by their seat_ids."""
        request = {"ticket_type": 1, "seats": [{"seat_id": seat} for seat in seats]}
        issued: list[dict[str, Any]] = self.stage.api.post(f"/api/events/{self.id}/tickets", request)["items"]
        return issued

    def page(self, api: ApiClient | None = None) -> Page:
        """Open the map."""
        api = api or self.visitor
        response = api.get(self.path)
        return Page(self, api, response["plan"], response["state"])


class HasMap(Protocol):
    """Anything with a seat map."""

    @property
    def app_server(self) -> AppServer: ...

    @property
    def path(self) -> str: ...


@dataclass
class Page:
    """An open map: fetches the state once, then only changes."""

    mapped: HasMap
    api: ApiClient
    plan: dict[str, Any]
    state: dict[str, Any]
    version: str = ""
    seats: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.load(self.state)

    def load(self, state: dict[str, Any]) -> None:
        self.version = state["version"]
        self.seats = bytearray(unpack(b64decode(state["seats"]), state["count"]))

    def seat(self, number: int) -> int:
        return self.seats[number - self.first]

    def changes(self) -> dict[str, Any]:
        """Fetch the changes without applying them."""
        response: dict[str, Any] = self.api.get(f"{self.mapped.path}/changes?since={self.version}")
        return response

    @property
    def first(self) -> int:
        number: int = self.plan["seats"]["first"]
        return number

    def follow(self) -> list[list[int]]:
        """Fetch the changes and apply them."""
        return self.apply(self.changes())

    def apply(self, changes: dict[str, Any]) -> list[list[int]]:
        """Apply changes; those of seats."""
        if changes["reset"]:
            self.load(self.api.get(f"{self.mapped.path}/state"))
            return []
        for seat, state in changes["seats"]:
            self.seats[seat - self.first] = state
        self.version = changes["version"]
        seats: list[list[int]] = changes["seats"]
        return seats


def clear_map_cache(app_server: AppServer) -> None:
    """The next response comes from a process that has cached nothing."""
    app_server.database.ports.connect(SeatPlans())
    app_server.parts.local_state[wiring.RESPONSES] = MapResponses(app_server.parts)


def a_mapped_event(
    app_server: AppServer, api: ApiClient, layout: dict[str, Any] | None = None, *, published: bool = True, **event: Any
) -> MappedEvent:
    """An event with a layout and a ticket type, published unless told otherwise."""
    stage = a_stage(app_server, api, layout, **event)
    stage.choose()
    api.post(f"/api/events/{stage.event['id']}/ticket-types", a_ticket_type(entitlement="unlimited_multi_day"))
    with app_server.database.reading() as session:
        row = session.execute(text("SELECT organisation_id FROM events WHERE id = :id"), {"id": stage.event["id"]})
        stage.event["organisation_id"] = row.scalar_one()
    if published:
        api.post(f"/api/events/{stage.event['id']}/publish", status=200)
    app_server.run_worker()
    return MappedEvent(app_server, stage)
