"""The gate's SQLite file: opened for durable writes, migrated, and written by one thread at a time."""

from __future__ import annotations

import os
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

_NOBODY = (
    "Nothing can be recorded, so nobody is let in; what was recorded can still be sent. Free some space or replace the"
    " card, and use another gate until then."
)

SCHEMA_VERSION = 5
"""How many steps of gate_app.storage.schema a file has when it is up to date."""


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
        self.failing = ""
        """Why the last write failed; empty again after one that succeeded."""
        self._reading: sqlite3.Connection | None = None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: everything in the block is on the disk when it ends, or nothing is."""
        with self.lock:
            connection = self.connection
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException as why:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                self._note_failure(why)
                raise
            self.commits += 1
            self.failing = ""

    def _note_failure(self, why: BaseException) -> None:
        if isinstance(why, sqlite3.Error):
            self.failing = unwritable(self.path, why) or self.failing

    def try_to_write(self) -> None:
        """Finds out whether the disk can be written, if there is reason to doubt it: nobody may be scanning."""
        if self.failing or (not self.cannot_write and disk_problem(self.path)):
            with suppress(sqlite3.Error):
                self.put("tried", self.commits)

    def put(self, name: str, value: str | int | bytes) -> None:
        """Stores a value durably."""
        with self.writing() as connection:
            put_value(connection, name, value)

    def put_unsynced(self, name: str, value: str | int | bytes) -> None:
        """Stores a value without fsync: safe from a killed process at once, from a power cut after the next commit."""
        with self.lock:
            try:
                self.connection.execute("PRAGMA synchronous = NORMAL")
                try:
                    put_value(self.connection, name, value)
                finally:
                    self.connection.execute("PRAGMA synchronous = FULL")
            except sqlite3.Error as why:
                self._note_failure(why)
                raise
            self.failing = ""

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

    If the disk cannot be written, its content is opened all the same: a gate that cannot record must still be able to
    say so, and to deliver what it has recorded.
    """
    try:
        return Database(path, _open_writable(path))
    except sqlite3.Error as why:
        problem = unwritable(path, why)
        if not problem:
            raise StorageError(f"{path.name} cannot be opened: {why}.") from why
        return Database(path, _open_in_memory(path), problem)


def unwritable(path: Path, why: sqlite3.Error) -> str:
    """What keeps this file from being written, and what to do about it; empty for other errors, such as damage."""
    if not any(sign in str(why) for sign in ("disk is full", "disk I/O error", "unable to open", "readonly")):
        return ""
    if problem := disk_problem(path):
        return problem
    if not all(os.access(each, os.W_OK) for each in (path, path.parent) if each.exists()):
        return f"This user may not write to {path}. Run this as the user who runs the gate. {_NOBODY}"
    return f"{path.name} cannot be written: {why}. {_NOBODY}"


def disk_problem(path: Path) -> str:
    """What is to be done about the disk of this file if it is read-only or full; otherwise empty."""
    disk = os.statvfs(path.parent)
    if disk.f_flag & os.ST_RDONLY:
        return f"The disk is read-only; its card may be failing. {_NOBODY}"
    return "" if disk.f_bavail else f"The disk is full. {_NOBODY}"


def has_room(path: Path) -> bool:
    """Whether a database that could not be written can be written now."""
    try:
        connection = _open_writable(path)
    except (sqlite3.Error, StorageError):
        return False
    connection.close()
    return True


def _open_writable(path: Path) -> sqlite3.Connection:
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        # SQLite would open it all the same, and fail at the first guest.
        raise sqlite3.OperationalError("attempt to write a readonly database")
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


def _open_in_memory(path: Path) -> sqlite3.Connection:
    """A copy in memory of all but the journal, which is read from the disk and cannot be written.

    So the server's mark and its like can change until the process ends, but nothing counts as recorded.
    """
    copy = sqlite3.connect(":memory:", uri=True, isolation_level=None, check_same_thread=False)
    migrate(copy)
    copy.execute("DROP TABLE journal")
    # Nobody else can be writing either, so no locks and no shared memory are needed, which would be files.
    copy.execute("PRAGMA locking_mode = EXCLUSIVE")
    with suppress(sqlite3.Error):
        copy.execute(f"ATTACH '{_read_only_alone(path)}' AS disk")
        there = _tables(copy, "disk")
        for name in _tables(copy, "main") & there:
            copy.execute(f"DELETE FROM main.{name}")  # noqa: S608 - our own tables
            copy.execute(f"INSERT INTO main.{name} SELECT * FROM disk.{name}")  # noqa: S608 - likewise
        if "journal" in there:
            return copy
    copy.execute("CREATE VIEW journal AS SELECT 0 AS place, x'' AS body WHERE 0")
    return copy


def _tables(connection: sqlite3.Connection, where: str) -> set[str]:
    found = connection.execute(f"SELECT name FROM {where}.sqlite_master WHERE type = 'table'")  # noqa: S608 - our own names
    return {name for (name,) in found}


def open_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection for status and listings, beside the process that writes. Raises StorageError."""
    try:
        return connect_to_read(path)
    except sqlite3.Error as why:
        raise StorageError(f"{path.name} cannot be read: {why}.") from why


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection to a file with marks, also on a disk that cannot be written."""
    try:
        return _connect_read_only(f"file:{path}?mode=ro")
    except sqlite3.Error as why:
        if not unwritable(path, why):
            raise
        return _connect_read_only(_read_only_alone(path), "PRAGMA locking_mode = EXCLUSIVE")


def _read_only_alone(path: Path) -> str:
    return f"file:{path}?mode=ro&vfs=unix-none"


def _connect_read_only(address: str, setting: str = "") -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(setting)
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
        from gate_app.storage.schema import bring_up_to_date

        bring_up_to_date(connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
