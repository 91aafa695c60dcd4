"""Audits refused holds in the background, so that no request waits for it."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

from sqlalchemy import insert
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared.errors import GatehouseError
from shared.ids import uuid7
from sync_server.audit.service import LINES_TABLE, PERSONAL_TABLE, AuditLine, AuditRows, audit_rows
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.plumbing.database import Database
from sync_server.plumbing.telemetry.logs import LOG

QUEUE_LIMIT: Final = 20_000
"""Beyond this the oldest lines are dropped, and the log says how many."""
BATCH_SIZE: Final = 200
INTERVAL_S: Final = 0.2


class FailureLog:
    """A queue, and the thread that writes it; started by the first failure, ended with the server."""

    def __init__(self, database: Database, stop: threading.Event) -> None:
        self._database, self._stop = database, stop
        self._queue: deque[AuditLine] = deque(maxlen=QUEUE_LIMIT)
        self._dropped = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def note(
        self, request: HoldRequest, event_id: str, seat_id: str, refusal: GatehouseError, seat: str | None = None
    ) -> None:
        """Queue an audit line: who was refused which seat, in words where it is known, and why."""
        after = {"event_id": _printable(event_id), "code": refusal.error_code, "source": request.source}
        after |= {"seat": seat} if seat else {}
        subject, where = _printable(seat_id), request.organisation_id
        line = AuditLine(request.context, "seat_reserve_failed", "seat", subject, where, after=after)
        with self._lock:
            self._dropped += len(self._queue) == QUEUE_LIMIT
            self._queue.append(line)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="failures", daemon=True)
                self._thread.start()

    def flush(self) -> int:
        """Write what is queued; returns how many lines that was."""
        count = 0
        while batch := self._next_batch():
            try:
                self._write(batch)
            except (OperationalError, PoolTimeout):  # the database is away: try again later
                with self._lock:
                    requeued = batch[max(0, len(batch) + len(self._queue) - QUEUE_LIMIT) :]
                    self._dropped += len(batch) - len(requeued)
                    self._queue.extendleft(reversed(requeued))
                raise
            count += len(batch)
        return count

    def _write(self, lines: list[AuditLine]) -> None:
        rows = [self._rows(line) for line in lines]
        with self._database.writing() as session:
            session.execute(insert(LINES_TABLE), [each.line for each in rows])
            personal = [row for each in rows for row in each.personal]
            if personal:
                session.execute(insert(PERSONAL_TABLE), personal)

    def _rows(self, line: AuditLine) -> AuditRows:
        entropy = self._database.entropy
        return audit_rows(line, uuid7(line.context.now, entropy), entropy)

    def _next_batch(self) -> list[AuditLine]:
        with self._lock:
            dropped, self._dropped = self._dropped, 0
            batch = [self._queue.popleft() for _ in range(min(BATCH_SIZE, len(self._queue)))]
        if dropped:
            LOG.error("failures_not_written", count=dropped, meaning="more holds were refused than could be audited")
        return batch

    def _run(self) -> None:
        last, healthy = False, True
        while not last:
            last = self._stop.wait(INTERVAL_S)  # one last round after the stop
            try:
                self.flush()
                healthy = True
            except Exception as problem:  # one bad line must not stop the thread
                if healthy or not isinstance(problem, OperationalError | PoolTimeout):
                    LOG.error("failures_not_written", problem=type(problem).__name__)
                healthy = False


def _printable(text: str) -> str:
    """What the URL named, without what a database refuses: one zero byte would fail the whole batch."""
    return "".join(character for character in text[:64] if character.isprintable())
