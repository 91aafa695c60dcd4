"""A ticket's row as the claims that a code of it would carry: for look-ups by hand, and for judging journals again."""

from __future__ import annotations

from shared.claims import Ticket
from shared.rows import TicketRow


def as_printed(row: TicketRow, event_number: int, *, issue: int | None = None, issued_at: int = 0) -> Ticket:
    """What the row says in the words of a ticket; `issue` where another one than the row's was shown."""
    # Key 0 signs nothing: nobody may take these claims for ones that somebody signed.
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
