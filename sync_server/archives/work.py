"""Carries archives on, step by step: writes and verifies the file, empties the tables, or brings everything back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from shared.clock import Millis
from shared.errors import Conflict, GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.archives import queries, removing, restoring, sealed_files, service, store, writing
from sync_server.archives.models import EventArchiveRow
from sync_server.archives.removing import ChangedSinceWrittenError
from sync_server.archives.rules import AT_WORK, State
from sync_server.devices import identity
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.scans import quarantine

Progress = Callable[[str, int, int], None]
"""Hears the state, and how many rows of how many have gone or come back."""
TURN_MS: Final = 10_000
"""After so long other heavy work has its turn; what was begun goes on afterwards."""


class ArchiveWorker:
    """Works on one archive at a time, each under a lease."""

    def __init__(self, parts: Parts, progress: Progress = lambda *_: None) -> None:
        """`progress` hears of every piece."""
        self._parts, self._database, self._progress = parts, parts.database, progress

    def carry_on(self) -> object:
        """Work on what waits until it is the turn of others; MORE where something is left."""
        until = self._now() + TURN_MS
        with self._database.reading() as session:
            waiting = queries.to_do(session, self._now())
        for event in waiting:
            if not self.carry_on_with(event, until=until):
                return MORE
        return None

    def carry_on_with(self, event: EventKey, *, until: Millis | None = None, file: Path | None = None) -> bool:
        """Carry one archive on; False where its turn ended first. `file` is used instead of the one in the folder.

        What fails is noted with the archive, and tried again in some minutes.
        """
        with self._database.writing() as session:
            if service.lease(session, event, self._now()) is None:
                return True
        try:
            return self._work(event, until, file)
        except GatehouseError as problem:
            LOG.error("archive_failed", event_id=event.event_id, problem=problem.error_code)
            with self._database.writing() as session:
                service.failed(session, event, problem.message, self._now())
            return True

    def _work(self, event: EventKey, until: Millis | None, file: Path | None) -> bool:
        while True:
            with self._database.reading() as session:
                archive = queries.archive(session, event)
            if archive.state not in AT_WORK:
                return True
            if not self._step(event, archive, until, file):
                with self._database.writing() as session:
                    service.release(session, event)
                return False

    def _step(self, event: EventKey, archive: EventArchiveRow, until: Millis | None, file: Path | None) -> bool:
        """Bring the archive into its next state; False where its turn ended first."""
        if archive.state == State.WRITING:
            return self._write(event)
        if archive.state == State.REMOVING:
            return self._remove(event, archive, until)
        return self._restore(event, archive, until, file)

    def _write(self, event: EventKey) -> bool:
        with self._database.writing() as session:
            key = identity.private_key(session, self._parts.sealer)
        with self._database.reading() as session:
            row, owner = events.event(session, *event), accounts.organisation(session, event.organisation_id)
            name = f"{owner.slug}/{row.slug}-{row.number}.zip"
            named = {"id": owner.id, "slug": owner.slug, "name": owner.name}
            file = store.folder(self._parts.config) / name
            written = writing.write(session, row, file, organisation=named, key=key, now=self._now())
        with self._database.writing() as session:
            service.written(session, event, name, written, self._now())
        return True

    def _remove(self, event: EventKey, archive: EventArchiveRow, until: Millis | None) -> bool:
        file = self._file(archive)
        try:
            for rows in removing.remove(self._database, event, file):
                self._count(event, archive, rows)
                if self._over(until):
                    return False
        except ChangedSinceWrittenError:
            LOG.warning("archive_written_again", event_id=event.event_id)
            with self._database.writing() as session:
                service.write_again(session, event)
            return True
        with self._database.writing() as session:
            service.removed(session, event, self._context())
        return True

    def _restore(self, event: EventKey, archive: EventArchiveRow, until: Millis | None, given: Path | None) -> bool:
        file = self._file(archive) if given is None else _checked(given, archive)
        for rows in restoring.restore(self._database, event, file, archive.rows_done, tables_win=archive.again):
            self._count(event, archive, rows)
            if self._over(until):
                return False
        with self._database.writing() as session:
            service.restored(session, event, self._context())
            if not archive.again:
                quarantine.release_of_event(session, event, self._context(), sealer=self._parts.sealer)
        return True

    def _file(self, archive: EventArchiveRow) -> Path:
        return _checked(store.path_of(self._parts.config, archive.file), archive)

    def _count(self, event: EventKey, archive: EventArchiveRow, rows: int) -> None:
        with self._database.writing() as session:
            service.count(session, event, rows, self._now())
        archive.rows_done += rows
        self._progress(archive.state, archive.rows_done, archive.rows)

    def _over(self, until: Millis | None) -> bool:
        return self._parts.stop.is_set() or (until is not None and self._now() >= until)

    def _now(self) -> Millis:
        return self._parts.clock()

    def _context(self) -> ActionContext:
        return ActionContext(SYSTEM, self._now(), self._parts.entropy)


def _checked(file: Path, archive: EventArchiveRow) -> Path:
    """The file, if it is the one that was written; Conflict for another."""
    if sealed_files.digest_of(file) != archive.sha256:
        raise Conflict(
            f"{file} is not the file that was written when the event was put away, or has been altered. Nothing was "
            "changed. Put the right one back from its backup.",
            code="archive_file_differs",
        )
    return file
