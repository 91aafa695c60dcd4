"""Attempts that are admitted, so that each test changes the one thing it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from msgspec import structs

from shared.admission import Attempt, Direction, Mode, Passage
from shared.days import event_days
from shared.tickets import Entitlement, ReadTicket, Ticket, TicketFlags
from shared.wire.snapshot import EventRow, GateRow, MembershipState, PolicyRow, TicketRow, TicketState, ZoneRow

HOUSE, EVENT, TICKET, FLOOR = "the house", 7, 42, 1
GATE_A = GateRow(1, "A", "Main entrance")


def ms(time: str) -> int:
    """Milliseconds of an ISO time; `19:30` means the evening of the concert, in Berlin."""
    text = f"2026-07-04T{time}:00+02:00" if len(time) == 5 else time
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def an_event(**changes: Any) -> EventRow:
    """A concert of 4 July, 20:00 to 02:00, live."""
    starts, ends = ms("20:00"), ms("2026-07-05T02:00:00+02:00")
    days = event_days(starts, ends, "Europe/Berlin")
    return replace(EventRow(EVENT, HOUSE, "Concert", "live", starts, ends, "Europe/Berlin", days), **changes)


def a_ticket(**changes: Any) -> Ticket:
    """For the floor, issued the day before, single entry."""
    return structs.replace(Ticket(1, EVENT, TICKET, 1, ms("2026-07-03T12:00:00+02:00") // 1000, zone=FLOOR), **changes)


def a_row(**changes: Any) -> TicketRow:
    """What the snapshot says of `a_ticket`."""
    row = TicketRow(
        ticket_id=TICKET,
        issue=1,
        state=TicketState.VALID,
        ticket_type=0,
        zone=FLOOR,
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
        membership_state=MembershipState.NONE,
        membership_until=0,
        number="GIG-1",
        confirmation_code="",
    )
    return replace(row, **changes)


def a_code(**changes: Any) -> ReadTicket:
    """A believed code of `a_ticket`."""
    return structs.replace(ReadTicket(a_ticket(), HOUSE, False, b"c" * 16), **changes)


def an_attempt(**changes: Any) -> Attempt:
    """Half past seven at gate A: admitted."""
    attempt = Attempt(
        now=ms("19:30"),
        direction=Direction.ENTRY,
        mode=Mode.REAL,
        code=a_code(),
        organisation=HOUSE,
        event=an_event(),
        gate=GATE_A,
        zone=ZoneRow(FLOOR, "floor", "ga_standing"),
        row=a_row(),
        ticket_type=None,
        history=(),
        policy=PolicyRow(),
        snapshot_as_of=ms("19:00"),
        gates=(GATE_A,),
    )
    return structs.replace(attempt, **changes)


def entered(time: str, *, gate: int = 1, device: int = 1, seq: int = 1, zone: int = FLOOR) -> Passage:
    """An entry that counts."""
    return Passage(ms(time), device, 0, seq, Direction.ENTRY, gate, zone)


def left(time: str, *, gate: int = 1, device: int = 1, seq: int = 2, zone: int = FLOOR) -> Passage:
    """An exit that counts."""
    return Passage(ms(time), device, 0, seq, Direction.EXIT, gate, zone)
