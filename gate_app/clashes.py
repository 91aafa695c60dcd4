"""Tickets that were admitted here and elsewhere more often than they allow: found when the other gate's news arrive."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from gate_app import history
from gate_app.database import signed
from gate_app.gathering import NO_POLICY, as_code
from gate_app.roster import Book
from shared.admission import Direction, Mode
from shared.attempts import Attempt, Passage
from shared.entitlements import spent
from shared.movements import passages
from shared.scene import set_scene
from shared.snapshot import EventRow, TicketRow


def note(connection: sqlite3.Connection, book: Book, ticket_ids: Iterable[int], device: int) -> int:
    """Keeps the clashes among these tickets inside the open transaction; answers how many are new."""
    found = [ticket for ticket in ticket_ids if _clashes(connection, book, ticket, device)]
    before = connection.total_changes
    connection.executemany("INSERT OR IGNORE INTO clashes VALUES (?)", ((signed(ticket),) for ticket in found))
    return connection.total_changes - before


def _clashes(connection: sqlite3.Connection, book: Book, ticket_id: int, device: int) -> bool:
    movements, _ = history.of_ticket(connection, ticket_id)
    told = passages(movements, None, None).passages
    devices = {passage.device for passage in told}
    row, event = book.ticket(ticket_id), book.facts.event
    # Only what this gate took part in is its own to tell; the organiser's page knows all.
    if device not in devices or len(devices) < 2 or row is None or event is None:
        return False
    return any(_too_many(row, event, book, told[:place], told[place]) for place in range(len(told)))


def _too_many(row: TicketRow, event: EventRow, book: Book, before: tuple[Passage, ...], step: Passage) -> bool:
    if step.direction is not Direction.ENTRY:
        return False
    code = as_code(book, row, event.organisation)
    attempt = Attempt(
        now=step.at,
        direction=Direction.ENTRY,
        mode=Mode.REAL,
        code=code,
        organisation=event.organisation,
        event=event,
        gate=None,
        zone=None,
        row=row,
        ticket_type=None,
        history=before,
        policy=NO_POLICY,
        snapshot_as_of=0,
    )
    return spent(set_scene(attempt, event, code), step.at) is not None
