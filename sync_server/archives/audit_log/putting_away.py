"""Puts old lines of the audit log away: a sealed file first, and only then do they leave the table, in pieces.

Personal values never leave their table, where erasures find them: a file has only salted hashes of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import StorageError
from sync_server.archives import sealed_files, store
from sync_server.archives.sealed_files import SealedFileWriter
from sync_server.audit import segments
from sync_server.config import Config
from sync_server.plumbing.database import Database

KIND: Final = "audit"
PART: Final = "audit_lines"
MOST: Final = 50_000
"""Lines in one file."""
LEAST: Final = 1_000
"""Fewer wait for others: files of a few lines each would only be in the way."""
PIECE: Final = 1_000
PIECE_EMBEDDED: Final = 250
"""On SQLite every other writer waits for that transaction."""
Key = Callable[[Session], Ed25519PrivateKey]


def put_away(
    database: Database, config: Config, key: Key, chain: str, before: Millis, *, least: int = LEAST
) -> Iterator[int]:
    """Put the lines of a chain away that were written before then; yields how many left with each transaction.

    It may be interrupted at any moment: what is written but has not left goes on leaving the next time.
    """
    yield from _finish(database, config, chain)
    while _write(database, config, key, chain, before, least=least):
        yield from _finish(database, config, chain)


def _finish(database: Database, config: Config, chain: str) -> Iterator[int]:
    with database.reading() as session:
        waiting = [segment for segment in segments.segments(session, chain) if segments.any_left(session, segment)]
    for segment in waiting:
        yield from _remove(database, store.path_of(config, segment.file), segment)


def _write(database: Database, config: Config, key: Key, chain: str, before: Millis, *, least: int) -> bool:
    """Write the next file, read it back, and note it; False where there is nothing to write."""
    now = database.clock()
    with database.reading() as session:
        start = segments.cut(session, chain)
        rows = list(segments.older(session, chain, before, MOST))
        private = key(session)
    if len(rows) < least:
        return False
    first, last = rows[0].seq or 0, rows[-1].seq or 0
    name = f"{chain}/audit-{first}-{last}-{now}.zip"
    about = {"first": first, "last": last, "seal_before": start.seal.hex(), "seal": (rows[-1].seal or b"").hex()}
    file = store.folder(config) / name
    writer = SealedFileWriter(file, now)
    try:
        writer.add(PART, segments.COLUMNS, map(segments.canonical, rows))
        writer.seal(KIND, {"id": chain}, about, made_at=now, key=private)
        sealed_files.verify(file, private.public_key().public_bytes_raw())
        digest, size = sealed_files.digest_of(file), file.stat().st_size
    except OSError as problem:
        raise StorageError(f"{file} cannot be written: {problem.strerror}. No line has left the table.") from None
    finally:
        writer.discard()
    segment = segments.Segment(
        organisation_id=chain,
        first_seq=first,
        last_seq=last,
        seal_before=start.seal,
        seal=rows[-1].seal,
        file=name,
        sha256=digest,
        size=size,
        written_at=now,
    )
    with database.writing() as session:
        return segments.add(session, segment)


def _remove(database: Database, file: Path, segment: segments.Segment) -> Iterator[int]:
    if sealed_files.digest_of(file) != segment.sha256:
        raise StorageError(f"{file} is not the file that was written: put the right one back. No line has left.")
    part = sealed_files.verify(file).manifest.part(PART)
    with sealed_files.opened(file) as archive:
        known = {_digest(line.rstrip(b"\n")) for line in sealed_files.lines(archive, part)} if part else set[bytes]()
    limit = PIECE_EMBEDDED if database.embedded else PIECE
    while True:
        with database.writing() as session:
            count = segments.remove_piece(session, segment, lambda line: _digest(line) in known, limit)
        if count is None:
            raise StorageError(
                f"The table has a line that {file} does not have: `audit verify` says which was altered."
            )
        if not count:
            return
        yield count


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=16).digest()
