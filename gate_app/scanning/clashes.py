"""Finds tickets admitted here and at other gates more often than they allow, when news of the others arrives."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from gate_app.journal import history
from gate_app.scanning.gathering import NO_POLICY, as_code, emptied_here, since_emptied
from gate_app.snapshots.roster import EventSnapshot
from gate_app.storage.database import signed
from shared.admission import Direction, Mode
from shared.attempts import Attempt, Passage
from shared.movements import passages
from shared.verdicts.entitlements import spent
from shared.verdicts.scene import set_scene
from shared.wire.snapshot import EventRow, TicketRow


def note(connection: sqlite3.Connection, snapshot: EventSnapshot, ticket_ids: Iterable[int], device: int) -> int:
    """Stores the clashes among these tickets in the open transaction; returns how many are new."""
    event = since_emptied(snapshot, emptied_here(connection))
    found = [ticket for ticket in ticket_ids if _clashes(connection, snapshot, event, ticket, device)]
    before = connection.total_changes
    connection.executemany("INSERT OR IGNORE INTO clashes VALUES (?)", ((signed(ticket),) for ticket in found))
    return connection.total_changes - before


def _clashes(
    connection: sqlite3.Connection, snapshot: EventSnapshot, event: EventRow | None, ticket_id: int, device: int
) -> bool:
    movements, _ = history.of_ticket(connection, ticket_id)
    passed = passages(movements, None, None).passages
    devices = {passage.device for passage in passed}
    row = snapshot.ticket(ticket_id)
    # A gate reports only clashes it took part in; the organiser's page shows all.
    if device not in devices or len(devices) < 2 or row is None or event is None:
        return False
    return any(
        _exceeds_entitlement(row, event, snapshot, passed[:place], passed[place]) for place in range(len(passed))
    )


def _exceeds_entitlement(
    row: TicketRow, event: EventRow, snapshot: EventSnapshot, before: tuple[Passage, ...], step: Passage
) -> bool:
    if step.direction is not Direction.ENTRY:
        return False
    code = as_code(snapshot, row, event.organisation)
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
