"""Checks a chain through its sealed files, and brings lines back from one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from shared.errors import Conflict, GatehouseError, NotFound
from sync_server.archives import sealed_files, store
from sync_server.archives.audit_log.putting_away import PART
from sync_server.audit import segments
from sync_server.audit.chain_check import CHAIN_START, ChainBreak, ChainPosition, check_chain
from sync_server.config import Config
from sync_server.plumbing.database import Database

_PAGE: Final = 500


def check(
    database: Database, config: Config, chain: str, public: bytes | None, known: Iterable[ChainPosition] = ()
) -> ChainBreak | None:
    """The first break of a chain within its files, from its very first line; None where the table goes on from them."""
    with database.reading() as session:
        found = segments.segments(session, chain)
    position, noted = CHAIN_START, list(known)
    for segment in found:
        here = [one for one in noted if segment.first_seq <= one.seq <= segment.last_seq]
        try:
            file = store.path_of(config, segment.file)
            sealed_files.verify(file, public)
        except GatehouseError as problem:
            return ChainBreak(segment.first_seq, None, problem.message)
        checked = check_chain(_lines(database, config, segment), position, here)
        if checked.broken is not None:
            return checked.broken
        position = checked.place
        if position != ChainPosition(segment.last_seq, segment.seal):
            return ChainBreak(segment.last_seq, None, f"{segment.file} does not end where the database says.")
    return None


def restore(database: Database, config: Config, chain: str) -> int:
    """Bring the lines of the newest file back into the table; how many. The file stays."""
    with database.reading() as session:
        found = segments.segments(session, chain)
    if not found:
        raise NotFound("No line of this chain was put away.", code="no_audit_segment")
    segment = found[-1]
    file = store.path_of(config, segment.file)
    if sealed_files.digest_of(file) != segment.sha256:
        raise Conflict(f"{file} is not the file that was written. Put the right one back.", code="archive_file_differs")
    for page in _pages(config, segment):
        with database.writing() as session:
            segments.put_back(session, segment, page)
    with database.writing() as session:
        segments.drop(session, segment)
    return segment.last_seq - segment.first_seq + 1


def _lines(database: Database, config: Config, segment: segments.Segment) -> Iterator[Any]:
    for page in _pages(config, segment):
        with database.reading() as session:
            yield from segments.with_personal_values(session, segment.organisation_id, page)


def _pages(config: Config, segment: segments.Segment) -> Iterator[list[Any]]:
    file = store.path_of(config, segment.file)
    part = sealed_files.read_manifest(file).manifest.part(PART)
    if part is None:
        return
    with sealed_files.opened(file) as archive:
        # The standard library keeps every number and character exactly as the seal covers it.
        walk = map(json.loads, sealed_files.lines(archive, part))
        while page := list(islice(walk, _PAGE)):
            yield page
