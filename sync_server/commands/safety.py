"""Backups and restores: all of it or nothing, while whatever was there before is kept until it is done."""

from __future__ import annotations

import os
from pathlib import Path

from shared.errors import Conflict, StorageError
from sync_server import config as settings
from sync_server.commands import postgres_backups, sqlite_backups
from sync_server.commands.ground import deed, ground
from sync_server.config import Config
from sync_server.devices import identity
from sync_server.migrations import schema
from sync_server.revisions import service as revisions


def backup(file: Path) -> None:
    """The whole database in one file, while the server goes on. The master key is not in it: keep it apart."""
    config = settings.from_environment()
    _refuse_to_overwrite(file)
    unfinished = _begun(file)
    try:
        if config.embedded:
            sqlite_backups.backup(config.database_file, unfinished)
        else:
            postgres_backups.backup(config, unfinished)
        _end(unfinished, file)
    except OSError as problem:
        raise StorageError(f"{file} cannot be written: {problem.strerror}. There is no backup of that name.") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _refuse_to_overwrite(file: Path) -> None:
    if os.path.lexists(file):
        raise Conflict(f"{file} exists already. Choose another name: a backup never overwrites one.")


def _begun(file: Path) -> Path:
    """Where it is written until it is whole; guests' names are in it, so only its owner may read it."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise Conflict(
            f"{unfinished} exists: another backup is being written, or one was broken off. "
            "If none is, delete that file and try again."
        ) from None
    except OSError as problem:
        raise StorageError(f"{file} cannot be written: {problem.strerror}. There is no backup of that name.") from None
    return unfinished


def _end(unfinished: Path, file: Path) -> None:
    """A backup of that name is a whole one, also after a power cut."""
    with unfinished.open("rb") as written:
        os.fsync(written.fileno())
    _refuse_to_overwrite(file)
    unfinished.rename(file)


def restore(file: Path) -> None:
    """Put a backup in the place of the database, and let gates know that history may differ from what they heard."""
    config = settings.from_environment()
    if not file.is_file():
        raise Conflict(f"There is no file {file}. Nothing was changed.")
    _require_key(config)
    if config.embedded:
        with sqlite_backups.restored(file, config.database_file) as beside:
            _begin_new_lineage(config.model_copy(update={"database_url": f"sqlite:///{beside}"}))
    else:
        postgres_backups.restore(file, config)
        _begin_new_lineage(config)


def _require_key(config: Config) -> None:
    """A key made anew would open nothing that the backup holds."""
    if not config.key_file.exists():
        raise Conflict(
            f"There is no master key at {config.key_file}: without the one that belongs to the backup it is of no use. "
            "Put your copy of it there, then restore. Nothing was changed."
        )


def _begin_new_lineage(config: Config) -> None:
    with ground(config, prepared=False) as here:
        schema.upgrade(here.parts.database.engine)
        with here.parts.database.writing() as session:
            revisions.renew_lineage(session, here.parts.entropy, deed(here).now)
        with here.parts.database.writing() as session:
            identity.private_key(session, here.parts.sealer)  # opens only with the key that belongs to the backup
