"""What rows 5 to 11 need to know about an attempt: the valid terms of the ticket, and its attendance."""

from __future__ import annotations

from msgspec import Struct

from shared.attempts import Attempt, Direction
from shared.movements import NEVER_CAME, Attendance, attendance
from shared.tickets import ReadTicket, Ticket
from shared.wire.snapshot import EventRow, TicketRow


class Scene(Struct, frozen=True):
    """The input of rows 5 to 11."""

    attempt: Attempt
    event: EventRow
    code: ReadTicket
    known: bool  # the snapshot has this issue
    terms: Ticket | TicketRow  # which days, limits and zone apply
    attendance: Attendance

    @property
    def is_exit(self) -> bool:
        """Whether this is an exit, to which rows 5 to 9 do not apply."""
        return self.attempt.direction == Direction.EXIT


def set_scene(attempt: Attempt, event: EventRow, code: ReadTicket) -> Scene:
    """Computes once what several rows need."""
    row, now = attempt.row, attempt.now
    known = knows(code.ticket, row)
    terms = row if row is not None and known else code.ticket
    came = attendance(attempt.history, event, now) if attempt.history else NEVER_CAME
    return Scene(attempt, event, code, known, terms, came)


def knows(ticket: Ticket, row: TicketRow | None) -> bool:
    """Whether the row covers this code; a code of a higher issue is treated like an unknown ticket."""
    return row is not None and ticket.issue <= row.issue


def zone_of(ticket: Ticket, row: TicketRow | None) -> int:
    """The number of the ticket's zone: from its row if that covers this code, otherwise from the claims."""
    return row.zone if row is not None and ticket.issue <= row.issue else ticket.zone


def type_of(ticket: Ticket, row: TicketRow | None) -> int:
    """The number of the ticket's type, from row or claims like the zone."""
    return row.ticket_type if row is not None and ticket.issue <= row.issue else ticket.ticket_type
