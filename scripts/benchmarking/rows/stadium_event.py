"""A published event in a stadium of 60,000 seats on a measured server, with some seats held and some sold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, Final

from sqlalchemy import insert
from sqlalchemy.orm import Session

from scripts.allocation_study.stadium import SEATS, stadium
from scripts.benchmarking.rows.evenings import HOUR, evening
from scripts.benchmarking.servers.measured_server import MeasuredServer
from shared.clock import wall_clock
from shared.ids import uuid7
from shared.lifecycle import EventStatus
from sync_server.events import schemas as event_shapes
from sync_server.events import service as events
from sync_server.events.lifecycle import status
from sync_server.holds.models import EventSeatRow, SeatState
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.seating import event_layouts
from sync_server.seating import service as seating
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.layouts.plan import Category, LayoutPlan, PlannedSeat, ZonePlan, ZoneType
from sync_server.seating.search.allocation_grid import Row
from sync_server.venues import schemas as venue_shapes
from sync_server.venues import service as venues

SOLD: Final = 0.4
HELD: Final = 0.05
STANDS: Final = 4
CHUNK: Final = 5_000


@dataclass(frozen=True, slots=True)
class StadiumEvent:
    """The event and the seats that are still free."""

    server: MeasuredServer
    event_id: str
    event_number: int
    free: list[int]

    def hold(self, session: Session, seats: list[int]) -> None:
        """Hold seats and record the facts for the relay."""
        now, subjects = wall_clock(), {"event": self.event_id, "event_number": self.event_number}
        organisation = self.server.demo["organisation"]["id"]
        session.execute(insert(EventSeatRow), [_held(self.event_id, organisation, seat, now) for seat in seats])
        for seat in seats:
            record(session, Fact("seat_held", organisation, now, subjects, {"kind": "seat", "seat": seat}))


def create_stadium_event(server: MeasuredServer, count: int = round((SOLD + HELD) * SEATS)) -> StadiumEvent:
    """Create the event through the server's own services; only the states of `count` seats are written directly."""
    random, organisation = Random(60_000), server.demo["organisation"]["id"]
    with server.runtime() as runtime, runtime.parts.database.writing() as session:
        context = ActionContext(SYSTEM, wall_clock(), os.urandom)
        venue = venues.create_venue(session, organisation, venue_fields(), context)
        layout = seating.create_layout(session, organisation, venue.id, seating.prepare(plan()), context)
        seating.activate(session, organisation, venue.id, layout.id, context)
        event = events.create_event(session, organisation, _event(venue.id, context.now), context)
        event_layouts.choose(session, organisation, event.id, LayoutChoice(layout.id), context)
        status.change_status(session, organisation, event.id, EventStatus.PUBLISHED, context)
        taken = random.sample(range(1, SEATS + 1), count)
        for chunk in _chunks(list(_rows(event.id, organisation, taken, context.now))):
            session.execute(insert(EventSeatRow), chunk)
        free = sorted({*range(1, SEATS + 1)} - {*taken})
        random.shuffle(free)
        return StadiumEvent(server, event.id, event.number, free)


def venue_fields() -> dict[str, Any]:
    """The venue that the stadium stands in."""
    return venue_shapes.NewVenue(
        name="Stadium", timezone="Europe/Berlin", city="Hamburg", country="DE", address="Stadionweg 1"
    ).model_dump()


def _event(venue_id: str, now: int) -> dict[str, Any]:
    start, end = evening(now)
    return event_shapes.NewEvent(
        venue_id=venue_id,
        name="Night in the stadium",
        description="Sixty thousand under floodlights.",
        start_at=start,
        end_at=end,
        capacity=0,
    ).model_dump()


def plan() -> LayoutPlan:
    """Four stands of numbered seats around a field."""
    rows = [grid_row.row for grid_row in stadium().rows]
    zones: dict[int, list[PlannedSeat]] = {}
    for count, row in enumerate(rows):
        zones.setdefault(count * STANDS // len(rows), []).extend(_seats(row))
    return LayoutPlan(
        "Stadium",
        tuple(
            ZonePlan(
                f"Stand {number + 1}", ZoneType.RESERVED_SEATING, len(seats), focus=(0.0, 30.0), seats=tuple(seats)
            )
            for number, seats in zones.items()
        ),
    )


def _seats(row: Row) -> Iterator[PlannedSeat]:
    for count, (x, y) in enumerate(row.points, start=1):
        category = Category.WHEELCHAIR if int(row.label) == 39 and count == 1 else Category.STANDARD
        yield PlannedSeat(
            seat_id=f"{row.section}-{row.label}-{count}",
            row=row.label,
            number=str(count),
            x=round(x, 3),
            y=round(y, 3),
            category=category,
            section=row.section,
            price_category="A" if int(row.label) < 10 else "B",
        )


def _rows(event_id: str, organisation: str, taken: list[int], now: int) -> Iterator[dict[str, Any]]:
    for count, seat in enumerate(taken):
        held = _held(event_id, organisation, seat, now)
        if count < HELD * SEATS:
            yield held
        else:
            ticket = {"state": SeatState.SOLD, "hold_id": None, "held_until": None, "ticket_id": 1_000_000 + seat}
            yield held | ticket


def _held(event_id: str, organisation: str, seat: int, now: int) -> dict[str, Any]:
    return {
        "event_id": event_id,
        "day": 0,
        "seat": seat,
        "organisation_id": organisation,
        "state": SeatState.HELD,
        "hold_id": uuid7(now, os.urandom),
        "held_until": now + HOUR,
        "ticket_id": None,
        "version": 1,
        "locked_at": now,
    }


def _chunks(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    left = iter(rows)
    while chunk := list(islice(left, CHUNK)):
        yield chunk
