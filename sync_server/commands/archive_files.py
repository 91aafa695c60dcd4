"""Puts an event away and brings it back, in this process and to the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest, NotFound, StorageError
from shared.ids import is_uuid
from sync_server.archives import queries, sealed_files, service, store
from sync_server.archives.rules import AT_WORK
from sync_server.archives.service import Asked
from sync_server.archives.work import ArchiveWorker
from sync_server.archives.writing import KIND
from sync_server.commands.console import echo, open_runtime, operator_context, print_json
from sync_server.commands.people import organisation_id
from sync_server.devices import identity
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey
from sync_server.runtime import ServerRuntime


def put_away(named: str, org: str, reason: str, *, confirm: bool) -> None:
    """Put this event away, or go on where an earlier run ended; prints its archive."""
    with open_runtime() as runtime:
        store.folder(runtime.parts.config)
        with runtime.parts.database.writing() as session:
            event = _event(session, organisation_id(session, org), named)
            service.ask(session, event, Asked(operator_context(runtime), reason, confirm))
        _finish(runtime, event)


def restore(file: Path, reason: str) -> None:
    """Bring the event of this file back into the tables; prints its archive."""
    with open_runtime() as runtime:
        with runtime.parts.database.writing() as session:
            public = identity.public_key(session, runtime.parts.sealer)
        manifest = sealed_files.read_manifest(file, public).manifest
        if manifest.kind != KIND:
            raise InvalidRequest(f"{file} is not an event's file: its kind is {manifest.kind}.")
        event = EventKey(manifest.organisation["id"], manifest.about["event"]["id"])
        with runtime.parts.database.writing() as session:
            service.ask_back(session, event, operator_context(runtime), reason=reason)
        _finish(runtime, event, file)


def _finish(runtime: ServerRuntime, event: EventKey, file: Path | None = None) -> None:
    worker = ArchiveWorker(runtime.parts, _say)
    worker.carry_on_with(event, file=file)
    with runtime.parts.database.reading() as session:
        archive = queries.archive(session, event)
    print_json(_json(archive))
    if archive.state in AT_WORK:
        why = archive.problem or "Another process works on it."
        raise StorageError(f"The archive is {archive.state}, and goes on by itself. {why}")
    echo(f"The event is {archive.state.replace('_', ' ')}: {archive.rows} rows, {archive.file}.")


def _say(state: str, done: int, rows: int) -> None:
    echo(f"{state} {done} of {rows} rows")


def _json(archive: queries.Archive) -> dict[str, Any]:
    names = ("event_id", "state", "file", "size", "rows", "rows_done", "figures", "problem")
    digest = None if archive.sha256 is None else archive.sha256.hex()
    return {name: getattr(archive, name) for name in names} | {"sha256": digest}


def _event(session: Session, owner_id: str, named: str) -> EventKey:
    if is_uuid(named):
        return events.event(session, owner_id, named).key
    if named.isdecimal():
        found = events.ids(session, owner_id, [int(named)]).get(int(named))
    else:
        found = events.id_of_slug(session, owner_id, named)
    if found is None:
        raise NotFound(f"The organisation has no event {named!r}. Name it by its slug, its number or its id.")
    return EventKey(owner_id, found)
