"""The gate's own SQLite file: opened durably, brought to the present schema, written by one thread at a time."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shared.errors import StorageError

SIGNED = 1 << 63
"""SQLite knows signed integers only; ticket ids use all 64 bits."""

CHECKPOINT_EVERY = 500
"""Commits after which the write-ahead log is carried over, between two scans and never within one."""

SCHEMA = (
    """
    CREATE TABLE branches (
        local INTEGER PRIMARY KEY, device INTEGER NOT NULL, branch INTEGER NOT NULL, begun_from BLOB NOT NULL,
        acknowledged INTEGER NOT NULL DEFAULT 0, UNIQUE (device, branch));
    CREATE TABLE journal (place INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE TABLE movements (
        ticket INTEGER NOT NULL, device INTEGER NOT NULL, branch INTEGER NOT NULL, seq INTEGER NOT NULL,
        kind INTEGER NOT NULL, issue INTEGER NOT NULL, code_hash BLOB NOT NULL, at INTEGER NOT NULL,
        gate INTEGER NOT NULL, zone INTEGER NOT NULL, event INTEGER NOT NULL,
        annuls_device INTEGER, annuls_branch INTEGER, annuls_seq INTEGER,
        PRIMARY KEY (ticket, device, branch, seq)) WITHOUT ROWID;
    CREATE TABLE quarantined (
        device INTEGER NOT NULL, branch INTEGER NOT NULL, seq INTEGER NOT NULL, why TEXT NOT NULL,
        PRIMARY KEY (device, branch, seq)) WITHOUT ROWID;
    CREATE TABLE emptied (event INTEGER PRIMARY KEY, at INTEGER NOT NULL);
    CREATE TABLE clashes (ticket INTEGER PRIMARY KEY);
    CREATE TABLE heard (event INTEGER PRIMARY KEY, lineage BLOB NOT NULL, arrival INTEGER NOT NULL);
    CREATE TABLE wrong_pins (supervisor INTEGER PRIMARY KEY, wrong INTEGER NOT NULL, locked_until INTEGER NOT NULL);
    CREATE TABLE openings (event INTEGER NOT NULL, gate INTEGER NOT NULL, PRIMARY KEY (event, gate)) WITHOUT ROWID;
    CREATE TABLE marks (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    """,
    """
    CREATE TABLE gaps (
        local INTEGER NOT NULL, seq INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        PRIMARY KEY (local, seq)) WITHOUT ROWID;
    """,
)


def signed(number: int) -> int:
    """An unsigned 64-bit number as SQLite keeps it."""
    return number - (SIGNED << 1) if number >= SIGNED else number


def unsigned(number: int) -> int:
    """And back."""
    return number + (SIGNED << 1) if number < 0 else number


class Database:
    """One writing connection, shared under one lock by everything in this process that writes."""

    def __init__(self, path: Path, connection: sqlite3.Connection, cannot_write: str = "") -> None:
        """Takes over an open connection; `open_database` makes it. `cannot_write` says why nothing can be kept."""
        self.path = path
        self.connection = connection
        self.lock = threading.RLock()
        self.commits = 0
        self.cannot_write = cannot_write
        self._reading: sqlite3.Connection | None = None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: everything in the block, on the disk when it ends, or nothing."""
        with self.lock:
            connection = self.connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            self.commits += 1

    def mark(self, name: str, value: str | int | bytes) -> None:
        """Keeps one small fact, durably."""
        with self.writing() as connection:
            set_mark(connection, name, value)

    def note(self, name: str, value: str | int | bytes) -> None:
        """Keeps one small fact: safe from a killed program at once, from a power cut with the next entry; and cheap."""
        with self.lock:
            self.connection.execute("PRAGMA synchronous = NORMAL")
            try:
                set_mark(self.connection, name, value)
            finally:
                self.connection.execute("PRAGMA synchronous = FULL")

    def marked(self, name: str) -> str | int | bytes | None:
        """The fact kept by that name."""
        with self.lock:
            return get_mark(self.connection, name)

    def reading(self) -> sqlite3.Connection:
        """A second connection, for whoever looks while others write."""
        with self.lock:
            if self.cannot_write:
                return self.connection
            if self._reading is None:
                self._reading = open_to_read(self.path)
            return self._reading

    def seal(self) -> None:
        """From now on not even memory is written: what is not on the disk must not count."""
        if self.cannot_write:
            self.connection.execute("PRAGMA query_only = ON")

    def rest(self) -> None:
        """Carries the write-ahead log over when it has grown: called between scans, so that none pays for it."""
        if self.commits >= CHECKPOINT_EVERY:
            # On a full disk there is nowhere to carry it; what is committed stays where it is, and safe.
            with self.lock, suppress(sqlite3.Error):
                self.commits = 0
                self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def close(self) -> None:
        """Safe to call twice."""
        with self.lock:
            self.connection.close()
            if self._reading is not None:
                self._reading.close()


def set_mark(connection: sqlite3.Connection, name: str, value: str | int | bytes) -> None:
    """Keeps one small fact inside the transaction that is open."""
    connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (name, value))


def get_mark(connection: sqlite3.Connection, name: str) -> str | int | bytes | None:
    """The fact kept by that name."""
    row = connection.execute("SELECT value FROM marks WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def int_mark(connection: sqlite3.Connection, name: str) -> int:
    """A fact that counts, 0 before it was ever kept."""
    value = get_mark(connection, name)
    return value if isinstance(value, int) else 0


def open_database(path: Path) -> Database:
    """The gate's database, made where there is none. Raises StorageError with words when it cannot be used.

    Where the disk has no room left even for opening, what stands there is opened so that it can only be read: a gate
    that cannot record must still be able to say so.
    """
    try:
        return Database(path, _open_whole(path))
    except sqlite3.Error as why:
        words = f"{path.name} cannot be opened: {why}."
        if not _wants_room(why):
            raise StorageError(words) from why
        return Database(path, _open_as_it_is(path), f"{words} Free some space or change the card.")


def has_room(path: Path) -> bool:
    """Whether a database that could not be written can be by now."""
    try:
        connection = _open_whole(path)
    except (sqlite3.Error, StorageError):
        return False
    connection.close()
    return True


def _open_whole(path: Path) -> sqlite3.Connection:
    connection = connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        migrate(connection, SCHEMA)
        connection.execute("SELECT 1 FROM marks").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _open_as_it_is(path: Path) -> sqlite3.Connection:
    """Nothing is made, no file beside it is looked at; and nothing can be written."""
    with suppress(sqlite3.Error):
        connection = _reading(path, "mode=ro&immutable=1")
        connection.execute("SELECT count(*) FROM branches, gaps").fetchone()
        return connection
    empty = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    migrate(empty, SCHEMA)
    return empty


def _wants_room(why: sqlite3.Error) -> bool:
    return any(sign in str(why) for sign in ("disk is full", "disk I/O error", "unable to open", "readonly"))


def open_to_read(path: Path) -> sqlite3.Connection:
    """A connection of its own for status and listings, beside the process that writes."""
    try:
        return _reading(path, "mode=ro")
    except sqlite3.Error as why:
        if _wants_room(why):
            # On a full disk nobody can be writing beside us: the file is what it is.
            with suppress(sqlite3.Error):
                return _reading(path, "mode=ro&immutable=1")
        raise StorageError(f"{path.name} cannot be read: {why}.") from why


def _reading(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{path}?{how}", uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM marks").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """Statements are cached, transactions are ours, threads are ordered by our lock."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=64, timeout=5)


def migrate(connection: sqlite3.Connection, schema: tuple[str, ...]) -> None:
    """Brings the file to the present schema: each step and its record are one transaction."""
    (present,) = connection.execute("PRAGMA user_version").fetchone()
    if present > len(schema):
        raise StorageError("This home was written by a newer gate program. Update the program; nothing was changed.")
    for number in range(present, len(schema)):
        connection.executescript(f"BEGIN IMMEDIATE;{schema[number]};PRAGMA user_version = {number + 1};COMMIT;")
