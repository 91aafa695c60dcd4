"""Backups of an SQLite database: copied by SQLite itself, restored beside the old one and then exchanged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from shared.errors import Conflict, StorageError
from sync_server.migrations import schema

_MAGIC: Final = b"SQLite format 3\x00"
_PARTS: Final = ("", "-wal", "-shm")


def backup(database: Path, file: Path) -> None:
    """One state of the database in this file, while others read and write."""
    if not database.is_file():
        raise Conflict(
            f"There is no database at {database}. Is GATEHOUSE_DATABASE_URL right, and this the right folder?"
        )
    _copy(database, file)


@contextmanager
def restored(file: Path, database: Path) -> Iterator[Path]:
    """The backup in a file beside the database; it takes the database's place when the block ends well."""
    _require_backup(file)
    _require_stopped(database)
    beside = database.with_name(f"{database.name}.restoring")
    _remove(beside)
    try:
        _copy(file, beside)
        yield beside
        _close(beside)
        _exchange(database, beside)
    finally:
        _remove(beside)


def _require_backup(file: Path) -> None:
    """Whole, ours, and of a schema that this program knows."""
    with file.open("rb") as opened:
        ours = opened.read(len(_MAGIC)) == _MAGIC
    revision = _revision(file) if ours else None
    if revision is None:
        raise Conflict(f"{file} is no backup of this server. Nothing was changed.")
    schema.require_known(revision)


def _revision(file: Path) -> str | None:
    try:
        with closing(sqlite3.connect(f"file:{file.absolute()}?mode=ro&immutable=1", uri=True)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if found == "ok":
                tables = "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'"
                if connection.execute(tables).fetchone() == (0,):
                    return None
                return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    except sqlite3.Error as problem:
        found = str(problem)
    raise Conflict(f"{file} is cut short or damaged ({found}). Nothing was changed. Take another backup.")


def _require_stopped(database: Path) -> None:
    """A server that runs would go on answering from what it remembers."""
    if not database.exists():
        return
    with closing(sqlite3.connect(database, timeout=1, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
        except sqlite3.OperationalError:
            raise Conflict("The server is running. Stop it, then restore. Nothing was changed.") from None
        except sqlite3.DatabaseError:
            return  # what is no database any more, nobody serves: the very reason to restore one


def _exchange(database: Path, beside: Path) -> None:
    """What was there before is kept: a restore of the wrong file must not be the end."""
    number = 1
    while (kept := database.with_name(f"{database.name}.before-restore-{number}")).exists():
        number += 1
    for part in _PARTS:
        before = Path(f"{database}{part}")
        if before.exists():
            before.rename(f"{kept}{part}")
    beside.rename(database)


def _close(database: Path) -> None:
    """Leave everything in the one file."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _remove(database: Path) -> None:
    for part in _PARTS:
        Path(f"{database}{part}").unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as problem:
        raise StorageError(f"The copy from {source} to {target} failed: {problem}. Nothing was changed.") from None
