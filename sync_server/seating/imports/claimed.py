"""An import that a worker has claimed: written in short transactions, until it is done or is to end."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from msgspec import structs
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import MonotonicClock
from shared.errors import GatehouseError
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.principals import ActionContext, Actor
from sync_server.seating.imports import queue
from sync_server.seating.models import ImportRecord


class Superseded(Exception):
    """Another worker has taken over, or nobody wants it any more: this one writes nothing further."""


@dataclass(frozen=True, slots=True)
class ImportWorker:
    """What a worker needs to work on imports."""

    monotonic: MonotonicClock
    stop: threading.Event


class ClaimedImport(ABC):
    """One import, claimed by this worker."""

    def __init__(self, database: Database, row: ImportRecord, context: ActionContext, worker: ImportWorker) -> None:
        self._database, self._worker = database, worker
        self._organisation_id, self._id, self._claim = row.organisation_id, row.id, row.claim
        self._row = row
        self._context = structs.replace(context, actor=Actor(**row.started_by))

    def run(self) -> None:
        """Read and write; what refuses the file, or cancels it, deletes what is written."""
        try:
            if not self._row.ending:
                self._write()
        except GatehouseError as refused:
            self._fail(queue.problem(refused.error_code, refused.message, **refused.details))
        except Superseded:
            pass
        self._clean()

    @abstractmethod
    def _write(self) -> None:
        """Write everything, in steps; Superseded where another goes on, or it is to end."""

    @abstractmethod
    def _erase_some(self, session: Session, row: ImportRecord) -> bool:
        """Delete some of what is written; whether there was any."""

    def _step(self, write: Callable[[Session, ImportRecord], None]) -> None:
        """One short transaction; Superseded where the import is another's, or is to end."""
        if self._worker.stop.is_set():
            self._let_go()
            raise Superseded
        with self._database.writing() as session:
            row = self._locked(session)
            if row is None or row.ending:
                raise Superseded
            row.seen_at = self._database.clock()
            write(session, row)

    def _locked(self, session: Session) -> ImportRecord | None:
        mine = ImportRecord.organisation_id == self._organisation_id, ImportRecord.id == self._id
        claimed = ImportRecord.claim == self._claim, ImportRecord.state == "running"
        return session.execute(select(ImportRecord).where(*mine, *claimed).with_for_update()).scalar_one_or_none()

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
                if self._erase_some(session, row):
                    continue
                queue.finish(session, row, row.ending, self._database.clock())
                return
