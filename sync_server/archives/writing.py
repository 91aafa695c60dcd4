"""Writes an event's file, reads it back, and only then lets anything leave the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import StorageError
from sync_server.archives import figures, sealed_files
from sync_server.archives.event_rows import event_tables
from sync_server.archives.sealed_files import SealedFileWriter
from sync_server.events.queries import Event
from sync_server.migrations import schema

KIND = "event"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that is on disk, was read back from there, and is what was to be written."""

    sha256: bytes
    size: int
    rows: int
    figures: Mapping[str, Any]


def write(
    session: Session,
    event: Event,
    file: Path,
    *,
    organisation: Mapping[str, Any],
    key: Ed25519PrivateKey,
    now: Millis,
) -> WrittenFile:
    """Write the event's rows as they are in this snapshot of the database; StorageError if the disk fails.

    A file of that name is replaced: it is of an attempt that was interrupted before anything left the tables.
    """
    try:
        writer = SealedFileWriter(file, now)
        try:
            for each in event_tables():
                writer.add(each.name, each.columns, each.lines(session, event.key), leaves=each.rule.leaves)
            manifest = writer.seal(KIND, organisation, _about(session, event), made_at=now, key=key)
        finally:
            writer.discard()
        sealed_files.verify(file, key.public_key().public_bytes_raw())
        digest, size = sealed_files.digest_of(file), file.stat().st_size
    except OSError as problem:
        raise StorageError(f"{file} cannot be written: {problem.strerror}. Nothing has left the tables.") from None
    rows = sum(part.rows for part in manifest.parts if part.leaves)
    return WrittenFile(digest, size, rows, manifest.about["figures"])


def _about(session: Session, event: Event) -> dict[str, Any]:
    named = {name: getattr(event, name) for name in ("id", "number", "code", "slug", "name", "start_at", "end_at")}
    return {"event": named, "figures": figures.figures_of(session, event), "schema": schema.newest()}
