"""What stands on a ticket's badge, from the rows that the gate has; a name only where the event has names at gates."""

from __future__ import annotations

from gate_app.clock.time_format import date
from gate_app.snapshots.roster import EventSnapshot
from shared.wire.snapshot import TicketRow


def words_of(snapshot: EventSnapshot, row: TicketRow, code: str) -> dict[str, str]:
    """The words that a layout may show; `code` is the ticket's, if it was read here."""
    rows = snapshot.rows
    kind, zone, event = rows.types.get(row.ticket_type), rows.zones.get(row.zone), rows.event
    return {
        "name": row.name,
        "type": kind.name if kind else "",
        "zone": zone.name if zone else "",
        "row": row.seat_row,
        "seat": row.seat_number,
        "number": row.number,
        "event": event.name if event else "",
        "venue": event.venue if event else "",
        "date": date(event.starts_at, event.timezone) if event else "",
        "code": code,
    }
