"""Writes an import: the rows go into a layout that nobody sees, and the last transaction shows it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import MonotonicClock
from shared.errors import GatehouseError
from sync_server.plumbing.database import Database
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.principals import ActionContext, Actor
from sync_server.seating import layout_rows, service
from sync_server.seating.imports import queue
from sync_server.seating.imports.reader import Message, ReaderLost, reading
from sync_server.seating.layout_rows import LayoutKey
from sync_server.seating.layouts.plan import ZoneType
from sync_server.seating.models import LayoutImportRecord, LayoutRecord

ROWS: Final = 1_000
"""In one transaction."""
BEAT_S: Final = 5.0
"""How often a worker says that it still reads."""


class Superseded(Exception):
    """Another worker has taken over, or nobody wants it any more: this one writes nothing further."""


@dataclass(frozen=True, slots=True)
class Imports:
    """What a worker needs to work on imports."""

    monotonic: MonotonicClock
    stop: threading.Event

    def run(self, database: Database, context: ActionContext) -> object:
        """Work on the next import until it ends; MORE, because another may wait."""
        row = queue.claim(database, context)
        if row is None:
            return None
        Import(database, row, context, self).run()
        return MORE


class Import:
    """One import, claimed by this worker."""

    def __init__(self, database: Database, row: LayoutImportRecord, context: ActionContext, worker: Imports) -> None:
        self._database, self._worker = database, worker
        self._organisation_id, self._id, self._claim = row.organisation_id, row.id, row.claim
        self._key = LayoutKey(row.organisation_id, row.layout_id, row.family_id)
        self._row = row
        self._context = replace(context, actor=Actor(**row.started_by))

    def run(self) -> None:
        """Read and write; what refuses the layout, or cancels it, deletes what is written."""
        try:
            if not self._row.ending:
                self._write()
        except GatehouseError as refused:
            self._fail(queue.problem(refused.error_code, refused.message, **refused.details))
        except ReaderLost:
            LOG.warning("import_reader_lost", import_id=self._id)
            self._let_go()
            return
        except Superseded:
            pass
        self._clean()

    def _write(self) -> None:
        row = self._row
        query = {"format": row.format, "name": row.name, "focus_x": row.focus_x, "focus_y": row.focus_y}
        parts = queue.parts(self._database, self._organisation_id, self._id)
        seen = 0
        with reading(parts, query, self._key, size=ROWS, beat_s=BEAT_S) as messages:
            for message in messages:
                if self._worker.stop.is_set():
                    self._let_go()
                    raise Superseded
                seen = self._take(message, seen)

    def _take(self, message: Message | None, seen: int) -> int:
        """Do what the reader's message asks for; how many rows it has named so far."""
        if message is None:
            self._step(lambda _session, _row: None)
        elif "problem" in message:
            self._fail(message["problem"])
            raise Superseded
        elif "layout" in message:
            self._step(lambda session, row: self._begin(session, row, message))
        elif "rows" in message:
            rows, before = message["rows"], seen
            with self._resting():
                self._step(lambda session, row: self._store(session, row, message["kind"], rows, before))
            return seen + len(rows)
        else:
            self._step(self._switch_on)
        return seen

    def _step(self, write: Callable[[Session, LayoutImportRecord], None]) -> None:
        """One short transaction; Superseded where the import is another's, or is to end."""
        with self._database.writing() as session:
            row = self._locked(session)
            if row is None or row.ending:
                raise Superseded
            row.seen_at = self._database.clock()
            write(session, row)

    def _locked(self, session: Session) -> LayoutImportRecord | None:
        mine = LayoutImportRecord.organisation_id == self._organisation_id, LayoutImportRecord.id == self._id
        claimed = LayoutImportRecord.claim == self._claim, LayoutImportRecord.state == "running"
        return session.execute(select(LayoutImportRecord).where(*mine, *claimed).with_for_update()).scalar_one_or_none()

    def _begin(self, session: Session, row: LayoutImportRecord, message: Message) -> None:
        types, columns = [ZoneType(name) for name in message["zone_types"]], message["layout"]
        service.check_allowed(session, self._organisation_id, row.venue_id, columns["total_capacity"], types)
        if row.rows:
            return  # a worker before this one has begun
        row.rows = message["rows_in_all"]
        session.add(
            LayoutRecord(
                id=row.layout_id,
                organisation_id=self._organisation_id,
                venue_id=row.venue_id,
                family_id=row.family_id,
                version=0,
                status="importing",
                **columns,
                created_at=row.created_at,
                updated_at=row.created_at,
            )
        )
        session.flush()

    def _store(
        self, session: Session, row: LayoutImportRecord, kind: str, rows: list[dict[str, Any]], before: int
    ) -> None:
        """Store the rows that no worker has stored; they come in the same order each time."""
        missing = rows[max(0, row.written - before) :]
        layout_rows.insert_batch(session, kind, missing)
        row.written += len(missing)

    def _switch_on(self, session: Session, row: LayoutImportRecord) -> None:
        layout = session.get_one(LayoutRecord, (self._organisation_id, row.layout_id))
        now = self._database.clock()
        service.switch_on(session, layout, replace(self._context, now=now))
        queue.finish(session, row, "done", now)

    @contextmanager
    def _resting(self) -> Iterator[None]:
        """Rest as long as that took where there is one writer at a time: others get half of it."""
        began = self._worker.monotonic()
        yield
        if self._database.embedded:
            self._worker.stop.wait((self._worker.monotonic() - began) / 1e9)

    def _fail(self, problem: dict[str, Any]) -> None:
        with self._database.writing() as session:
            row = self._locked(session)
            if row is not None and not row.ending:
                row.ending, row.problem = "failed", problem

    def _let_go(self) -> None:
        """Let another worker go on at once."""
        with self._database.writing() as session:
            row = self._locked(session)
            if row is not None:
                row.claim, row.seen_at = None, 0

    def _clean(self) -> None:
        """Delete what is written of an import that is to end, some rows at a time; then it has ended."""
        while True:
            with self._resting(), self._database.writing() as session:
                row = self._locked(session)
                if row is None or not row.ending:
                    return
                row.seen_at = self._database.clock()
                if layout_rows.erase_some(session, self._key, most=ROWS):
                    continue
                layout = session.get(LayoutRecord, (self._organisation_id, row.layout_id))
                if layout is not None:
                    session.delete(layout)
                queue.finish(session, row, row.ending, self._database.clock())
                return
