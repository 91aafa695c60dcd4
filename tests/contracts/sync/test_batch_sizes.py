"""An evening leaves the same rows, however its journals were cut into uploads."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from shared.journal.scans import EntryKind
from shared.wire.snapshot import TicketState
from sync_server.outbox.models import OutboxRow
from sync_server.plumbing.sql.tables import Base
from sync_server.revisions import queries as revisions
from sync_server.revisions.models import HeadRow
from sync_server.scans.models import ConflictRow, Journal, MovementRow, Presence, ScanCount, ScanEntry
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.world import World, a_ticket_row

TICKETS, SCANS = 9, 70
UNKNOWN = 2**63 + TICKETS
TABLES: dict[type[Base], frozenset[str]] = {
    ScanEntry: frozenset(),
    Presence: frozenset(),
    # Numbered as they come, and sent to other gates with the time that is known by then: they are never sent again.
    MovementRow: frozenset({"arrival", "at"}),
    ScanCount: frozenset(),
    Journal: frozenset(),
    ConflictRow: frozenset({"id"}),
}
"""What uploads write, and which columns may differ."""


def an_evening(world: World, seed: int) -> list[Gate]:
    """Two gates and their journals: guests come, leave, are refused, and come twice; tickets are blocked meanwhile."""
    chance = random.Random(seed)
    world.tickets(*range(1, TICKETS + 1))
    gates = [world.a_gate(f"Gate {number}", gate=number) for number in (1, 2)]
    for number in range(SCANS):
        gate, ticket = chance.choice(gates), chance.choice([*range(1, TICKETS + 1), UNKNOWN])
        held = {"lineage": head_of(world).lineage, "revision": chance.randint(1, head_of(world).revision)}
        match chance.randint(0, 11):
            case 0:
                gate.refuse(ticket, "already_used")
            case 1:
                gate.admit(ticket, direction="exit", reason="exited", **held)
            case 2:
                gate.admit(ticket, mode="test", reason="test_ok")
            case 3:
                gate.anchor()
            case 4 if gate.bodies:
                annulled = [gate.number, gate.branch, chance.randint(1, len(gate.bodies))]
                gate.write(kind=EntryKind.ANNULMENT, ticket_id=ticket, details={"annuls": annulled})
            case 5:
                world.put([a_ticket_row(chance.randint(1, TICKETS), state=chance.choice(list(TicketState)))])
            case 6:
                gate.boot, gate.started = b"boot%04d" % number, world.now - 1_000
            case 7:
                gate.write(kind="something new", ticket_id=ticket)
            case _:
                gate.admit(ticket, **held)
    return gates


def head_of(world: World) -> revisions.Head:
    with world.parts.database.reading() as session:
        head = revisions.head(session, world.event.key)
    assert head is not None
    return head


def cut(bodies: list[bytes], sizes: Iterator[int]) -> list[list[bytes]]:
    rest = iter(bodies)
    return [part for size in sizes if (part := list(islice(rest, size)))][: len(bodies)]


def sizes(how: str, count: int) -> Iterator[int]:
    chance = random.Random(how)
    return {
        "one by one": iter([1] * count),
        "all at once": iter([count]),
        "in batches": (chance.randint(1, 30) for _ in range(count)),
    }[how]


def uploaded(world: World, gates: list[Gate], how: str) -> dict[str, list[str]]:
    """The rows that the server has once everything was uploaded, in turns; it begins with none."""
    with world.parts.database.writing() as session:
        for table in [*TABLES, OutboxRow]:
            session.execute(delete(table))
        session.execute(update(HeadRow).values(arrivals=0))
    parts = [(gate, cut(gate.bodies, sizes(how, len(gate.bodies)))) for gate in gates]
    for turn in range(max(len(batches) for _, batches in parts)):
        for gate, batches in parts:
            if turn < len(batches):
                gate.upload(batches[turn])
    with world.parts.database.reading() as session:
        found = {table: session.execute(select(*compared(table)).where(*holding(table))) for table in TABLES}
        return {table.__tablename__: sorted(map(repr, rows)) for table, rows in found.items()}


def compared(table: type[Base]) -> list[Any]:
    return [column for column in table.__table__.columns if column.name not in TABLES[table]]


def holding(table: type[Base]) -> list[Any]:
    """Conflicts that later entries withdrew were never seen where those came at once."""
    return [ConflictRow.withdrawn_at.is_(None)] if table is ConflictRow else []


@pytest.mark.parametrize("seed", range(2))
def test_every_row_is_the_same(world: World, seed: int) -> None:
    gates = an_evening(world, seed)
    one_by_one = uploaded(world, gates, "one by one")
    assert len(one_by_one["scan_entries"]) == sum(len(gate.bodies) for gate in gates)
    assert one_by_one["scan_conflicts"] and one_by_one["scan_movements"], "an evening with nothing to compare"
    assert uploaded(world, gates, "in batches") == one_by_one
    assert uploaded(world, gates, "all at once") == one_by_one
