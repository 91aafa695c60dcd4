"""Backs up and restores the database, completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from shared.errors import Conflict, StorageError
from sync_server import config as settings
from sync_server.commands import postgres_backups, sqlite_backups
from sync_server.commands.console import open_runtime, operator_context
from sync_server.config import Config
from sync_server.devices import identity
from sync_server.migrations import schema
from sync_server.revisions import service as revisions


def backup(file: Path) -> None:
    """Write the whole database to a file, while the server runs. The master key is not included."""
    config = settings.from_environment()
    _refuse_to_overwrite(file)
    unfinished = _create_unfinished(file)
    try:
        if config.embedded:
            sqlite_backups.backup(config.database_file, unfinished)
        else:
            postgres_backups.backup(config, unfinished)
        _publish(unfinished, file)
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}. No backup was made.") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _refuse_to_overwrite(file: Path) -> None:
    if os.path.lexists(file):
        raise Conflict(f"{file} already exists. Choose another name: a backup never overwrites a file.")


def _create_unfinished(file: Path) -> Path:
    """Create the file that becomes the backup. Only its owner may read it, because it contains guests' names."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise Conflict(
            f"{unfinished} exists: another backup is being written, or one was interrupted. "
            "If none is running, delete that file and try again."
        ) from None
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}. No backup was made.") from None
    return unfinished


def _publish(unfinished: Path, file: Path) -> None:
    """Give a complete backup its name; after a power cut, a file of that name is still complete."""
    with unfinished.open("rb") as written:
        os.fsync(written.fileno())
    _refuse_to_overwrite(file)
    unfinished.rename(file)


def restore(file: Path) -> None:
    """Replace the database by a backup, and start a new lineage, so that gates know that history may differ."""
    config = settings.from_environment()
    if not file.is_file():
        raise Conflict(f"There is no file {file}. Nothing was changed.")
    _require_key(config)
    if config.embedded:
        with sqlite_backups.restored(file, config.database_file) as restored_file:
            _start_new_lineage(config.model_copy(update={"database_url": f"sqlite:///{restored_file}"}))
    else:
        postgres_backups.restore(file, config)
        _start_new_lineage(config)


def _require_key(config: Config) -> None:
    """Conflict without a master key; a new one could not decrypt the backup."""
    if not config.key_file.exists():
        raise Conflict(
            f"There is no master key at {config.key_file}, and the backup is useless without its own. "
            "Put your copy there, then restore. Nothing was changed."
        )


def _start_new_lineage(config: Config) -> None:
    with open_runtime(config, prepared=False) as runtime:
        schema.upgrade(runtime.parts.database.engine)
        with runtime.parts.database.writing() as session:
            revisions.renew_lineage(session, runtime.parts.entropy, operator_context(runtime).now)
        with runtime.parts.database.writing() as session:
            identity.private_key(session, runtime.parts.sealer)  # fails unless the master key belongs to the backup
