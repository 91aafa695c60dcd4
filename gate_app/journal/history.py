"""Stores movements, this gate's own and those of other gates, and reads them by ticket."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from gate_app.storage.database import signed, unsigned
from shared.wire.snapshot import Movement, MovementKind

SIGHTING = 0
"""Not a movement: a later issue of a ticket was shown here, so the earlier ones are replaced."""

Place = tuple[int, int, int]

_READ = "device, branch, seq, kind, issue, code_hash, at, gate, zone, annuls_device, annuls_branch, annuls_seq"
_ADD = "INSERT OR IGNORE INTO movements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_OF_TICKET = f"SELECT {_READ} FROM movements WHERE ticket = ?"  # noqa: S608 - our own columns
_OF_EVENT = f"SELECT {_READ}, ticket FROM movements WHERE event = ? ORDER BY ticket"  # noqa: S608 - our own columns


def add(connection: sqlite3.Connection, movement: Movement, event: int) -> None:
    """Stores a movement in the open transaction; one that is already stored changes nothing."""
    connection.execute(_ADD, _line(movement, event))


def add_many(connection: sqlite3.Connection, movements: Iterable[Movement], event: int) -> None:
    """Stores the movements of other gates."""
    connection.executemany(_ADD, (_line(movement, event) for movement in movements))


def sight(connection: sqlite3.Connection, identity: Place, ticket_id: int, issue: int, event: int) -> None:
    """Stores that an issue of a ticket was shown, though nobody passed with it."""
    device, branch, seq = identity
    line = (signed(ticket_id), device, branch, seq, SIGHTING, issue, b"", 0, 0, 0, event, None, None, None)
    connection.execute(_ADD, line)


def of_ticket(connection: sqlite3.Connection, ticket_id: int) -> tuple[list[Movement], int]:
    """A ticket's movements, and the highest issue of it seen so far."""
    movements = []
    highest = 0
    for row in connection.execute(_OF_TICKET, (signed(ticket_id),)):
        highest = max(highest, row[4])
        if row[3] != SIGHTING:
            movements.append(_movement(ticket_id, row))
    return movements, highest


def of_event(connection: sqlite3.Connection, event: int) -> Iterator[tuple[int, list[Movement]]]:
    """All movements at one event, ticket by ticket."""
    cursor = connection.execute(_OF_EVENT, (event,))
    ticket, movements = None, list[Movement]()
    for row in cursor:
        if row[12] != ticket:
            if ticket is not None and movements:
                yield unsigned(ticket), movements
            ticket, movements = row[12], []
        if row[3] != SIGHTING:
            movements.append(_movement(unsigned(row[12]), row))
    if ticket is not None and movements:
        yield unsigned(ticket), movements


def _line(movement: Movement, event: int) -> tuple[object, ...]:
    return (
        signed(movement.ticket_id),
        movement.device,
        movement.branch,
        movement.seq,
        int(movement.kind),
        movement.issue,
        movement.code_hash,
        movement.at,
        movement.gate,
        movement.zone,
        event,
        *(movement.annuls or (None, None, None)),
    )


def _movement(ticket_id: int, row: tuple[int, ...]) -> Movement:
    device, branch, seq, kind, issue, code_hash, at, gate, zone, annuls_device, annuls_branch, annuls_seq = row[:12]
    annuls = None if annuls_device is None else (annuls_device, annuls_branch, annuls_seq)
    return Movement(
        device,
        branch,
        seq,
        MovementKind(kind),
        ticket_id,
        issue,
        bytes(code_hash),
        at,
        gate,
        zone,
        annuls,
    )
