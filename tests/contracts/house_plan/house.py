"""A house with a map, seats that are held and sold in it, and a page that follows it."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy import text, update

from shared.ids import uuid7
from sync_server.holds import ending
from sync_server.holds.models import HoldRow, HoldStatus, SeatOfEventRow, SeatState
from sync_server.house_plan import wiring
from sync_server.house_plan.board import Board
from sync_server.outbox.service import Fact, record
from sync_server.seating.bitmap import unpack
from tests.builders import MINUTE, a_ticket_type
from tests.contracts.seating.stage import Stage, a_stage
from tests.office import Desk, Office

FREE, HELD, TAKEN, CLOSED = range(4)


@dataclass
class House:
    """An event with a layout, published; seats are held and sold by the rooms that do so."""

    office: Office
    stage: Stage
    visitor: Desk = field(init=False)

    def __post_init__(self) -> None:
        self.visitor = Desk(self.office.app.test_client(), {})

    @property
    def id(self) -> str:
        return str(self.stage.event["id"])

    @property
    def path(self) -> str:
        return f"/api/events/{self.id}/seatmap"

    def hold(self, seat: int, minutes: int = 5) -> str:
        """Somebody holds a seat; the relay has not told of it yet."""
        office, id = self.office, uuid7(self.office.now, self.office.dice)
        until = office.now + minutes * MINUTE
        with office.database.writing() as session:
            row = session.get(SeatOfEventRow, (self.id, seat), with_for_update=True) or SeatOfEventRow(
                event_id=self.id, seat=seat, organisation_id=self.stage.event["organisation_id"], version=0
            )
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
                bearer_id="g",
                status=HoldStatus.ACTIVE.value,
                held_until=until,
                source="web",
                created_at=office.now,
                updated_at=office.now,
            )
            session.add_all([row, hold])
            subjects = ending.subjects_of(hold, self.stage.event["number"])
            record(session, Fact("seat_held", row.organisation_id, office.now, subjects, ending.payload_of(hold)))
        return id

    def sell(self, *seats: str) -> list[dict[str, Any]]:
        """The box office issues tickets for seats, by their seat_ids."""
        wish = {"ticket_type": 1, "seats": [{"seat_id": seat} for seat in seats]}
        issued: list[dict[str, Any]] = self.stage.desk.post(f"/api/events/{self.id}/tickets", wish)["items"]
        return issued

    def behind_everybodys_back(self, seat: int) -> None:
        """A seat is free again, and nobody says so."""
        with self.office.database.writing() as session:
            session.execute(
                text(
                    "UPDATE event_seats SET state = 0, hold_id = NULL, held_until = NULL, ticket_id = NULL "
                    "WHERE event_id = :event AND seat = :seat"
                ),
                {"event": self.id, "seat": seat},
            )

    def page(self, desk: Desk | None = None) -> Page:
        """Somebody opens the map."""
        desk = desk or self.visitor
        answer = desk.get(self.path)
        return Page(self, desk, answer["plan"], answer["state"])


class Mapped(Protocol):
    """Whatever has a map."""

    @property
    def office(self) -> Office: ...

    @property
    def path(self) -> str: ...


@dataclass
class Page:
    """An open map: fetches the state once, then only what changed."""

    house: Mapped
    desk: Desk
    plan: dict[str, Any]
    state: dict[str, Any]
    version: str = ""
    seats: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.take(self.state)

    def take(self, state: dict[str, Any]) -> None:
        self.version = state["version"]
        self.seats = bytearray(unpack(b64decode(state["seats"]), state["count"]))

    def seat(self, number: int) -> int:
        return self.seats[number - self.first]

    def ask(self) -> dict[str, Any]:
        """What changed, without looking at it."""
        answer: dict[str, Any] = self.desk.get(f"{self.house.path}/changes?since={self.version}")
        return answer

    @property
    def first(self) -> int:
        number: int = self.plan["seats"]["first"]
        return number

    def follow(self) -> list[list[int]]:
        """Ask what changed, and take it over."""
        return self.hear(self.ask())

    def hear(self, news: dict[str, Any]) -> list[list[int]]:
        """Take over what changed."""
        if news["reset"]:
            self.take(self.desk.get(f"{self.house.path}/state"))
            return []
        for seat, state in news["seats"]:
            self.seats[seat - self.first] = state
        self.version = news["version"]
        changed: list[list[int]] = news["seats"]
        return changed


def forget_pictures(office: Office) -> None:
    """The next answer comes from a process that has seen nothing."""
    office.parts.memories[wiring.MEMORY] = Board(office.parts)


def a_house(
    office: Office, desk: Desk, layout: dict[str, Any] | None = None, *, published: bool = True, **event: Any
) -> House:
    """A published event in a house with a map."""
    stage = a_stage(office, desk, layout, **event)
    stage.choose()
    desk.post(f"/api/events/{stage.event['id']}/ticket-types", a_ticket_type(entitlement="unlimited_multi_day"))
    with office.database.reading() as session:
        row = session.execute(text("SELECT organisation_id FROM events WHERE id = :id"), {"id": stage.event["id"]})
        stage.event["organisation_id"] = row.scalar_one()
    if published:
        desk.post(f"/api/events/{stage.event['id']}/publish", status=200)
    office.work()
    return House(office, stage)
