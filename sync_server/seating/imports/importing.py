"""Writes an imported layout: the rows go into one that nobody sees, and the last transaction shows it."""

from __future__ import annotations

from typing import Any, Final

from msgspec import structs
from sqlalchemy.orm import Session

from sync_server.plumbing.database import Database
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.seating import layout_rows, service
from sync_server.seating.imports import queue
from sync_server.seating.imports.claimed import ClaimedImport, ImportWorker, Superseded
from sync_server.seating.imports.guest_importing import GuestImport
from sync_server.seating.imports.reader import Message, ReaderLost, reading
from sync_server.seating.layout_rows import LayoutKey
from sync_server.seating.layouts.plan import ZoneType
from sync_server.seating.models import ImportRecord, LayoutRecord

ROWS: Final = 1_000
"""In one transaction."""
BEAT_S: Final = 5.0
"""How often a worker says that it still reads."""


class Imports(ImportWorker):
    """Works on imports of every kind, one after another."""

    def run(self, database: Database, context: ActionContext) -> object:
        """Work on the next import until it ends; MORE, because another may wait."""
        row = queue.claim(database, context)
        if row is None:
            return None
        kind = LayoutImport if row.event_id is None else GuestImport
        kind(database, row, context, self).run()
        return MORE


class LayoutImport(ClaimedImport):
    """The import of a layout."""

    def _write(self) -> None:
        row = self._row
        query = {"format": row.format, "name": row.name, "focus_x": row.focus_x, "focus_y": row.focus_y}
        parts = queue.parts(self._database, self._organisation_id, self._id)
        seen = 0
        try:
            with reading(parts, query, _key(row), size=ROWS, beat_s=BEAT_S) as messages:
                for message in messages:
                    seen = self._take(message, seen)
        except ReaderLost:
            LOG.warning("import_reader_lost", import_id=self._id)
            self._let_go()
            raise Superseded from None

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

    def _begin(self, session: Session, row: ImportRecord, message: Message) -> None:
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

    def _store(self, session: Session, row: ImportRecord, kind: str, rows: list[dict[str, Any]], before: int) -> None:
        """Store the rows that no worker has stored; they come in the same order each time."""
        missing = rows[max(0, row.written - before) :]
        layout_rows.insert_batch(session, kind, missing)
        row.written += len(missing)

    def _switch_on(self, session: Session, row: ImportRecord) -> None:
        layout = session.get_one(LayoutRecord, (self._organisation_id, row.layout_id))
        now = self._database.clock()
        service.switch_on(session, layout, structs.replace(self._context, now=now))
        queue.finish(session, row, "done", now)

    def _erase_some(self, session: Session, row: ImportRecord) -> bool:
        if layout_rows.erase_some(session, _key(row), most=ROWS):
            return True
        layout = session.get(LayoutRecord, (self._organisation_id, row.layout_id))
        if layout is not None:
            session.delete(layout)
        return False


def _key(row: ImportRecord) -> LayoutKey:
    return LayoutKey(row.organisation_id, str(row.layout_id), str(row.family_id))
