"""The facts of one attempt once its code is believed: whose word holds on the ticket, and what its history means."""

from __future__ import annotations

from dataclasses import dataclass

from shared.attempts import Attempt, Direction
from shared.movements import NEVER_CAME, Attendance, attendance
from shared.snapshot import EventRow, TicketRow
from shared.tickets import ReadTicket, Ticket


@dataclass(frozen=True, slots=True)
class Scene:
    """What rows 5 to 11 look at."""

    attempt: Attempt
    event: EventRow
    code: ReadTicket
    known: bool  # the snapshot speaks of this very issue
    terms: Ticket | TicketRow  # whose days, limits and zone hold
    attendance: Attendance

    @property
    def is_exit(self) -> bool:
        """Nobody is kept in by rows 5 to 9."""
        return self.attempt.direction == Direction.EXIT


def set_scene(attempt: Attempt, event: EventRow, code: ReadTicket) -> Scene:
    """Gather once what several rows ask for."""
    row, now = attempt.row, attempt.now
    known = knows(code.ticket, row)
    terms = row if row is not None and known else code.ticket
    came = attendance(attempt.history, event, now) if attempt.history else NEVER_CAME
    return Scene(attempt, event, code, known, terms, came)


def knows(ticket: Ticket, row: TicketRow | None) -> bool:
    """Whether the row speaks of this code: one of a higher issue is trusted like an unknown ticket."""
    return row is not None and ticket.issue <= row.issue


def zone_of(ticket: Ticket, row: TicketRow | None) -> int:
    """The number of the zone that the ticket opens: the server's word where it speaks of this code, else the claim."""
    return row.zone if row is not None and ticket.issue <= row.issue else ticket.zone


def type_of(ticket: Ticket, row: TicketRow | None) -> int:
    """The number of the ticket's type, by the same word."""
    return row.ticket_type if row is not None and ticket.issue <= row.issue else ticket.ticket_type
