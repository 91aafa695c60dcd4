"""The gate's SQLite file: opened for durable writes, migrated, and written by one thread at a time."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shared.errors import StorageError

SIGNED = 1 << 63
"""SQLite integers are signed; ticket ids use all 64 bits."""

CHECKPOINT_EVERY = 500
"""Commits after which the write-ahead log is checkpointed, between two scans and never during one."""

SCHEMA_VERSION = 2
"""How many steps of gate_app.schema a file has when it is up to date."""


def signed(number: int) -> int:
    """An unsigned 64-bit number as SQLite stores it."""
    return number - (SIGNED << 1) if number >= SIGNED else number


def unsigned(number: int) -> int:
    """The inverse of `signed`."""
    return number + (SIGNED << 1) if number < 0 else number


class Database:
    """One connection for writing, shared under one lock by all threads of the process."""

    def __init__(self, path: Path, connection: sqlite3.Connection, cannot_write: str = "") -> None:
        """Takes over the connection that `open_database` made. `cannot_write` says why nothing can be stored."""
        self.path = path
        self.connection = connection
        self.lock = threading.RLock()
        self.commits = 0
        self.cannot_write = cannot_write
        self._reading: sqlite3.Connection | None = None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: everything in the block is on the disk when it ends, or nothing is."""
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

    def put(self, name: str, value: str | int | bytes) -> None:
        """Stores a value durably."""
        with self.writing() as connection:
            put_value(connection, name, value)

    def put_unsynced(self, name: str, value: str | int | bytes) -> None:
        """Stores a value without fsync: safe from a killed process at once, from a power cut after the next commit."""
        with self.lock:
            self.connection.execute("PRAGMA synchronous = NORMAL")
            try:
                put_value(self.connection, name, value)
            finally:
                self.connection.execute("PRAGMA synchronous = FULL")

    def get(self, name: str) -> str | int | bytes | None:
        """The stored value; None if there is none."""
        with self.lock:
            return get_value(self.connection, name)

    def reading(self) -> sqlite3.Connection:
        """A second connection, for reading while others write."""
        with self.lock:
            if self.cannot_write:
                return self.connection
            if self._reading is None:
                self._reading = open_to_read(self.path)
            return self._reading

    def forbid_writes(self) -> None:
        """Where the disk cannot be written, refuses writes in memory too: what is not on the disk must not count."""
        if self.cannot_write:
            self.connection.execute("PRAGMA query_only = ON")

    def rest(self) -> None:
        """Checkpoints the write-ahead log when it has grown; called between scans, so that no scan waits for it."""
        if self.commits >= CHECKPOINT_EVERY:
            # On a full disk this fails; what is committed stays safe in the log.
            with self.lock, suppress(sqlite3.Error):
                self.commits = 0
                self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def close(self) -> None:
        """Safe to call twice."""
        with self.lock:
            self.connection.close()
            if self._reading is not None:
                self._reading.close()


def put_value(connection: sqlite3.Connection, name: str, value: str | int | bytes) -> None:
    """Stores a value in the open transaction."""
    connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (name, value))


def get_value(connection: sqlite3.Connection, name: str) -> str | int | bytes | None:
    """The value stored under a name; None if there is none."""
    row = connection.execute("SELECT value FROM marks WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def get_int(connection: sqlite3.Connection, name: str) -> int:
    """A stored number; 0 if there is none."""
    value = get_value(connection, name)
    return value if isinstance(value, int) else 0


def open_database(path: Path) -> Database:
    """The gate's database, created if missing. Raises StorageError when it cannot be used.

    If the disk is too full even to open it, it is opened read-only: a gate that cannot record must still be able to
    say so.
    """
    try:
        return Database(path, _open_writable(path))
    except sqlite3.Error as why:
        problem = f"{path.name} cannot be opened: {why}."
        if not _is_full(why):
            raise StorageError(problem) from why
        return Database(path, _open_immutable(path), f"{problem} Free some space or replace the card.")


def has_room(path: Path) -> bool:
    """Whether a database that could not be written can be written now."""
    try:
        connection = _open_writable(path)
    except (sqlite3.Error, StorageError):
        return False
    connection.close()
    return True


def _open_writable(path: Path) -> sqlite3.Connection:
    connection = connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        migrate(connection)
        connection.execute("SELECT 1 FROM marks").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _open_immutable(path: Path) -> sqlite3.Connection:
    """Opens the file immutable: nothing is created, the log is ignored, nothing can be written."""
    with suppress(sqlite3.Error):
        connection = _connect_read_only(path, "mode=ro&immutable=1")
        connection.execute("SELECT count(*) FROM branches, gaps").fetchone()
        return connection
    empty = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    migrate(empty)
    return empty


def _is_full(why: sqlite3.Error) -> bool:
    return any(sign in str(why) for sign in ("disk is full", "disk I/O error", "unable to open", "readonly"))


def open_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection for status and listings, beside the process that writes."""
    try:
        return _connect_read_only(path, "mode=ro")
    except sqlite3.Error as why:
        if _is_full(why):
            # On a full disk nobody else can be writing either, so the file may be opened as immutable.
            with suppress(sqlite3.Error):
                return _connect_read_only(path, "mode=ro&immutable=1")
        raise StorageError(f"{path.name} cannot be read: {why}.") from why


def _connect_read_only(path: Path, parameters: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{path}?{parameters}", uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM marks").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode, for use by several threads under the caller's lock."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=64, timeout=5)


def migrate(connection: sqlite3.Connection) -> None:
    """Migrates the file to the current schema. Raises StorageError for a file of a newer program."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise StorageError("This home was written by a newer gate program. Update the program; nothing was changed.")
    if version < SCHEMA_VERSION:
        # Imported for a file that is behind only: sqlite-utils would add a third to the start of every command.
        from gate_app.schema import bring_up_to_date

        bring_up_to_date(connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
