"""Group commit for SQLite: queued writes share one transaction, and one wait for the disk.

Each write has a savepoint of its own, so that one failure does not affect the others; all return after the commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, TypeVar, cast

from sqlalchemy import Engine

from sync_server.plumbing.sql.autocommit import WriteConflict
from sync_server.plumbing.sql.failures import Failure, failure_of, refusal
from sync_server.plumbing.sql.turns import Batch, Queue, Turns, Waiting
from sync_server.plumbing.telemetry.spans import NO_SPANS

T = TypeVar("T")

MAX_BATCH: Final = 64
"""Writes in one transaction: other writers wait for all of it."""

Write = Callable[[sqlite3.Cursor], T]


class GroupCommit:
    """One thread writes for all that wait."""

    def __init__(self, engine: Engine, writer_lock: AbstractContextManager[Any]) -> None:
        """`writer_lock` is held by every writer of this database."""
        self._engine, self._writer_lock = engine, writer_lock
        self._connection: sqlite3.Connection | None = None
        self.turns: Turns[Write[Any], Any] = Turns(Queue(MAX_BATCH), self._write_batch)
        self.spans = NO_SPANS

    def write(self, write: Write[T]) -> T:
        """Run `write` and return its result, once it is committed.

        WriteConflict where it broke a constraint, Unavailable where the database does not write: then nothing of it
        was done. `write` must not block.
        """
        queued = self.turns.run(write)
        assert queued is not None  # noqa: S101 - this queue admits everybody
        if queued.failure is not None:
            raise _as_raised(queued.failure) from None
        return cast(T, queued.result)

    def _write_batch(self, take: Callable[[], Batch[Write[Any], Any]]) -> None:
        with self._writer_lock:
            batch = take()
            with self.spans.span("group commit", writes=len(batch)):
                self._write_all(batch)

    def _write_all(self, batch: Batch[Write[Any], Any]) -> None:
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


def _write_one(cursor: sqlite3.Cursor, queued: Waiting[Write[Any], Any]) -> None:
    cursor.execute("SAVEPOINT queued_write")
    try:
        queued.result = queued.wanted(cursor)
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
