"""Group commit for SQLite: queued writes share one transaction, and one wait for the disk.

Each write has a savepoint of its own, so that one failure does not affect the others; all return after the commit.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar, cast

from sqlalchemy import Engine

from sync_server.plumbing.sql.autocommit import WriteConflict
from sync_server.plumbing.sql.failures import Failure, failure_of, refusal
from sync_server.plumbing.telemetry.spans import NO_SPANS

T = TypeVar("T")

MAX_BATCH: Final = 64
"""Writes in one transaction: other writers wait for all of it."""

Write = Callable[[sqlite3.Cursor], T]


@dataclass(eq=False, slots=True)
class _QueuedWrite(Generic[T]):
    """A write in the queue, and its result."""

    write: Write[T]
    ready: threading.Event = field(default_factory=threading.Event)
    done: bool = False
    result: T | None = None
    failure: BaseException | None = None

    def outcome(self) -> T:
        """The result; a failure is raised in the thread that queued the write."""
        if self.failure is not None:
            raise _as_raised(self.failure) from None
        return cast(T, self.result)


class GroupCommit:
    """The first thread to arrive leads: it writes for all that queue meanwhile, then one of the rest leads."""

    def __init__(self, engine: Engine, writer_lock: AbstractContextManager[Any]) -> None:
        """`writer_lock` is held by every writer of this database."""
        self._engine, self._writer_lock = engine, writer_lock
        self._connection: sqlite3.Connection | None = None
        self._queue: deque[_QueuedWrite[Any]] = deque()
        self._has_leader = False
        self._queue_lock = threading.Lock()
        self.spans = NO_SPANS

    def write(self, write: Write[T]) -> T:
        """Run `write` and return its result, once it is committed.

        WriteConflict where it broke a constraint, Unavailable where the database does not write: then nothing of it
        was done. `write` must not block.
        """
        queued = _QueuedWrite(write)
        with self._queue_lock:
            self._queue.append(queued)
            leads, self._has_leader = not self._has_leader, True
        if not leads:
            queued.ready.wait()
        if not queued.done:
            self._lead()
        return queued.outcome()

    def _lead(self) -> None:
        batch: list[_QueuedWrite[Any]] = []
        try:
            with self._writer_lock:
                with self._queue_lock:
                    batch = [self._queue.popleft() for _ in range(min(MAX_BATCH, len(self._queue)))]
                with self.spans.span("group commit", writes=len(batch)):
                    self._write_all(batch)
        finally:
            for queued in batch:
                queued.done = True
            with self._queue_lock:
                next_leader = self._queue[0] if self._queue else None
                self._has_leader = next_leader is not None
            for queued in (*batch, *([next_leader] if next_leader is not None else ())):
                queued.ready.set()

    def _write_all(self, batch: Sequence[_QueuedWrite[Any]]) -> None:
        """A failure of the transaction fails each write, and is raised in the thread of each."""
        try:
            connection = self._open()
            cursor = connection.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            for queued in batch:
                _write_one(cursor, queued)
            cursor.execute("COMMIT")
        except BaseException as problem:
            for queued in batch:
                queued.failure = problem
            self._undo()

    def _undo(self) -> None:
        """Close the connection, whose state is unknown; the next batch opens a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.rollback()
            with suppress(sqlite3.Error):
                connection.close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            # Set up like all others, but never returned: taking one from the pool costs more than a statement.
            pooled = self._engine.raw_connection()
            self._connection = cast(sqlite3.Connection, pooled.driver_connection)
            pooled.detach()
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        with self._writer_lock:
            self._undo()


def _write_one(cursor: sqlite3.Cursor, queued: _QueuedWrite[Any]) -> None:
    cursor.execute("SAVEPOINT queued_write")
    try:
        queued.result = queued.write(cursor)
    except Exception as problem:
        # Fails where SQLite has rolled back the whole transaction, as on a full disk.
        cursor.execute("ROLLBACK TO queued_write")
        queued.failure = problem
    cursor.execute("RELEASE queued_write")


def _as_raised(problem: BaseException) -> BaseException:
    """The error for the caller; each thread gets an exception of its own."""
    if isinstance(problem, sqlite3.IntegrityError):
        return WriteConflict()
    if isinstance(problem, sqlite3.OperationalError) and failure_of(problem) is not Failure.OURS:
        return refusal(failure_of(problem))
    return problem
