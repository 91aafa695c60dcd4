"""The file with one event's rows: built complete, then changed together with its position."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gate_app.installation.identity import sync_folder
from gate_app.storage.database import (
    connect,
    connect_to_read,
    get_int,
    get_value,
    put_value,
    signed,
    unsigned,
    unwritable,
)
from shared.errors import StorageError, Unreadable
from shared.wire.snapshot import (
    EMPTY_DIGEST,
    AnyRow,
    Position,
    Row,
    RowKind,
    TicketRow,
    TicketState,
    digest_add,
    digest_remove,
    ticket_labels,
    unpack,
)

_SCHEMA = """
    CREATE TABLE rows (
        kind INTEGER NOT NULL, key INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
    CREATE TABLE tickets (id INTEGER PRIMARY KEY, body BLOB NOT NULL, number TEXT NOT NULL, confirmation TEXT NOT NULL);
    CREATE TABLE kept_dead (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE TABLE marks (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""
_INDEXES = "CREATE INDEX by_number ON tickets (number); CREATE INDEX by_confirmation ON tickets (confirmation);"


_KINDS = frozenset(int(kind) for kind in RowKind)
INVALID_STATES = (TicketState.CANCELLED, TicketState.BLOCKED)


class SnapshotFile:
    """One event's rows and their position."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Takes over the connection that `open_snapshot` or `SnapshotBuilder` made."""
        self.path = path
        self.connection = connection

    def position(self) -> Position:
        """The position of these rows. Raises StorageError if it is missing."""
        lineage, digest = get_value(self.connection, "lineage"), get_value(self.connection, "digest")
        if not isinstance(lineage, bytes) or not isinstance(digest, bytes):
            raise StorageError(f"{self.path.name} has no position.")
        return Position(lineage, get_int(self.connection, "revision"), digest)

    def as_of(self) -> int:
        """The server's signed time of these rows, in ms."""
        return get_int(self.connection, "as_of")

    def rows(self) -> Iterator[AnyRow]:
        """Every row that is not a ticket; unknown kinds are skipped."""
        for kind, key, body in self.connection.execute("SELECT kind, key, body FROM rows ORDER BY kind, key"):
            if kind in _KINDS:
                yield unpack(Row(RowKind(kind), key, body))

    def ticket(self, ticket_id: int) -> TicketRow | None:
        """One ticket's row; None if there is none."""
        key = signed(ticket_id)
        found = self.connection.execute("SELECT body FROM tickets WHERE id = ?", (key,)).fetchone()
        return _ticket(ticket_id, found[0]) if found else None

    def carried_over(self) -> dict[int, TicketRow]:
        """Invalid or replaced tickets from before the server was restored that it has not mentioned since."""
        found = self.connection.execute("SELECT id, body FROM kept_dead").fetchall()
        return {unsigned(key): _ticket(unsigned(key), body) for key, body in found}

    def find(self, query: str) -> list[TicketRow]:
        """Tickets with this number or confirmation code, at most five."""
        found = self.connection.execute(
            "SELECT id, body FROM tickets WHERE number = ?1 OR confirmation = ?1 LIMIT 5", (query,)
        ).fetchall()
        return [_ticket(unsigned(key), body) for key, body in found]

    def tickets(self) -> Iterator[TicketRow]:
        """Every ticket's row, by its number."""
        for key, body in self.connection.execute("SELECT id, body FROM tickets ORDER BY number"):
            yield _ticket(unsigned(key), body)

    def tickets_held(self) -> int:
        """The number of tickets."""
        (count,) = self.connection.execute("SELECT count(*) FROM tickets").fetchone()
        return int(count)

    def begin(self) -> None:
        """Begins the transaction for a batch; readers keep seeing the state before it."""
        self.connection.execute("BEGIN IMMEDIATE")

    def change(self, rows: Iterable[Row], digest: bytes) -> bytes:
        """Applies rows in the open transaction and returns the new digest."""
        for row in rows:
            before = self._body(row)
            if before is not None:
                digest = digest_remove(digest, Row(row.kind, row.key, before))
            if row.body is not None:
                digest = digest_add(digest, row)
            self._put(row)
        return digest

    def set_position(self, position: Position, as_of: int) -> None:
        """Stores the position in the same transaction as the rows."""
        put_value(self.connection, "lineage", position.lineage)
        put_value(self.connection, "revision", position.revision)
        put_value(self.connection, "digest", position.digest)
        put_value(self.connection, "as_of", as_of)

    def commit(self) -> None:
        """Makes the new state visible to readers."""
        self.connection.execute("COMMIT")

    def roll_back(self) -> None:
        """Undoes all changes since `begin`."""
        with suppress(sqlite3.Error):
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Safe to call twice."""
        self.connection.close()

    def _body(self, row: Row) -> bytes | None:
        if row.kind == RowKind.TICKET:
            found = self.connection.execute("SELECT body FROM tickets WHERE id = ?", (signed(row.key),)).fetchone()
        else:
            found = self.connection.execute(
                "SELECT body FROM rows WHERE kind = ? AND key = ?", (row.kind, row.key)
            ).fetchone()
        return found[0] if found else None

    def _put(self, row: Row) -> None:
        if row.kind == RowKind.TICKET:
            self._put_ticket(row)
        elif row.body is None:
            self.connection.execute("DELETE FROM rows WHERE kind = ? AND key = ?", (row.kind, row.key))
        else:
            self.connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", (int(row.kind), row.key, row.body))

    def _put_ticket(self, row: Row) -> None:
        key = signed(row.key)
        # The server has mentioned this ticket: its row replaces what was carried over from before the restore.
        self.connection.execute("DELETE FROM kept_dead WHERE id = ?", (key,))
        if row.body is None:
            self.connection.execute("DELETE FROM tickets WHERE id = ?", (key,))
        else:
            self.connection.execute("INSERT OR REPLACE INTO tickets VALUES (?, ?, ?, ?)", _ticket_line(row))


class SnapshotBuilder:
    """A new snapshot being received: frames are added until it is complete; it is not read before."""

    def __init__(self, folder: Path, name: str) -> None:
        """Creates an empty file; it need not survive a crash before `finish`."""
        self.path = folder / f"{name}.part"
        self._final = folder / f"{name}.rows"
        for leftover in folder.glob(f"{self.path.name}*"):
            leftover.unlink()
        connection = connect(self.path)
        connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        self.file = SnapshotFile(self.path, connection)
        self.digest = EMPTY_DIGEST
        self.rows = 0

    def add(self, rows: list[Row]) -> None:
        """Adds one frame; each row comes once."""
        connection = self.file.connection
        connection.execute("BEGIN")
        tickets = [_ticket_line(row) for row in rows if row.kind == RowKind.TICKET]
        others = [(int(row.kind), row.key, row.body) for row in rows if row.kind != RowKind.TICKET]
        connection.executemany("INSERT OR REPLACE INTO tickets VALUES (?, ?, ?, ?)", tickets)
        connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", others)
        connection.execute("COMMIT")
        self.digest = digest_add(self.digest, *rows)
        self.rows += len(rows)

    def change(self, rows: list[Row]) -> None:
        """Applies the changes since the first frame."""
        self.file.begin()
        self.digest = self.file.change(rows, self.digest)
        self.file.commit()

    def carry_over(self, dead: dict[int, bytes]) -> None:
        """Stores invalid or replaced tickets of an earlier lineage."""
        lines = [(signed(ticket_id), body) for ticket_id, body in dead.items()]
        self.file.connection.executemany("INSERT OR REPLACE INTO kept_dead VALUES (?, ?)", lines)

    def finish(self, position: Position, as_of: int) -> Path:
        """Indexes the file, syncs it and gives it its final name. Raises Unreadable for a wrong digest."""
        if self.digest != position.digest:
            raise Unreadable(
                "The snapshot received does not match the server. It is discarded and will be fetched again."
            )
        self.file.set_position(position, as_of)
        self.file.connection.executescript(_INDEXES)
        self.file.close()
        _sync_file(self.path)
        self.path.replace(self._final)
        sync_folder(self._final.parent)
        return self._final

    def abandon(self) -> None:
        """Deletes the unfinished file."""
        self.file.close()
        self.path.unlink(missing_ok=True)


def open_snapshot(path: Path) -> SnapshotFile:
    """Opens a finished snapshot. Raises StorageError if it is missing or damaged."""
    try:
        if not path.is_file():
            raise StorageError(f"{path.name} is missing.")
        file = SnapshotFile(path, _connect(path))
        file.position()
    except sqlite3.Error as why:
        raise StorageError(f"{path.name} cannot be used: {why}.") from why
    return file


def _connect(path: Path) -> sqlite3.Connection:
    connection = connect(path)
    try:
        connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 268435456;"
        )
        connection.execute("SELECT 1 FROM marks").fetchone()
    except sqlite3.Error as why:
        connection.close()
        if not unwritable(path, why):
            raise
        return connect_to_read(path)
    return connection


def invalid_tickets(old: SnapshotFile, builder: SnapshotBuilder) -> dict[int, bytes]:
    """Tickets that `old` knows as cancelled, blocked or replaced and that the new rows do not confirm."""
    dead = {}
    for key, body in old.connection.execute("SELECT id, body FROM tickets UNION ALL SELECT id, body FROM kept_dead"):
        row = _ticket(unsigned(key), body)
        if (row.state in INVALID_STATES or row.issue > 1) and not _confirmed(row, builder.file.ticket(row.ticket_id)):
            dead[row.ticket_id] = body
    return dead


def _confirmed(row: TicketRow, now: TicketRow | None) -> bool:
    return (
        now is not None and now.issue >= row.issue and (row.state not in INVALID_STATES or now.state in INVALID_STATES)
    )


def _ticket(ticket_id: int, body: bytes) -> TicketRow:
    row = unpack(Row(RowKind.TICKET, ticket_id, body))
    if not isinstance(row, TicketRow):
        raise StorageError("A ticket's row is of another kind.")
    return row


def _ticket_line(row: Row) -> tuple[int, bytes, str, str]:
    if row.body is None:
        raise Unreadable("A snapshot contains a deleted row.")
    return signed(row.key), row.body, *ticket_labels(row)


def _sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
