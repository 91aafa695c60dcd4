"""Writes down which tries to hold a seat failed: afterwards and apart, so that nobody waits for it."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

from sqlalchemy import insert
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared.errors import GatehouseError
from shared.ids import uuid7
from sync_server.audit.service import FILED, LINES, AuditLine, Written, write
from sync_server.holds.asking import Asking
from sync_server.plumbing.database import Database
from sync_server.plumbing.logs import LOG

MOST: Final = 20_000
"""So many wait to be written; beyond that the oldest are given up, and the log says how many."""
AT_ONCE: Final = 200
REST_S: Final = 0.2


class Failures:
    """A queue, and the thread that empties it; it starts with the first failure and ends with the server."""

    def __init__(self, database: Database, stop: threading.Event) -> None:
        """Starts nothing yet."""
        self._database, self._stop = database, stop
        self._waiting: deque[AuditLine] = deque(maxlen=MOST)
        self._lost = 0
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None

    def note(self, asking: Asking, event_id: str, seat_id: str, why: GatehouseError) -> None:
        """Who could not have which seat, and why; written a moment later."""
        after = {"event_id": _told(event_id), "code": why.error_code, "source": asking.source}
        line = AuditLine(
            asking.deed.actor,
            "seat_reserve_failed",
            "seat",
            _told(seat_id),
            asking.organisation_id,
            asking.now,
            None,
            after,
        )
        with self._turn:
            self._lost += len(self._waiting) == MOST
            self._waiting.append(line)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="failures", daemon=True)
                self._thread.start()

    def flush(self) -> int:
        """Write down what waits; how many lines that were."""
        count = 0
        while some := self._next():
            try:
                self._write(some)
            except (OperationalError, PoolTimeout):  # the database is away: they wait until it is back
                with self._turn:
                    kept = some[max(0, len(some) + len(self._waiting) - MOST) :]
                    self._lost += len(some) - len(kept)
                    self._waiting.extendleft(reversed(kept))
                raise
            count += len(some)
        return count

    def _write(self, lines: list[AuditLine]) -> None:
        written = [self._written(line) for line in lines]
        with self._database.writing() as session:
            session.execute(insert(LINES), [each.line for each in written])
            filed = [row for each in written for row in each.filed]
            if filed:
                session.execute(insert(FILED), filed)

    def _written(self, line: AuditLine) -> Written:
        entropy = self._database.entropy
        return write(line, uuid7(line.at, entropy), entropy)

    def _next(self) -> list[AuditLine]:
        with self._turn:
            lost, self._lost = self._lost, 0
            some = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
        if lost:
            LOG.error("failures_not_written", count=lost, meaning="more tries failed than could be written down")
        return some

    def _run(self) -> None:
        last, well = False, True
        while not last:
            last = self._stop.wait(REST_S)  # what was noted before the stop is still written
            try:
                self.flush()
                well = True
            except Exception as problem:  # a line that cannot be written must not end the writing of others
                if well or not isinstance(problem, OperationalError | PoolTimeout):
                    LOG.error("failures_not_written", problem=type(problem).__name__)
                well = False


def _told(named: str) -> str:
    """What an address named, as far as it can be kept: a line with a zero byte would cost all others theirs."""
    return "".join(letter for letter in named[:64] if letter.isprintable())
