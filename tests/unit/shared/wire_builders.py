"""Rows, entries and movements that are valid by default, for tests of what travels between gate and server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import structs

from shared.claims import Entitlement, TicketFlags
from shared.journal.scans import GENESIS, Entry, encode, entry_hash
from shared.wire.rows import (
    AnyRow,
    DeviceRow,
    EventDay,
    EventRow,
    GateRow,
    KeyRow,
    MembershipState,
    Movement,
    MovementKind,
    PolicyRow,
    SupervisorRow,
    TicketRow,
    TicketState,
    TicketTypeRow,
    ZoneRow,
)

EIGHT = 1_783_101_600_000  # 2026-07-03T18:00:00Z, ms
HOUR = 3_600_000


def a_key(seed: int = 1) -> Ed25519PrivateKey:
    """The same key for the same seed."""
    return Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)


def a_ticket_row(**different: Any) -> TicketRow:
    """A valid seat in zone 1."""
    row = TicketRow(
        ticket_id=0xF1E2D3C4B5A69788,
        issue=1,
        state=TicketState.VALID,
        ticket_type=1,
        zone=1,
        seat=204,
        seat_row="7",
        seat_number="12",
        valid_days=0,
        entitlement=Entitlement.SINGLE_ENTRY,
        limit=0,
        flags=TicketFlags.NONE,
        not_before=0,
        not_after=0,
        membership_tier="",
        membership_state=MembershipState.NONE,
        membership_until=0,
        number="ABBA-204",
        confirmation_code="K7QX2M9P",
    )
    return replace(row, **different)


def an_event_row(**different: Any) -> EventRow:
    """A live event of one day."""
    row = EventRow(
        number=7,
        organisation="org-1",
        name="Night of the Organ",
        status="live",
        starts_at=EIGHT,
        ends_at=EIGHT + 4 * HOUR,
        timezone="Europe/Berlin",
        days=(EventDay("2026-07-03", EIGHT - 15 * HOUR, EIGHT + 9 * HOUR),),
    )
    return replace(row, **different)


def one_row_of_each_kind() -> tuple[AnyRow, ...]:
    """All that comes down, once."""
    return (
        an_event_row(rescheduled_at=EIGHT + HOUR, anti_passback=True, venue="Town hall"),
        GateRow(2, "A", "North door", zones=(1, 3), capacity=400, step_free=True),
        ZoneRow(1, "Floor", "ga_standing", capacity=1_200, membership_tier="gold"),
        TicketTypeRow(1, "Concession", "student card", "width_mm = 86"),
        a_ticket_row(flags=TicketFlags.WHEELCHAIR | TicketFlags.VIP, name="Zoë", notes="aisle"),
        KeyRow(3, "org-1", bytes(range(32)), "active"),
        DeviceRow(4, "Gate A left", bytes(range(32, 64)), revoked=True),
        SupervisorRow(9, "Ruth", "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA"),
        PolicyRow(known_tickets_only=True, max_snapshot_age_ms=HOUR),
    )


def a_movement(**different: Any) -> Movement:
    """An entry through gate 2."""
    movement = Movement(4, 1, 17, MovementKind.ENTRY, a_ticket_row().ticket_id, 1, bytes(range(16)), EIGHT, 2, 1)
    return structs.replace(movement, **different)


def an_entry(**different: Any) -> Entry:
    """A ticket shown and admitted at gate 2."""
    entry = Entry(
        device=4,
        branch=1,
        seq=1,
        kind="presentation",
        event=7,
        gate=2,
        reader="camera",
        operator="",
        ticket_id=a_ticket_row().ticket_id,
        issue=1,
        code_hash=bytes(range(16)),
        direction="entry",
        mode="real",
        admitted=True,
        reason="admitted",
        notices=("vip",),
        override_by=0,
        override_reason="",
        override_denial="",
        wall=EIGHT,
        monotonic=60_000,
        boot=b"boot-one",
        offset=-120,
        uncertainty=40,
        lineage=b"lineage1",
        revision=33,
        digest=bytes(range(16, 32)),
        previous=GENESIS,
        details={"zone": 1},
    )
    return structs.replace(entry, **different)


def an_anchor(monotonic: int, server: int, rtt: int = 0, **different: Any) -> Entry:
    """The server's time, recorded in the journal."""
    details = {"server": server, "monotonic": monotonic, "rtt": rtt}
    return an_entry(kind="time_anchor", ticket_id=0, admitted=False, monotonic=monotonic, details=details, **different)


def a_journal(*entries: Entry) -> list[bytes]:
    """These entries as one chain from the beginning, numbered where they are not."""
    bodies: list[bytes] = []
    previous = GENESIS
    for place, entry in enumerate(entries):
        bodies.append(encode(structs.replace(entry, seq=place + 1 if entry.seq == 1 else entry.seq, previous=previous)))
        previous = entry_hash(bodies[-1])
    return bodies
