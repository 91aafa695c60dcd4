"""A gate on the evening of a concert: enrolled, with everybody's tickets on its disk, ready to be measured."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate_app.app import real_world
from gate_app.config import read_config
from gate_app.home import Home
from gate_app.identity import Identity, keep
from gate_app.lodge import Lodge, open_lodge
from gate_app.posting import Post, Posts
from shared.clock import wall_clock
from shared.snapshot import (
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
from shared.tickets import Entitlement, Ticket, TicketFlags, sign

ORGANISATION = "01890000-0000-7000-8000-000000000001"
EVENT, GATE, ZONE, KIND, KEY, DEVICE = 7, 1, 2, 1, 3, 1
HOUR = 3_600_000
LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Evening:
    """One sold-out concert: its key, its tickets' ids, and the moment at which it is measured."""

    key: Ed25519PrivateKey
    ids: tuple[int, ...]
    now: int

    @classmethod
    def of(cls, tickets: int) -> Evening:
        """So many tickets, with the random ids that tickets have."""
        ids = (number << 1 for number in random.Random(7).sample(range(1 << 63 - 1), tickets))
        return cls(Ed25519PrivateKey.generate(), tuple(ids), wall_clock())

    def code(self, ticket_id: int) -> str:
        """What is printed on one ticket."""
        issued_at = self.now // 1000 - 86_400
        return sign(Ticket(KEY, EVENT, ticket_id, 1, issued_at, KIND, ZONE), self.key)

    def rows(self) -> Iterator[Row]:
        """Everything a gate holds of it."""
        yield from (pack(row) for row in self._small_rows())
        yield from map(pack, self.tickets())

    def tickets(self) -> Iterator[TicketRow]:
        """What a gate holds of each ticket."""
        return (self._ticket(place, ticket_id) for place, ticket_id in enumerate(self.ids, 1))

    def frames(self) -> Iterator[Sequence[Row]]:
        """The same in the order and size in which a server sends them."""
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
            TicketTypeRow(KIND, "Regular"),
            KeyRow(KEY, ORGANISATION, public, "active"),
            PolicyRow(EVENT),
        )

    def _ticket(self, place: int, ticket_id: int) -> TicketRow:
        chance = random.Random(ticket_id)
        return TicketRow(
            ticket_id=ticket_id,
            issue=1,
            state=TicketState.VALID,
            ticket_type=KIND,
            zone=ZONE,
            seat=place,
            seat_row=f"{place // 500}",
            seat_number=f"{place % 500}",
            valid_days=0,
            entitlement=Entitlement.SINGLE_ENTRY,
            limit=0,
            flags=TicketFlags.NONE,
            not_before=0,
            not_after=0,
            membership_tier="",
            membership_state=MembershipState.NONE,
            membership_until=0,
            number=f"NIGHT-{place}",
            confirmation_code="".join(chance.choices(LETTERS, k=8)),
        )


def settle(evening: Evening, folder: Path) -> Lodge:
    """A gate that has just finished its first sync; the caller closes it."""
    home = Home(folder).ready()
    keep(home.identity, _identity())
    Posts(home.posts).assign([Post(EVENT, "event", "Opening Night", GATE, "W")])
    lodge = open_lodge(home, read_config(home.settings), real_world())
    builder = lodge.roster.builder(EVENT)
    for rows in evening.frames():
        builder.add(list(rows))
    lodge.roster.install(EVENT, builder, Position(os.urandom(8), 1, builder.digest), evening.now)
    heard = lodge.time.monotonic_ms()
    lodge.time.hear(wall_clock(), heard, heard)
    return lodge


def _identity() -> Identity:
    server = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    return Identity(
        server="http://127.0.0.1:9",
        device_number=DEVICE,
        device_id="device",
        device_name="measured",
        organisation=ORGANISATION,
        organisation_name="The House",
        device_private=os.urandom(32),
        server_public=server,
    )
