"""Builds the JSON object of one scan from its verdict."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gate_app.clock.time_format import iso
from gate_app.scanning.gathering import Gathered
from shared.attempts import Attempt, Passage, Verdict
from shared.errors import GatehouseError
from shared.tickets import ReadTicket, TicketFlags
from shared.verdicts.scene import type_of, zone_of
from shared.wire.snapshot import GateRow


def answer(gathered: Gathered, verdict: Verdict, reader: str) -> dict[str, Any]:
    """Everything that is printed and shown about one presentation; whether it was recorded is filled in afterwards."""
    attempt = gathered.attempt
    gates = gathered.snapshot.rows.gates if gathered.snapshot else {}
    return {
        "verdict": "admit" if verdict.admitted else "deny",
        "reason": str(verdict.reason),
        "message": verdict.message,
        "notices": list(verdict.notices),
        "ticket": ticket_of(gathered),
        "history": [_passage(passage, gates) for passage in attempt.history],
        "seq": None,
        "decided_at": iso(attempt.now),
        "committed": False,
        "direction": str(attempt.direction),
        "mode": str(attempt.mode),
        "gate": attempt.gate.code if attempt.gate else None,
        "event": attempt.event.name if attempt.event else None,
        "reader": reader,
        "again": False,
    }


def unjudged(why: GatehouseError, now: int) -> dict[str, Any]:
    """The line of a code that could not be judged, such as an unknown number typed by hand; nothing was recorded."""
    return {
        "verdict": "deny",
        "reason": why.error_code,
        "message": why.message,
        "notices": [],
        "ticket": None,
        "history": [],
        "seq": None,
        "decided_at": iso(now),
        "committed": False,
    }


def ticket_of(gathered: Gathered) -> dict[str, Any] | None:
    """What staff may see of a ticket whose signature is valid."""
    attempt = gathered.attempt
    if not isinstance(attempt.code, ReadTicket):
        return None
    ticket, row = attempt.code.ticket, attempt.row
    fields: dict[str, Any] = {
        "id": f"{ticket.ticket_id:016x}",
        "issue": ticket.issue,
        "event": ticket.event_number,
        "type": _type_name(gathered, type_of(ticket, row)),
        "zone": _zone_name(attempt, zone_of(ticket, row)),
        "seat": (row.seat_number if row else "") or (str(ticket.seat) if ticket.seat else None),
        "row": (row.seat_row or None) if row else None,
        "number": row.number if row else None,
        "flags": flag_names(int(row.flags if row else ticket.flags)),
        "known": row is not None,
    }
    if row is not None:
        fields |= {name: value for name, value in (("name", row.name), ("notes", row.notes)) if value}
    return fields


def _type_name(gathered: Gathered, number: int) -> str | None:
    found = gathered.attempt.ticket_type
    return found.name if found is not None else (str(number) if number else None)


def _zone_name(attempt: Attempt, number: int) -> str | None:
    return attempt.zone.name if attempt.zone is not None else (str(number) if number else None)


@lru_cache(maxsize=256)
def flag_names(flags: int) -> tuple[str, ...]:
    """The flags of a ticket by name."""
    return tuple(flag.name.lower() for flag in TicketFlags if flag & flags and flag.name)


def _passage(passage: Passage, gates: dict[int, GateRow]) -> dict[str, Any]:
    gate = gates.get(passage.gate)
    return {
        "at": iso(passage.at),
        "direction": str(passage.direction),
        "gate": gate.code if gate else None,
        "device": passage.device,
        "seq": passage.seq,
    }
