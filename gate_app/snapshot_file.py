"""The file that holds one event's rows: built whole beside the one in use, then changed in step with its position."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gate_app.database import connect, get_mark, int_mark, set_mark, signed, unsigned
from gate_app.identity import sync_folder
from shared.errors import StorageError, Unreadable
from shared.snapshot import (
    EMPTY_DIGEST,
    AnyRow,
    Position,
    Row,
    RowKind,
    TicketRow,
    TicketState,
    digest_add,
    digest_remove,
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
DEAD = (TicketState.CANCELLED, TicketState.BLOCKED)


class SnapshotFile:
    """One event's rows, with the position that names their state."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Takes over an open connection; `open_snapshot` and `SnapshotBuilder` make it."""
        self.path = path
        self.connection = connection

    def position(self) -> Position:
        """Which state of the rows this is."""
        lineage, digest = get_mark(self.connection, "lineage"), get_mark(self.connection, "digest")
        if not isinstance(lineage, bytes) or not isinstance(digest, bytes):
            raise StorageError(f"{self.path.name} does not say which state it holds.")
        return Position(lineage, int_mark(self.connection, "revision"), digest)

    def as_of(self) -> int:
        """The server's signed time of these rows, ms."""
        return int_mark(self.connection, "as_of")

    def rows(self) -> Iterator[AnyRow]:
        """Every row that is not a ticket; kinds this program does not know are passed over."""
        for kind, key, body in self.connection.execute("SELECT kind, key, body FROM rows ORDER BY kind, key"):
            if kind in _KINDS:
                yield unpack(Row(RowKind(kind), key, body))

    def ticket(self, ticket_id: int) -> TicketRow | None:
        """One ticket's row, by one indexed read."""
        key = signed(ticket_id)
        found = self.connection.execute("SELECT body FROM tickets WHERE id = ?", (key,)).fetchone()
        return _ticket(ticket_id, found[0]) if found else None

    def kept_dead(self) -> dict[int, TicketRow]:
        """Tickets that were dead before the server was restored, and of which it has said nothing since."""
        found = self.connection.execute("SELECT id, body FROM kept_dead").fetchall()
        return {unsigned(key): _ticket(unsigned(key), body) for key, body in found}

    def find(self, words: str) -> list[TicketRow]:
        """Tickets by their number or confirmation code."""
        found = self.connection.execute(
            "SELECT id, body FROM tickets WHERE number = ?1 OR confirmation = ?1 LIMIT 5", (words,)
        ).fetchall()
        return [_ticket(unsigned(key), body) for key, body in found]

    def tickets_held(self) -> int:
        """How many tickets there are."""
        (count,) = self.connection.execute("SELECT count(*) FROM tickets").fetchone()
        return int(count)

    def begin(self) -> None:
        """Opens the transaction in which a batch is applied; readers go on seeing the state before."""
        self.connection.execute("BEGIN IMMEDIATE")

    def change(self, rows: Iterable[Row], digest: bytes) -> bytes:
        """Applies rows inside the open transaction and answers the digest after them."""
        for row in rows:
            before = self._body(row)
            if before is not None:
                digest = digest_remove(digest, Row(row.kind, row.key, before))
            if row.body is not None:
                digest = digest_add(digest, row)
            self._put(row)
        return digest

    def name_state(self, position: Position, as_of: int) -> None:
        """Writes down which state this is, in the same transaction as the rows."""
        set_mark(self.connection, "lineage", position.lineage)
        set_mark(self.connection, "revision", position.revision)
        set_mark(self.connection, "digest", position.digest)
        set_mark(self.connection, "as_of", as_of)

    def commit(self) -> None:
        """From here on readers see the new state."""
        self.connection.execute("COMMIT")

    def give_up(self) -> None:
        """Forgets what was changed since `begin`."""
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
        # The server has spoken about this ticket: what was kept from before its restoration is confirmed or lifted.
        self.connection.execute("DELETE FROM kept_dead WHERE id = ?", (key,))
        if row.body is None:
            self.connection.execute("DELETE FROM tickets WHERE id = ?", (key,))
        else:
            self.connection.execute("INSERT OR REPLACE INTO tickets VALUES (?, ?, ?, ?)", _ticket_line(row))


class SnapshotBuilder:
    """A new snapshot on its way in: frames are added until it is whole; a half one is never looked at."""

    def __init__(self, folder: Path, name: str) -> None:
        """Begins an empty file; nothing of it needs to survive before `finish`."""
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
        """One frame of rows that come once each."""
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
        """The changes since the first frame."""
        self.file.begin()
        self.digest = self.file.change(rows, self.digest)
        self.file.commit()

    def keep_dead(self, dead: dict[int, bytes]) -> None:
        """Carries over what an earlier lineage said was dead."""
        lines = [(signed(ticket_id), body) for ticket_id, body in dead.items()]
        self.file.connection.executemany("INSERT OR REPLACE INTO kept_dead VALUES (?, ?)", lines)

    def finish(self, position: Position, as_of: int) -> Path:
        """Puts the file on the disk under its name, with its indexes. Raises Unreadable for a wrong digest."""
        if self.digest != position.digest:
            raise Unreadable(
                "The snapshot that arrived is not what the server holds. It is thrown away and fetched again."
            )
        self.file.name_state(position, as_of)
        self.file.connection.executescript(_INDEXES)
        self.file.close()
        _sync_file(self.path)
        self.path.replace(self._final)
        sync_folder(self._final.parent)
        return self._final

    def abandon(self) -> None:
        """Throws the half file away."""
        self.file.close()
        self.path.unlink(missing_ok=True)


def open_snapshot(path: Path) -> SnapshotFile:
    """A snapshot that was finished once. Raises StorageError when it is gone or damaged."""
    try:
        if not path.is_file():
            raise StorageError(f"{path.name} is missing.")
        connection = connect(path)
        connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 268435456;"
        )
        file = SnapshotFile(path, connection)
        file.position()
    except sqlite3.Error as why:
        raise StorageError(f"{path.name} cannot be used: {why}.") from why
    return file


def dead_of(old: SnapshotFile, builder: SnapshotBuilder) -> dict[int, bytes]:
    """What `old` knows to be cancelled, blocked or replaced, and the new rows do not say again."""
    kept = {}
    for key, body in old.connection.execute("SELECT id, body FROM tickets UNION ALL SELECT id, body FROM kept_dead"):
        row = _ticket(unsigned(key), body)
        if (row.state in DEAD or row.issue > 1) and not _said_again(row, builder.file.ticket(row.ticket_id)):
            kept[row.ticket_id] = body
    return kept


def _said_again(row: TicketRow, now: TicketRow | None) -> bool:
    return now is not None and now.issue >= row.issue and (row.state not in DEAD or now.state in DEAD)


def _ticket(ticket_id: int, body: bytes) -> TicketRow:
    row = unpack(Row(RowKind.TICKET, ticket_id, body))
    if not isinstance(row, TicketRow):
        raise StorageError("A ticket's row is none.")
    return row


def _ticket_line(row: Row) -> tuple[int, bytes, str, str]:
    if row.body is None:
        raise Unreadable("A snapshot names a row that is gone.")
    ticket = _ticket(row.key, row.body)
    return signed(row.key), row.body, ticket.number, ticket.confirmation_code


def _sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
