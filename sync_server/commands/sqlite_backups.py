"""Backups of an SQLite database, made with SQLite's backup function; a restore swaps the files at the end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from shared.errors import Conflict, StorageError
from sync_server.migrations import schema
from sync_server.plumbing.private_files import SQLITE_SUFFIXES, create_private

_MAGIC: Final = b"SQLite format 3\x00"


def backup(database: Path, file: Path) -> None:
    """Write a consistent copy of the database to the file, while it is in use."""
    if not database.is_file():
        raise Conflict(
            f"There is no database at {database}. Is GATEHOUSE_DATABASE_URL right, and is this the right folder?"
        )
    _copy(database, file)


@contextmanager
def restored(file: Path, database: Path) -> Iterator[Path]:
    """Restore the backup to a temporary file, which replaces the database when the block succeeds."""
    _require_backup(file)
    _require_stopped(database)
    temporary = database.with_name(f"{database.name}.restoring")
    _remove(temporary)
    try:
        create_private(temporary)
        _copy(file, temporary)
        yield temporary
        _close(temporary)
        _exchange(database, temporary)
    finally:
        _remove(temporary)


def _require_backup(file: Path) -> None:
    """Conflict unless the file is an intact backup of this server, with a schema that this version knows."""
    with file.open("rb") as opened:
        is_sqlite = opened.read(len(_MAGIC)) == _MAGIC
    revision = _revision(file) if is_sqlite else None
    if revision is None:
        raise Conflict(f"{file} is not a backup of this server. Nothing was changed.")
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
    except sqlite3.Error as error:
        found = str(error)
    raise Conflict(f"{file} is truncated or damaged ({found}). Nothing was changed. Use another backup.")


def _require_stopped(database: Path) -> None:
    """Conflict if a server is running: it would keep answering from its caches."""
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
            return  # the database is damaged, so no server uses it, and a restore is what is needed


def _exchange(database: Path, temporary: Path) -> None:
    """Swap the files, and keep the old database in case the wrong backup was restored."""
    number = 1
    while (backup_copy := database.with_name(f"{database.name}.before-restore-{number}")).exists():
        number += 1
    for suffix in SQLITE_SUFFIXES:
        old = Path(f"{database}{suffix}")
        if old.exists():
            old.rename(f"{backup_copy}{suffix}")
    temporary.rename(database)


def _close(database: Path) -> None:
    """Move everything from the write-ahead log into the main file."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _remove(database: Path) -> None:
    for suffix in SQLITE_SUFFIXES:
        Path(f"{database}{suffix}").unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as error:
        raise StorageError(f"Copying {source} to {target} failed: {error}. Nothing was changed.") from None
