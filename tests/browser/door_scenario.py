"""A busy evening at a door: west and north let guests in minute by minute, and the quay side has gone silent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.wire.protocol import Health
from sync_server.events import queries as events
from sync_server.revisions import service as revisions
from sync_server.venues.models import GateRecord
from tests.browser.admin_scenario import AdminScenario, an_evening
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.world import World

MINUTES = 12
CAPACITY = 400
TROUBLED = Health(
    celsius=61.2,
    battery_percent=14,
    on_battery=True,
    under_voltage=False,
    disk_free_mb=21_400,
    disk_low=False,
    readers=["camera: front"],
    faults=["camera: The picture is black. Clean the lens, or take its cover off."],
    system="Linux-6.12-aarch64",
    printer="zpl: ready",
)


@contextmanager
def a_busy_door(folder: Path) -> Iterator[AdminScenario]:
    """The evening of the other pages, twelve minutes later."""
    with an_evening(folder) as evening:
        world = evening.world
        with world.parts.database.writing() as session:
            change = text("UPDATE events SET capacity = :room, tickets_issued = 380, least_issued = 380")
            session.execute(change, {"room": CAPACITY})
        world.tickets(*range(100, 380))
        with world.parts.database.writing() as session:
            _open_stairs(session, world)
        north = world.a_gate("North stairs, lane 1", gate=3)
        north.anchor()
        guest = iter(range(100, 380))
        for minute in range(MINUTES):
            began = world.now
            for _ in range(6 + (minute * 5) % 9):
                evening.west.admit(next(guest))
            for _ in range(3 + (minute * 3) % 5):
                north.admit(next(guest))
            if minute % 2:
                north.refuse(100, "already_used")
            world.now = began + 60_000
        for gate in (evening.west, north):
            say_all(gate)
        evening.west.hello(health=TROUBLED)
        yield evening


def _open_stairs(session: Session, world: World) -> None:
    event = events.event(session, world.organisation, world.event.id)
    named = {"venue_id": event.venue_id, "organisation_id": world.organisation, "number": 3, "code": "G3"}
    session.add(GateRecord(**named, name="North stairs", created_at=world.now, updated_at=world.now))
    session.flush()
    revisions.put(session, event.key, events.gate_rows(session, event))


def say_all(gate: Gate) -> None:
    """A gate tells all that it has, and how it is."""
    gate.anchor()
    gate.upload()
    gate.hello()
