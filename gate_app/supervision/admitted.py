"""The latest admissions at a gate with what a steward knows of them: ticket, seat, reader and local time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from gate_app.clock.time_format import day_and_clock, iso
from gate_app.journal import history
from gate_app.journal.reading import AT_ONCE, Branch, branches_in, last_seq, read, stored
from gate_app.snapshots.roster import EventSnapshot
from shared.admission import Mode
from shared.journal.scans import Entry

Line = dict[str, Any]


def latest(connection: sqlite3.Connection, snapshots: Mapping[int, EventSnapshot], limit: int) -> list[Line]:
    """The latest admissions and exits that were not taken back yet, newest first."""
    branches = branches_in(connection)
    found = _to_take_back(connection, branches[-1]) if branches else iter(())
    return [_line(entry, snapshots.get(entry.event)) for entry in islice(found, limit)]


def _to_take_back(connection: sqlite3.Connection, branch: Branch) -> Iterator[Entry]:
    """From the end of the branch: journals are long, and only what has just happened is taken back."""
    until = last_seq(connection, branch.local)
    while until > 0:
        after = max(0, until - AT_ONCE)
        for seq, body in reversed(stored(connection, branch.local, after, until - after)):
            entry = read(body)
            if entry and entry.admitted and entry.ticket_id and entry.mode == Mode.REAL and seq <= until:
                movements, _ = history.of_ticket(connection, entry.ticket_id)
                if all(movement.annuls != (entry.device, entry.branch, seq) for movement in movements):
                    yield entry
        until = after


def _line(entry: Entry, snapshot: EventSnapshot | None) -> Line:
    row = snapshot.ticket(entry.ticket_id) if snapshot else None
    event = snapshot.rows.event if snapshot else None
    zone = snapshot.rows.zones.get(row.zone) if snapshot and row else None
    at = entry.wall + entry.offset
    return {
        "seq": entry.seq,
        "ticket": row.number if row and row.number else f"{entry.ticket_id:016x}",
        "row": row.seat_row or None if row else None,
        "seat": row.seat_number or None if row else None,
        "zone": zone.name if zone else None,
        "reader": entry.reader,
        "direction": entry.direction,
        "at": iso(at),
        "local": day_and_clock(at, event.timezone if event else ""),
        "event": event.name if event else None,
    }
