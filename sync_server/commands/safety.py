"""Backups, restores, and what the doctor looks at."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import make_url, text
from sqlalchemy.exc import SQLAlchemyError

from shared.errors import Conflict, GatehouseError, StorageError
from sync_server import config as settings
from sync_server.commands.ground import deed, ground
from sync_server.config import Config
from sync_server.migrations import schema
from sync_server.outbox import queries as outbox
from sync_server.revisions import service as revisions

_MAGIC = b"SQLite format 3\x00"


def backup(file: Path) -> None:
    """The whole database in one file, while the server goes on. The master key is not in it: keep it apart."""
    config = settings.from_environment()
    if file.exists():
        raise Conflict(f"{file} exists already. Choose another name: a backup never overwrites one.")
    if config.embedded:
        _copy(config.database_file, file)
    else:
        _pg("pg_dump", config, "--format=custom", "--no-owner", f"--file={file}", "--dbname")


def restore(file: Path) -> None:
    """Put a backup in the place of the database, and let gates know that history may differ from what they heard."""
    config = settings.from_environment()
    if not file.is_file():
        raise Conflict(f"There is no file {file}.")
    if config.embedded:
        _restore_embedded(config, file)
    else:
        _pg("pg_restore", config, "--clean", "--if-exists", "--no-owner", str(file), "--dbname")
    _begin_new_lineage()


def _restore_embedded(config: Config, file: Path) -> None:
    if file.open("rb").read(len(_MAGIC)) != _MAGIC:
        raise Conflict(f"{file} is no backup of this server.")
    _require_stopped(config.database_file)
    if config.database_file.exists():
        _copy(config.database_file, _aside(config.database_file))
    _copy(file, config.database_file)


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
            raise Conflict("The server is running. Stop it, then restore.") from None


def _aside(database: Path) -> Path:
    """What was there before is kept: a restore of the wrong file must not be the end."""
    number = 1
    while (kept := database.with_name(f"{database.name}.before-restore-{number}")).exists():
        number += 1
    return kept


def _copy(source: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as problem:
        raise StorageError(f"The copy from {source} to {target} failed: {problem}") from None


def _pg(program: str, config: Config, *words: str) -> None:
    """Run one of PostgreSQL's programs; the address comes last, its password where no process list shows it."""
    address = make_url(config.database_url)
    environment = {**os.environ, "PGPASSWORD": address.password} if address.password else dict(os.environ)
    public = address.set(drivername="postgresql", password=None).render_as_string()
    found = shutil.which(program)
    if found is None:
        raise StorageError(f"{program} is not installed. Install PostgreSQL's client programs and try again.")
    done = subprocess.run([found, *words, public], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StorageError(f"{program} failed: {done.stderr.strip()}")


def _begin_new_lineage() -> None:
    with ground(prepared=False) as here:
        schema.upgrade(here.parts.database.engine)
        with here.parts.database.writing() as session:
            revisions.renew_lineage(session, here.parts.entropy, deed(here).now)


def examine() -> list[dict[str, Any]]:
    """Each thing that must be right, whether it is, and what to do about it."""
    try:
        config = settings.from_environment()
    except GatehouseError as problem:
        return [_finding("settings", problem.message)]
    findings = [_finding("settings", None), _disk(config)]
    try:
        with ground(prepared=False) as here:
            return [*findings, _finding("master key", None), *_database(here)]
    except GatehouseError as problem:
        return [*findings, _finding("master key", problem.message)]


def _database(here: Any) -> list[dict[str, Any]]:
    database = here.parts.database
    try:
        with database.reading() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError as problem:
        return [
            _finding("database", f"It does not answer: {type(problem).__name__}. Is the address right, and is it up?")
        ]
    behind = schema.current(database.engine) != schema.newest()
    findings = [
        _finding("database", None),
        _finding("schema", "It is not current: run `gatehouse-server migrate`." if behind else None),
    ]
    return findings if behind else [*findings, _outbox(database)]


def _outbox(database: Any) -> dict[str, Any]:
    with database.reading() as session:
        waiting = outbox.waiting(session)
    many = f"{waiting} facts wait for delivery. Is a worker running? `gatehouse-server worker`"
    return _finding("outbox", many if waiting > 1_000 else None)


def _disk(config: Config) -> dict[str, Any]:
    folder = config.database_file.parent if config.embedded else Path.cwd()
    free = shutil.disk_usage(folder if folder.exists() else Path.cwd()).free // 1_000_000
    return _finding("disk", f"Only {free} MB are free. Make room." if free < 500 else None)


def _finding(part: str, problem: str | None) -> dict[str, Any]:
    return {"part": part, "ok": problem is None, "problem": problem}
