"""A server with one organisation and one event; its clock is set by hand."""

from __future__ import annotations

import http.client
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from shared.tickets import Entitlement, TicketFlags
from shared.wire import enrolment
from shared.wire.snapshot import AnyRow, Row, TicketRow, TicketState
from sync_server.accounts.models import OrganisationRow
from sync_server.app import web_app
from sync_server.config import check
from sync_server.devices import enrolment as device_enrolment
from sync_server.devices import queries as devices
from sync_server.devices import service as device_service
from sync_server.devices.event_assignments import event_assignment
from sync_server.devices.identity import ServerKey
from sync_server.events.models import EventRecord
from sync_server.events.snapshot_rows import own_rows
from sync_server.migrations import schema
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.revisions import service as revisions
from sync_server.runtime import build_runtime
from sync_server.venues.models import GateRecord, VenueRecord
from sync_server.waiting.listener import StreamsListener
from tests.builders import an_id
from tests.contracts.sync.gates import HOUR, NOON, Gate
from tests.streams import start_listener


class Dice:
    """Entropy that is the same in every run, and never twice the same within one."""

    def __init__(self, seed: str) -> None:
        self._seed, self._count = seed.encode(), count()

    def __call__(self, n: int) -> bytes:
        blocks = (sha256(self._seed + str(next(self._count)).encode()).digest() for _ in range(-(-n // 32)))
        return b"".join(blocks)[:n]


class World:
    """The server's side: its clock is set by hand."""

    def __init__(self, database_url: str, folder: Path, *, fresh: bool = True, **settings: Any) -> None:
        self.now = NOON
        self.dice = Dice("world" if fresh else "another process")
        key = folder / "master.key"
        config = check({"database_url": database_url, "master_key_file": key, "log_level": "error"} | settings)
        (folder / "master.key").write_text("11" * 32)
        self.runtime = build_runtime(config, clock=lambda: self.now, entropy=self.dice)
        self.parts: Parts = self.runtime.parts
        schema.upgrade(self.parts.database.engine)
        self.app = web_app(self.runtime)
        self._listener: StreamsListener | None = None
        with self.parts.database.writing() as session:
            revisions.ensure_lineage(session, self.dice, self.now)
        self.key = ServerKey(self.parts.database, self.parts.sealer)
        self.organisation, self.event = an_id("org-marquee"), EventAtVenue(an_id("event-7"), 7, an_id("org-marquee"))
        if fresh:
            self.an_organisation("marquee")
            self.an_event(self.organisation)

    def close(self) -> None:
        self.runtime.close()
        if self._listener is not None:
            self._listener.thread.join()

    @property
    def listener(self) -> StreamsListener:
        """The streams listener of this server, started when it is first needed."""
        if self._listener is None:
            self._listener = start_listener(self.parts, self.app)
        return self._listener

    def connect_listener(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.listener.port, timeout=60)

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        self.now += int((seconds + 60 * minutes + 3600 * hours) * 1000)

    def client(self) -> FlaskClient:
        return self.app.test_client()

    def an_organisation(self, slug: str) -> str:
        with self.parts.database.writing() as session:
            row = OrganisationRow(
                id=an_id(f"org-{slug}"), slug=slug, name=slug.title(), currency="EUR", created_at=self.now
            )
            session.add(row)
        return an_id(f"org-{slug}")

    def an_event(self, organisation: str, *, status: str = "live", number: int = 7) -> EventAtVenue:
        with self.parts.database.writing() as session:
            venue = VenueRecord(
                id=an_id(f"venue-{number}"),
                organisation_id=organisation,
                slug=f"hall-{number}",
                name="Harbour Hall",
                timezone="Europe/Berlin",
                created_at=self.now,
                updated_at=self.now,
            )
            session.add(venue)
            session.flush()
            for gate in (1, 2):
                session.add(
                    GateRecord(
                        venue_id=venue.id,
                        number=gate,
                        organisation_id=organisation,
                        code=f"G{gate}",
                        name=("Main entrance", "Quay side")[gate - 1],
                        created_at=self.now,
                        updated_at=self.now,
                    )
                )
            event = EventRecord(
                id=an_id(f"event-{number}"),
                organisation_id=organisation,
                venue_id=venue.id,
                number=number,
                code=f"E{number}",
                slug=f"night-{number}",
                dedupe_key=f"night-{number}",
                name=f"Night Music {number}",
                status=status,
                start_at=self.now + HOUR,
                end_at=self.now + 6 * HOUR,
                sale_end_at=self.now + HOUR,
                timezone="Europe/Berlin",
                venue_name="Harbour Hall",
                city="Berlin",
                country="Germany",
                address="",
                created_at=self.now,
                updated_at=self.now,
            )
            session.add(event)
            session.flush()
            revisions.open_head(session, event.key)
            revisions.put(session, event.key, own_rows(event))
            from sync_server.events import queries as events

            revisions.put(session, event.key, events.gate_rows(session, event))
        return EventAtVenue(event.id, number, organisation)

    def put(self, rows: Iterable[AnyRow | Row]) -> None:
        with self.parts.database.writing() as session:
            revisions.put(session, self.event.key, list(rows))

    def tickets(self, *ids: int, state: TicketState = TicketState.VALID, issue: int = 1) -> None:
        self.put([a_ticket_row(id, state=state, issue=issue) for id in ids])

    def a_device(
        self, name: str = "Door", *, event: EventAtVenue | None = None, gate: int | None = 1, profile: str = "gate"
    ) -> str:
        event = event or self.event
        with self.parts.database.writing() as session:
            device = device_service.create(session, event.organisation, name, profile, self.context())
            work = event_assignment(session, event.organisation, event.id, gate=gate)
            device_service.assign(session, device, [work], self.context())
            return device.id

    def context(self) -> ActionContext:
        return ActionContext(SYSTEM, self.now, self.dice)

    def a_code(self, device_id: str, organisation: str | None = None) -> enrolment.Code:
        public = self.key.public
        with self.parts.database.writing() as session:
            device = devices.get(session, organisation or self.organisation, device_id)
            return device_enrolment.new_code(session, device, public, self.parts.sealer, self.context())

    def revoke(self, device_id: str) -> None:
        with self.parts.database.writing() as session:
            device = devices.get(session, self.organisation, device_id)
            device_service.revoke(session, device, "lost", self.context())

    def a_gate(self, name: str = "Door", *, gate: int = 1, event: EventAtVenue | None = None) -> Gate:
        device_id = self.a_device(name, gate=gate, event=event)
        gate_at = Gate(self, name, gate=gate)
        gate_at.device_id = device_id
        gate_at.enrol(self.a_code(device_id, (event or self.event).organisation))
        return gate_at


@dataclass(frozen=True)
class EventAtVenue:
    """What tests need of an event."""

    id: str
    number: int
    organisation: str

    @property
    def key(self) -> EventKey:
        return EventKey(self.organisation, self.id)


def a_ticket_row(id: int, *, state: TicketState = TicketState.VALID, issue: int = 1) -> TicketRow:
    """A valid single-entry ticket."""
    return TicketRow(
        ticket_id=id,
        issue=issue,
        state=state,
        ticket_type=0,
        zone=0,
        seat=0,
        seat_row="",
        seat_number="",
        valid_days=0,
        entitlement=Entitlement.SINGLE_ENTRY,
        limit=0,
        flags=TicketFlags.NONE,
        not_before=0,
        not_after=0,
        membership_tier="",
        membership_state=0,
        membership_until=0,
        number=f"E7-{id}",
        confirmation_code=f"C{id:07d}",
    )
