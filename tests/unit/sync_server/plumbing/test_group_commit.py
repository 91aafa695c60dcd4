"""Group commit on SQLite: queued writes share one transaction; each keeps its own result, returned after the commit."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from shared.errors import Unavailable
from sync_server.plumbing.database import open_engine
from sync_server.plumbing.sql.autocommit import WriteConflict
from sync_server.plumbing.sql.group_commit import GroupCommit

T = TypeVar("T")
Seen = tuple[int, int]
"""The rows that the writer sees, and the rows that everybody else sees."""


class Stage:
    """A file with a table, a second connection that watches it, and the group commit."""

    def __init__(self, file: Path) -> None:
        self.engine = open_engine(f"sqlite:///{file}")
        self.writer_lock = threading.RLock()
        self.group_commit = GroupCommit(self.engine, self.writer_lock)
        self.outside = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self.outside.execute("PRAGMA journal_mode=WAL")
        self.outside.execute("CREATE TABLE seats (id INTEGER PRIMARY KEY, beside INTEGER REFERENCES seats (id))")

    def count(self, reader: sqlite3.Connection | sqlite3.Cursor | None = None) -> int:
        (count,) = (reader or self.outside).execute("SELECT COUNT(*) FROM seats").fetchone()
        return int(count)

    def take(self, seat: int) -> Callable[[sqlite3.Cursor], Seen]:
        def write(cursor: sqlite3.Cursor) -> Seen:
            cursor.execute("INSERT INTO seats (id) VALUES (?)", (seat,))
            return self.count(cursor), self.count()

        return write

    def at_once(self, *writes: Callable[[sqlite3.Cursor], T]) -> list[T | BaseException | None]:
        """Run writes in one transaction: all are queued before the writer's lock is free."""
        with ThreadPoolExecutor(len(writes)) as pool:
            with self.writer_lock:
                writes_started = [pool.submit(self.group_commit.write, write) for write in writes]
                for _ in range(6_000):
                    if len(self.group_commit.turns.queue) == len(writes):
                        break
                    threading.Event().wait(0.01)
            return [each.exception(60) or each.result() for each in writes_started]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path / "seats.db")
    yield stage
    stage.group_commit.close()
    stage.outside.close()
    stage.engine.dispose()


def test_queued_writes_share_a_transaction_and_return_after_its_commit(stage: Stage) -> None:
    assert stage.group_commit.write(stage.take(1)) == (1, 0)
    seen = stage.at_once(*(stage.take(seat) for seat in range(2, 10)))
    assert sorted(map(str, seen)) == [f"({count}, 1)" for count in range(2, 10)]
    assert stage.count() == 9


def test_a_failed_write_is_undone_and_does_not_affect_the_others(stage: Stage) -> None:
    def twice(cursor: sqlite3.Cursor) -> None:
        stage.take(7)(cursor)
        stage.take(1)(cursor)

    def fail(cursor: sqlite3.Cursor) -> None:
        stage.take(8)(cursor)
        raise LookupError("nothing to do with the tables")

    stage.group_commit.write(stage.take(1))
    first, conflict, failure, last = stage.at_once(stage.take(2), twice, fail, stage.take(3))
    assert isinstance(conflict, WriteConflict) and isinstance(failure, LookupError)
    assert isinstance(first, tuple) and isinstance(last, tuple)
    assert [id for (id,) in stage.outside.execute("SELECT id FROM seats ORDER BY id")] == [1, 2, 3]


def test_a_failed_commit_fails_every_write(stage: Stage) -> None:
    def beside_a_missing_seat(cursor: sqlite3.Cursor) -> None:
        cursor.execute("PRAGMA defer_foreign_keys=ON")  # checked only at the commit
        cursor.execute("INSERT INTO seats VALUES (4, 99)")

    outcomes = stage.at_once(stage.take(1), beside_a_missing_seat, stage.take(3))
    assert [type(each) for each in outcomes] == [WriteConflict] * 3
    assert stage.count() == 0
    assert stage.group_commit.write(stage.take(1)) == (1, 0)  # the next batch works


def test_a_locked_database_fails_every_write(stage: Stage) -> None:
    stage.group_commit.write(stage.take(1))
    stage.group_commit.write(lambda cursor: cursor.execute("PRAGMA busy_timeout=10").fetchall())
    stage.outside.execute("BEGIN IMMEDIATE")
    outcomes = stage.at_once(stage.take(2), stage.take(3))
    assert [type(each) for each in outcomes] == [Unavailable] * 2
    stage.outside.execute("ROLLBACK")
    assert stage.group_commit.write(stage.take(4)) == (2, 1)
