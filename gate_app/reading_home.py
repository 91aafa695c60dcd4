"""Reads a home while another process may be using it, and gives a home a new identity."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gate_app.clock.time_keeper import TimeKeeper
from gate_app.enrolment import Enrolled
from gate_app.gate_context import CHOSEN_GATE, REVOKED, GateContext, HostEnvironment, readiness
from gate_app.installation.assignments import AssignmentStore, assignment_of
from gate_app.installation.config import config_or_defaults
from gate_app.installation.home import Home
from gate_app.installation.identity import keep, load
from gate_app.journal.journal import Journal
from gate_app.journal.lines import entry_line
from gate_app.journal.reading import entries_in, verify_in
from gate_app.scanning.gathering import corrections, emptied_here, everybody, since_emptied
from gate_app.scanning.occupancy import Occupancy
from gate_app.snapshots.roster import EventSnapshot, snapshot_paths
from gate_app.snapshots.snapshot_file import open_snapshot
from gate_app.status import StatusSource, unposted
from gate_app.status import status as tell_status
from gate_app.storage.database import disk_problem, get_value, open_to_read
from gate_app.sync.pull import SyncState
from shared.errors import NotFound, StorageError, Unreadable


def take_identity(context: GateContext, got: Enrolled) -> None:
    """Makes this home the enrolled device. The journal stays; the new device's entries begin a branch of their own.

    The identity is kept last: if the power is cut before, the old device asks for its own again; with a new identity
    it must never hold rows of another organisation, or be shut out for what the old one was.
    """
    if context.identity is not None and context.identity.organisation != got.identity.organisation:
        context.roster.wipe()
    context.assignments.assign([assignment_of(assignment) for assignment in got.events])
    context.database.put(REVOKED, "")
    keep(context.home.identity, got.identity)
    context.sync_state.revoked = False
    context.identity = got.identity
    Journal(context.database, got.identity.device_number, context.host.entropy)


@contextmanager
def journal(home: Home) -> Iterator[sqlite3.Connection]:
    """A read-only connection to the gate's database. Raises NotFound before the first enrolment or scan."""
    if not home.require_gate().database.exists():
        raise NotFound(
            f"The gate in {home.folder} has not been used yet. Enrol it with: gatehouse-gate enrol URL CODE."
        )
    connection = open_to_read(home.database)
    try:
        yield connection
    finally:
        connection.close()


def status(home: Home, host: HostEnvironment) -> dict[str, Any]:
    """The status of the gate in this home, without disturbing the process that runs it."""
    with journal(home) as connection:
        identity, assignments = load(home.identity), AssignmentStore(home.assignments)
        moment = TimeKeeper(ReadOnlyStore(connection), host.wall, host.monotonic, host.boot).now()
        message = get_value(connection, REVOKED)
        sync_state = SyncState(revoked=bool(message), message=str(message or ""))
        snapshots, problems = open_snapshots(connection, home)
        config, mistakes = config_or_defaults(home.settings)
        chosen_gate = str(get_value(connection, CHOSEN_GATE) or config.gate)
        view = StatusSource(
            home.folder,
            config.least_free_mb,
            identity,
            assignments.by_event,
            snapshots,
            connection,
            moment,
            readiness(
                identity,
                sync_state,
                bool(snapshots),
                disk_problem(home.database),
                unposted(assignments.by_event, snapshots, chosen_gate),
            ),
            lambda snapshot: _count_inside(connection, snapshot, moment.at),
            None,
            sync_state.revoked,
            (mistakes, sync_state.message, *problems),
            home.holder(),
            chosen_gate,
        )
        try:
            return tell_status(view)
        finally:
            for snapshot in snapshots.values():
                snapshot.close()


def open_snapshots(connection: sqlite3.Connection, home: Home) -> tuple[dict[int, EventSnapshot], list[str]]:
    """The snapshots that can be read, and a message for each that cannot."""
    snapshots: dict[int, EventSnapshot] = {}
    problems: list[str] = []
    for event, path in snapshot_paths(connection, home.snapshots):
        try:
            snapshot = EventSnapshot(event, open_snapshot(path))
            snapshot.tickets_held()
        except (StorageError, sqlite3.Error, Unreadable) as why:
            problems.append(
                f"The tickets in {path.name} cannot be read ({why}). They will be fetched again at the next sync."
            )
        else:
            snapshots[event] = snapshot
    return snapshots, problems


def _count_inside(connection: sqlite3.Connection, snapshot: EventSnapshot, now: int) -> int:
    occupancy, event = Occupancy(), since_emptied(snapshot, emptied_here(connection))
    if event is not None:
        counted = corrections(connection, snapshot.number)
        occupancy.fill(everybody(connection, snapshot.number), event, now, counted)
    return occupancy.count


class ReadOnlyStore:
    """The stored values of a home that another process may be using."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> str | int | bytes | None:
        """The stored value; None if there is none."""
        return get_value(self._connection, name)

    def put(self, name: str, value: str | int | bytes) -> None:
        """Ignores the value: a reader changes nothing."""


def verified(connection: sqlite3.Connection) -> dict[str, Any]:
    """The result of checking the whole journal."""
    chain = verify_in(connection)
    result = {"entries": chain.entries, "ok": chain.ok, "broken_at": chain.broken_at}
    return result | ({"lost": list(chain.lost)} if chain.lost else {})


def entries(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Every entry, oldest first."""
    return (entry_line(entry) for entry in entries_in(connection))
