"""Turns a ticket's row into the claims its code would carry, for look-ups by hand and for re-checking journals."""

from __future__ import annotations

from shared.claims import Ticket
from shared.wire.rows import TicketRow


def as_printed(row: TicketRow, event_number: int, *, issue: int | None = None, issued_at: int = 0) -> Ticket:
    """The row as ticket claims; `issue` if another issue than the row's was shown."""
    # Key 0 never signs, so these claims cannot be mistaken for signed ones.
    return Ticket(
        0,
        event_number,
        row.ticket_id,
        row.issue if issue is None else issue,
        issued_at,
        row.ticket_type,
        row.zone,
        row.seat,
        row.valid_days,
        row.entitlement,
        row.limit,
        row.flags,
        row.not_before,
        row.not_after,
    )
