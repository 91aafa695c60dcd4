"""A gate with a whole event on its disk, enrolled and ready to be measured."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate_app.app import this_host
from gate_app.gate_context import GateContext, open_gate_context
from gate_app.installation.assignments import AssignmentStore, EventAssignment
from gate_app.installation.config import read_config
from gate_app.installation.home import Home
from gate_app.installation.identity import Identity, keep
from shared.clock import wall_clock
from shared.tickets import Entitlement, Ticket, TicketFlags, sign
from shared.wire.snapshot import (
    FRAME_ROWS,
    AnyRow,
    EventDay,
    EventRow,
    GateRow,
    KeyRow,
    MembershipState,
    PolicyRow,
    Position,
    Row,
    TicketRow,
    TicketState,
    TicketTypeRow,
    ZoneRow,
    pack,
)

ORGANISATION = "01890000-0000-7000-8000-000000000001"
EVENT, GATE, ZONE, TICKET_TYPE, KEY, DEVICE = 7, 1, 2, 1, 3, 1
HOUR = 3_600_000
LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class LoadedEvent:
    """A sold-out event: its key, its ticket ids, and the time of the measurement."""

    key: Ed25519PrivateKey
    ids: tuple[int, ...]
    now: int

    @classmethod
    def of(cls, tickets: int) -> LoadedEvent:
        """An event with so many tickets, with random ids like real ones."""
        ids = (number << 1 for number in random.Random(7).sample(range(1 << 63 - 1), tickets))
        return cls(Ed25519PrivateKey.generate(), tuple(ids), wall_clock())

    def code(self, ticket_id: int) -> str:
        """The code of one ticket."""
        issued_at = self.now // 1000 - 86_400
        return sign(Ticket(KEY, EVENT, ticket_id, 1, issued_at, TICKET_TYPE, ZONE), self.key)

    def rows(self) -> Iterator[Row]:
        """All rows of the event's snapshot."""
        yield from (pack(row) for row in self._small_rows())
        yield from map(pack, self.tickets())

    def tickets(self) -> Iterator[TicketRow]:
        """The row of each ticket."""
        return (self._ticket(seat, ticket_id) for seat, ticket_id in enumerate(self.ids, 1))

    def frames(self) -> Iterator[Sequence[Row]]:
        """The rows in the frames in which a server sends them."""
        rows = sorted(self.rows(), key=lambda row: (row.kind, row.key))
        yield from (rows[start : start + FRAME_ROWS] for start in range(0, len(rows), FRAME_ROWS))

    def _small_rows(self) -> tuple[AnyRow, ...]:
        start = self.now - HOUR
        day = EventDay("2026-07-04", start - 12 * HOUR, start + 12 * HOUR)
        public = self.key.public_key().public_bytes_raw()
        return (
            EventRow(EVENT, ORGANISATION, "Opening Night", "live", start, start + 6 * HOUR, "Europe/Berlin", (day,)),
            GateRow(GATE, "W", "West"),
            ZoneRow(ZONE, "Floor"),
            TicketTypeRow(TICKET_TYPE, "Regular"),
            KeyRow(KEY, ORGANISATION, public, "active"),
            PolicyRow(EVENT),
        )

    def _ticket(self, seat: int, ticket_id: int) -> TicketRow:
        random_source = random.Random(ticket_id)
        return TicketRow(
            ticket_id=ticket_id,
            issue=1,
            state=TicketState.VALID,
            ticket_type=TICKET_TYPE,
            zone=ZONE,
            seat=seat,
            seat_row=f"{seat // 500}",
            seat_number=f"{seat % 500}",
            valid_days=0,
            entitlement=Entitlement.SINGLE_ENTRY,
            limit=0,
            flags=TicketFlags.NONE,
            not_before=0,
            not_after=0,
            membership_tier="",
            membership_state=MembershipState.NONE,
            membership_until=0,
            number=f"NIGHT-{seat}",
            confirmation_code="".join(random_source.choices(LETTERS, k=8)),
        )


def install_gate(event: LoadedEvent, folder: Path) -> GateContext:
    """A gate as after its first sync; the caller closes it."""
    home = Home(folder).ready()
    keep(home.identity, _identity())
    AssignmentStore(home.assignments).assign([EventAssignment(EVENT, "event", "Opening Night", GATE, "W")])
    context = open_gate_context(home, read_config(home.settings), this_host())
    builder = context.roster.builder(EVENT)
    for rows in event.frames():
        builder.add(list(rows))
    context.roster.install(EVENT, builder, Position(os.urandom(8), 1, builder.digest), event.now)
    now = context.time.monotonic_ms()
    context.time.hear(wall_clock(), now, now)
    return context


def _identity() -> Identity:
    server = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    return Identity(
        server="http://127.0.0.1:9",
        device_number=DEVICE,
        device_id="device",
        device_name="measured",
        organisation=ORGANISATION,
        organisation_name="The Venue Ltd",
        device_private=os.urandom(32),
        server_public=server,
    )
