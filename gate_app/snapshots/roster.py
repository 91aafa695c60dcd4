"""The rows of all events this gate serves: tickets in a snapshot file per event, all other rows in memory."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gate_app.snapshots.snapshot_file import (
    INVALID_STATES,
    SnapshotBuilder,
    SnapshotFile,
    invalid_tickets,
    open_snapshot,
)
from gate_app.storage.database import Database
from shared.errors import StorageError, Unreadable
from shared.ids import Entropy
from shared.keys import KeyRing, TicketKey
from shared.wire.snapshot import (
    AnyRow,
    DeviceRow,
    EventRow,
    GateRow,
    KeyRow,
    PolicyRow,
    Position,
    Row,
    RowKind,
    SupervisorRow,
    TicketRow,
    TicketTypeRow,
    ZoneRow,
)


@dataclass(slots=True)
class EventRows:
    """An event's rows other than tickets, in memory: read on every scan, changed a few times a night."""

    event: EventRow | None = None
    gates: dict[int, GateRow] = field(default_factory=dict)
    zones: dict[int, ZoneRow] = field(default_factory=dict)
    types: dict[int, TicketTypeRow] = field(default_factory=dict)
    keys: dict[int, KeyRow] = field(default_factory=dict)
    devices: dict[int, DeviceRow] = field(default_factory=dict)
    supervisors: dict[int, SupervisorRow] = field(default_factory=dict)
    policy: PolicyRow = field(default_factory=PolicyRow)

    def add(self, row: AnyRow) -> None:
        """Adds a row of any kind but a ticket."""
        match row:
            case EventRow():
                self.event = row
            case PolicyRow():
                self.policy = row
            case KeyRow():
                self.keys[row.id] = row
            case GateRow():
                self.gates[row.number] = row
            case ZoneRow():
                self.zones[row.number] = row
            case TicketTypeRow():
                self.types[row.number] = row
            case DeviceRow():
                self.devices[row.number] = row
            case SupervisorRow():
                self.supervisors[row.number] = row


class DamagedRows(StorageError):
    """A snapshot that was intact when it was opened can no longer be read."""

    code = "damaged_rows"


class EventSnapshot:
    """One event in the roster: its snapshot file and the rows read from it into memory."""

    def __init__(self, number: int, file: SnapshotFile) -> None:
        """Reads all rows but tickets, which stay on the disk."""
        self.number = number
        self.file = file
        self._reading = open_snapshot(file.path)
        self._counted: tuple[Position | None, int] = (None, 0)
        self.refresh()

    def refresh(self) -> None:
        """Reads everything in memory again."""
        rows = EventRows()
        for row in self.file.rows():
            rows.add(row)
        self.rows = rows
        self.position = self.file.position()
        self.as_of = self.file.as_of()
        self._carried_over = self.file.carried_over()

    def ticket(self, ticket_id: int) -> TicketRow | None:
        """A ticket's row, or the one carried over from before the server was restored. Raises DamagedRows."""
        try:
            row = self._reading.ticket(ticket_id)
        except (sqlite3.Error, Unreadable) as why:
            raise DamagedRows(f"{self.file.path.name} cannot be read: {why}.", event=self.number) from why
        return row if not self._carried_over else self._or_carried_over(ticket_id, row)

    def find(self, query: str) -> list[TicketRow]:
        """Tickets by number or confirmation code, as a steward types them."""
        typed = query.strip().upper()
        return [self._or_carried_over(row.ticket_id, row) or row for row in self._reading.find(typed)]

    def every_ticket(self) -> Iterator[TicketRow]:
        """Every ticket, read beside the scans: whoever searches holds nobody up."""
        reading = open_snapshot(self.file.path)
        try:
            for row in reading.tickets():
                yield self._or_carried_over(row.ticket_id, row) or row
        finally:
            reading.close()

    def tickets_held(self) -> int:
        """The number of tickets; counted once for each position."""
        if self._counted[0] != self.position:
            self._counted = (self.position, self._reading.tickets_held())
        return self._counted[1]

    def close(self) -> None:
        """Safe to call twice."""
        self._reading.close()
        self.file.close()

    def later_issue(self, ticket_id: int) -> int:
        """The highest issue known from before the server was restored and not confirmed since; 0 if there is none."""
        earlier = self._carried_over.get(ticket_id) if self._carried_over else None
        return earlier.issue if earlier else 0

    def _or_carried_over(self, ticket_id: int, row: TicketRow | None) -> TicketRow | None:
        earlier = self._carried_over.get(ticket_id)
        if earlier is None or earlier.state not in INVALID_STATES or (row is not None and row.issue > earlier.issue):
            return row
        return earlier


class Roster:
    """All events this gate holds. `lock` is held while a snapshot is replaced and while a scan gathers its rows."""

    def __init__(self, database: Database, folder: Path, entropy: Entropy) -> None:
        """Opens the snapshots on the disk and deletes unfinished files."""
        self.lock = threading.RLock()
        self._database = database
        self._folder = folder
        self._entropy = entropy
        self.snapshots: dict[int, EventSnapshot] = {}
        self.problems: list[str] = []
        self.ring = KeyRing.of((), self.snapshots)
        for leftover in folder.glob("*.part*"):
            with suppress(OSError):
                leftover.unlink()
        self._open_all()

    def snapshot(self, event: int) -> EventSnapshot:
        """The snapshot of an event. Raises StorageError if there is none; a scan may have dropped a damaged one."""
        found = self.snapshots.get(event)
        if found is None:
            raise StorageError(f"There are no tickets for event {event}. They will be fetched again.")
        return found

    def builder(self, event: int) -> SnapshotBuilder:
        """A builder for a new snapshot of an event."""
        return SnapshotBuilder(self._folder, f"event-{event}-{self._entropy(4).hex()}")

    def install(self, event: int, builder: SnapshotBuilder, position: Position, as_of: int) -> None:
        """Replaces an event's snapshot atomically. Raises Unreadable if the digest of the new one does not match."""
        before = self.snapshots.get(event)
        if before is not None:
            builder.carry_over(self._to_carry_over(before, builder, position))
        path = builder.finish(position, as_of)
        snapshot = EventSnapshot(event, open_snapshot(path))
        self._database.put(_key_of(event), path.name)
        with self.lock:
            self.snapshots[event] = snapshot
            self._rebuild_key_ring()
        if before is not None:
            before.close()
            _remove(before.file.path)

    def apply(self, event: int, rows: list[Row], after: Position, as_of: int) -> bool:
        """Applies changes and the new position in one transaction; False and no change if the digest does not match."""
        snapshot = self.snapshot(event)
        snapshot.file.begin()
        try:
            matches = snapshot.file.change(rows, snapshot.position.digest) == after.digest
            if matches:
                snapshot.file.set_position(after, as_of)
                self._commit(snapshot, rows, after, as_of)
        finally:
            snapshot.file.roll_back()
        return matches

    def touch(self, event: int, as_of: int) -> None:
        """Records the server's confirmation that nothing has changed since `as_of`."""
        snapshot = self.snapshot(event)
        if as_of > snapshot.as_of:
            snapshot.file.begin()
            snapshot.file.set_position(snapshot.position, as_of)
            snapshot.file.commit()
            snapshot.as_of = as_of

    def drop(self, event: int) -> None:
        """Deletes an event that this gate no longer serves."""
        with self.lock:
            snapshot = self.snapshots.pop(event, None)
            self._rebuild_key_ring()
        self._database.put(_key_of(event), "")
        if snapshot is not None:
            snapshot.close()
            _remove(snapshot.file.path)

    def discard_damaged(self, event: int, why: str) -> None:
        """Drops a snapshot that cannot be read: no answer is better than a wrong one."""
        self.problems.append(f"{why} It will be fetched again at the next sync.")
        self.drop(event)

    def wipe(self) -> None:
        """Deletes all rows, because this device was revoked."""
        for event in list(self.snapshots):
            self.drop(event)

    def oldest_as_of(self) -> int | None:
        """The time of the oldest snapshot, which decides how old this gate's knowledge is; None if there are none."""
        return min((snapshot.as_of for snapshot in self.snapshots.values()), default=None)

    def close(self) -> None:
        """Safe to call twice."""
        for snapshot in self.snapshots.values():
            snapshot.close()

    def _commit(self, snapshot: EventSnapshot, rows: list[Row], after: Position, as_of: int) -> None:
        """Commits and updates the rows in memory under the lock, so that a scan sees both or neither."""
        with self.lock:
            snapshot.file.commit()
            if _only_known_tickets(rows) and not snapshot._carried_over:
                snapshot.position, snapshot.as_of = after, as_of
                return
            snapshot.refresh()
            self._rebuild_key_ring()

    def _to_carry_over(self, before: EventSnapshot, builder: SnapshotBuilder, position: Position) -> dict[int, bytes]:
        if before.position.lineage != position.lineage:
            return invalid_tickets(before.file, builder)
        kept = before.file.connection.execute("SELECT id, body FROM kept_dead").fetchall()
        return dict(kept)

    def _open_all(self) -> None:
        named = _file_names(self._database.connection)
        for path in sorted(self._folder.glob("event-*.rows")):
            # A finished file without a stored name is complete: after a damaged database it is better than none.
            if named.setdefault(_event_of(path), path.name) != path.name:
                _remove(path)
        for event, name in named.items():
            if name:
                self._open(event, self._folder / name)
        self._rebuild_key_ring()

    def _open(self, event: int, path: Path) -> None:
        try:
            self.snapshots[event] = EventSnapshot(event, open_snapshot(path))
        except StorageError as why:
            self.problems.append(f"{why.message} It will be fetched again at the next sync.")

    def _rebuild_key_ring(self) -> None:
        rows = (row for snapshot in self.snapshots.values() for row in snapshot.rows.keys.values())
        keys = (TicketKey.of(row.id, row.organisation, row.public, row.state) for row in rows)
        self.ring = KeyRing.of(keys, self.snapshots)


def snapshot_paths(connection: sqlite3.Connection, folder: Path) -> list[tuple[int, Path]]:
    """The snapshot files in use, read from beside the running process."""
    named = _file_names(connection)
    for path in sorted(folder.glob("event-*.rows")):
        named.setdefault(_event_of(path), path.name)
    paths = [(event, folder / name) for event, name in named.items() if name]
    return [(event, path) for event, path in paths if path.is_file()]


def _file_names(connection: sqlite3.Connection) -> dict[int, str]:
    """The stored file name of each event; empty if the event was dropped."""
    marks = connection.execute("SELECT name, value FROM marks WHERE name LIKE 'rows:%'").fetchall()
    return {int(name.removeprefix("rows:")): value for name, value in marks}


def _event_of(path: Path) -> int:
    return int(path.name.split("-")[1])


def _only_known_tickets(rows: Iterable[Row]) -> bool:
    return all(row.kind == RowKind.TICKET for row in rows)


def _key_of(event: int) -> str:
    return f"rows:{event}"


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
