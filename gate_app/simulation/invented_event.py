"""An event that nobody sells, and a gate at it: a home of its own with tickets, keys and a roster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate_app.gate_context import GateContext, HostEnvironment, open_gate_context
from gate_app.installation.assignments import AssignmentStore, EventAssignment
from gate_app.installation.config import Config
from gate_app.installation.home import Home
from gate_app.installation.identity import Identity, keep
from shared.tickets import Entitlement, Ticket, TicketFlags, sign
from shared.wire.snapshot import (
    AnyRow,
    EventDay,
    EventRow,
    GateRow,
    KeyRow,
    MembershipState,
    PolicyRow,
    Position,
    TicketRow,
    TicketState,
    TicketTypeRow,
    ZoneRow,
    pack,
)

ORGANISATION = "01890000-0000-7000-8000-000000000002"
EVENT, GATE, ZONE, TICKET_TYPE, KEY, DEVICE = 1, 1, 1, 1, 1, 1
NAME = "Rehearsal (simulated guests)"
HOUR_MS = 3_600_000
SEATS_A_ROW = 20

Entropy = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class InventedTicket:
    """A ticket of the invented event: its id, and whether the organiser cancelled it."""

    number: int
    ticket_id: int
    cancelled: bool = False


class InventedEvent:
    """The organiser's side: the key that signs tickets, and the rows that a server would send."""

    def __init__(self, now: int, entropy: Entropy) -> None:
        """An event that is live at `now`, in ms."""
        self.tickets: list[InventedTicket] = []
        self._now = now
        self._entropy = entropy
        self._key = Ed25519PrivateKey.from_private_bytes(entropy(32))

    def sell(self, *, cancelled: bool = False) -> str:
        """Adds a ticket and returns its code."""
        ticket = InventedTicket(len(self.tickets) + 1, int.from_bytes(self._entropy(8), "big") >> 1, cancelled)
        self.tickets.append(ticket)
        return self._signed(ticket.ticket_id, self._key)

    def forge(self) -> str:
        """A code for a ticket of this event that somebody else signed."""
        return self._signed(
            int.from_bytes(self._entropy(8), "big") >> 1, Ed25519PrivateKey.from_private_bytes(self._entropy(32))
        )

    def _signed(self, ticket_id: int, key: Ed25519PrivateKey) -> str:
        return sign(Ticket(KEY, EVENT, ticket_id, 1, self._now // 1000 - 86_400, TICKET_TYPE, ZONE), key)

    def rows(self) -> list[AnyRow]:
        """The rows of the event's snapshot."""
        day = EventDay("2026-07-04", self._now - 12 * HOUR_MS, self._now + 12 * HOUR_MS)
        times = (self._now - HOUR_MS, self._now + 6 * HOUR_MS)
        return [
            EventRow(EVENT, ORGANISATION, NAME, "live", *times, "Europe/Berlin", (day,)),
            GateRow(GATE, "A", "Main entrance"),
            ZoneRow(ZONE, "Stalls"),
            TicketTypeRow(TICKET_TYPE, "Regular"),
            KeyRow(KEY, ORGANISATION, self._key.public_key().public_bytes_raw(), "active"),
            PolicyRow(EVENT),
            *map(_row, self.tickets),
        ]


def _row(ticket: InventedTicket) -> TicketRow:
    row, seat = divmod(ticket.number - 1, SEATS_A_ROW)
    return TicketRow(
        ticket_id=ticket.ticket_id,
        issue=1,
        state=TicketState.CANCELLED if ticket.cancelled else TicketState.VALID,
        ticket_type=TICKET_TYPE,
        zone=ZONE,
        seat=ticket.number,
        seat_row=str(row + 1),
        seat_number=str(seat + 1),
        valid_days=0,
        entitlement=Entitlement.SINGLE_ENTRY,
        limit=0,
        flags=TicketFlags.NONE,
        not_before=0,
        not_after=0,
        membership_tier="",
        membership_state=MembershipState.NONE,
        membership_until=0,
        number=f"REHEARSAL-{ticket.number:04d}",
        confirmation_code=f"REH{ticket.number:05d}",
    )


def open_gate(event: InventedEvent, folder: Path, host: HostEnvironment) -> GateContext:
    """A gate as after its first sync, in a new home; the caller closes it."""
    home = Home(folder).ready()
    keep(home.identity, _identity(host.entropy))
    AssignmentStore(home.assignments).assign([EventAssignment(EVENT, "rehearsal", NAME, GATE, "A")])
    context = open_gate_context(home, Config.model_construct(), host)
    builder = context.roster.builder(EVENT)
    builder.add([pack(row) for row in event.rows()])
    now = host.wall()
    context.roster.install(EVENT, builder, Position(host.entropy(8), 1, builder.digest), now)
    monotonic_ms = context.time.monotonic_ms()
    context.time.hear(now, monotonic_ms, monotonic_ms)
    return context


def _identity(entropy: Entropy) -> Identity:
    server = Ed25519PrivateKey.from_private_bytes(entropy(32)).public_key().public_bytes_raw()
    return Identity(
        server="https://rehearsal.invalid",
        device_number=DEVICE,
        device_id="rehearsal",
        device_name="Rehearsal",
        organisation=ORGANISATION,
        organisation_name="Rehearsal",
        device_private=entropy(32),
        server_public=server,
    )
