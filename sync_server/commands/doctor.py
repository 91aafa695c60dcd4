"""What the doctor looks at; he looks only, and makes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from shared.errors import GatehouseError
from sync_server import config as settings
from sync_server.app import Ground
from sync_server.commands.ground import ground, unreachable
from sync_server.config import Config
from sync_server.devices import identity
from sync_server.migrations import schema
from sync_server.outbox import queries as outbox
from sync_server.plumbing.database import Database
from sync_server.watch import service as watch

Finding = dict[str, Any]


def examine() -> list[Finding]:
    """Each thing that must be right, whether it is, and what to do about it."""
    try:
        config = settings.from_environment()
    except GatehouseError as problem:
        return [_finding("settings", problem.message)]
    findings = [_finding("settings", None), _disk(config)]
    if config.embedded and not config.database_file.exists():
        words = f"There is none at {config.database_file.absolute()} yet: run `gatehouse-server migrate`, or start it."
        return [*findings, _finding("database", words)]
    if not config.key_file.exists():
        words = f"There is none at {config.key_file.absolute()}. Put your copy of it there."
        return [*findings, _finding("master key", f"{words} The first ever is made by `gatehouse-server key master`.")]
    try:
        with ground(config, prepared=False) as here:
            return [*findings, *_database(here)]
    except (GatehouseError, OSError) as problem:
        return [*findings, _finding("master key", str(problem))]


def _database(here: Ground) -> list[Finding]:
    database = here.parts.database
    try:
        with database.reading() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError as problem:
        return [_finding("database", unreachable(problem))]
    behind = schema.current(database.engine) != schema.newest()
    findings = [
        _finding("database", None),
        _finding("schema", "It is not current: run `gatehouse-server migrate`." if behind else None),
    ]
    return findings if behind else [*findings, _key(here), _outbox(database), _crossings(database)]


def _key(here: Ground) -> Finding:
    """Whether it opens what was sealed; a server that never started has sealed nothing."""
    try:
        with here.parts.database.reading() as session:
            identity.public_key(session, here.parts.sealer)
    except GatehouseError as problem:
        return _finding("master key", problem.message)
    return _finding("master key", None)


def _crossings(database: Database) -> Finding:
    """Looked for anew, not taken from the last nightly check."""
    with database.reading() as session:
        found = list(watch.look_at_once(session, database.clock()))
    rows = "; ".join(f"{one.place} of {one.row}" for one in found[:5])
    words = f"{len(found)} rows point into another organisation ({rows}). Stop what writes them and tell the makers."
    return _finding("organisations apart", words if found else None)


def _outbox(database: Database) -> Finding:
    with database.reading() as session:
        waiting = outbox.waiting(session)
    many = f"{waiting} facts wait for delivery. Is a worker running? `gatehouse-server worker`"
    return _finding("outbox", many if waiting > 1_000 else None)


def _disk(config: Config) -> Finding:
    folder = config.database_file.parent if config.embedded else Path.cwd()
    free = shutil.disk_usage(folder if folder.exists() else Path.cwd()).free // 1_000_000
    return _finding("disk", f"Only {free} MB are free. Make room." if free < 500 else None)


def _finding(part: str, problem: str | None) -> Finding:
    return {"part": part, "ok": problem is None, "problem": problem}
