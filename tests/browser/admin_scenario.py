"""A concert for tests of the admin pages: two active gates, one offline, refusals and conflicts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from scripts.processes.ports import free_port
from shared.journal.scans import EntryKind
from shared.wire.snapshot import TicketState
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.workers import Worker
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.world import World
from tests.served_app import listening
from tests.staff import a_login
from tests.streams import redirect_streams

EMAIL = "owner@marquee.example"


@dataclass
class AdminScenario:
    """A running server, its event and one of its gates."""

    world: World
    address: str
    west: Gate
    invitation: str = ""  # a link that somebody has handed over

    @property
    def event_page(self) -> str:
        return f"{self.address}/admin/events/{self.world.event.id}"

    def raise_alerts(self, *, hours: int) -> None:
        """Let time pass: one event is not ended, one not opened, and one has no planned opening."""
        self.world.an_event(self.world.organisation, status="published", number=8)
        self.world.advance(hours=hours)
        late = self.world.an_event(self.world.organisation, status="published", number=9)
        with self.world.parts.database.writing() as session:
            change = text("UPDATE events SET doors_at = :now - 60000 WHERE id = :id")
            session.execute(change, {"now": self.world.now, "id": late.id})

    def call_off(self, event_id: str) -> None:
        """Cancel an event without tickets."""
        with self.world.parts.database.writing() as session:
            session.execute(text("UPDATE events SET status = 'cancelled' WHERE id = :id"), {"id": event_id})

    def lose_entries(self, count: int) -> None:
        """The west gate loses entries before their upload, and reports them lost."""
        behind, first = self.west.head, len(self.west.bodies) + 1
        for ticket in range(40, 40 + count):
            self.west.admit(ticket)
        details = {"first": first, "last": first + count - 1}
        self.west.write(kind=EntryKind.GAP, event=0, details=details, previous=behind)
        del self.west.bodies[first - 1 : first - 1 + count]
        self.west.upload()


@contextmanager
def an_evening(folder: Path) -> Iterator[AdminScenario]:
    """Run the scenario on an SQLite file and a local port."""
    # Passkeys are bound to the address: browsers take localhost for secure.
    port = free_port()
    address = f"http://localhost:{port}"
    world = World(f"sqlite:///{folder / 'evening.db'}", folder, base_url=address)
    _owner(world)
    west = _scans(world)
    redirect_streams(world.parts, world.listener.port)
    working = threading.Thread(target=Worker(world.parts).run, args=(world.parts.stop,))  # sends changes to the pages
    with listening(world.app, port):
        working.start()
        try:
            yield AdminScenario(world, address, west)
        finally:
            world.parts.stop.set()
            working.join()
            world.close()


def _owner(world: World) -> None:
    with world.parts.database.writing() as session:
        context = ActionContext(SYSTEM, world.now, world.dice)
        a_login(session, EMAIL, context, organisation_id=world.organisation, role="owner", name="Ines Owner")


def _scans(world: World) -> Gate:
    """West and east both admit one ticket offline, and east a cancelled one; the quay gate goes offline."""
    world.tickets(*range(1, 60))
    west, east = world.a_gate("West door, lane 1"), world.a_gate("East door", gate=2)
    quay = world.a_gate("Quay side", gate=2)
    quay.anchor()
    quay.admit(40)
    quay.hello()
    quay.upload()
    quay.changes(quay.snapshot()[1])
    world.advance(minutes=7)
    for gate in (west, east):
        gate.anchor()
    for ticket in range(1, 24):
        west.admit(ticket)
    west.refuse(3, "already_used")
    west.refuse(3, "already_used")
    east.refuse(50, "wrong_gate")
    for ticket in range(24, 33):
        east.admit(ticket)
    west.admit(2, direction="exit", reason="exited")
    east.admit(5)
    world.tickets(51, state=TicketState.CANCELLED)
    east.admit(51)
    east.admit(2**63 + 9)
    for gate in (west, east):
        world.advance(seconds=2)
        gate.anchor()
        gate.upload()
        gate.hello()
        _, at = gate.snapshot()
        gate.changes(at)
    world.tickets(58, state=TicketState.BLOCKED)
    gate.changes(gate.snapshot()[1])
    spare = world.a_device("Spare tablet")
    world.revoke(spare)
    world.a_device("New lane 2")
    return west
