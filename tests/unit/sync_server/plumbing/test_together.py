"""Those who wait for SQLite's one writer write in one transaction: each keeps its own outcome, answered after it."""

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
from sync_server.plumbing.straight import Crossed
from sync_server.plumbing.together import Together

T = TypeVar("T")
Seen = tuple[int, int]
"""How many rows whoever writes sees, and how many everybody else."""


class Stage:
    """A file with a table, someone who looks on from outside, and those who write together."""

    def __init__(self, file: Path) -> None:
        self.engine = open_engine(f"sqlite:///{file}")
        self.turn = threading.RLock()
        self.together = Together(self.engine, self.turn)
        self.outside = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self.outside.execute("PRAGMA journal_mode=WAL")
        self.outside.execute("CREATE TABLE seats (id INTEGER PRIMARY KEY, beside INTEGER REFERENCES seats (id))")

    def count(self, line: sqlite3.Connection | sqlite3.Cursor | None = None) -> int:
        (count,) = (line or self.outside).execute("SELECT COUNT(*) FROM seats").fetchone()
        return int(count)

    def take(self, seat: int) -> Callable[[sqlite3.Cursor], Seen]:
        def write(cursor: sqlite3.Cursor) -> Seen:
            cursor.execute("INSERT INTO seats (id) VALUES (?)", (seat,))
            return self.count(cursor), self.count()

        return write

    def at_once(self, *writes: Callable[[sqlite3.Cursor], T]) -> list[T | BaseException | None]:
        """What becomes of these in one turn: all of them have come before the writer's turn is free."""
        with ThreadPoolExecutor(len(writes)) as pool:
            with self.turn:
                tried = [pool.submit(self.together.write, write) for write in writes]
                for _ in range(6_000):
                    if len(self.together._waiting) == len(writes):
                        break
                    threading.Event().wait(0.01)
            return [each.exception(60) or each.result() for each in tried]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path / "seats.db")
    yield made
    made.together.close()
    made.outside.close()
    made.engine.dispose()


def test_all_who_wait_are_written_at_once_and_answered_afterwards(stage: Stage) -> None:
    assert stage.together.write(stage.take(1)) == (1, 0)
    seen = stage.at_once(*(stage.take(seat) for seat in range(2, 10)))
    assert sorted(map(str, seen)) == [f"({count}, 1)" for count in range(2, 10)]
    assert stage.count() == 9


def test_whoever_fails_takes_nobody_along_and_leaves_nothing_behind(stage: Stage) -> None:
    def twice(cursor: sqlite3.Cursor) -> None:
        stage.take(7)(cursor)
        stage.take(1)(cursor)

    def stumble(cursor: sqlite3.Cursor) -> None:
        stage.take(8)(cursor)
        raise LookupError("nothing to do with the tables")

    stage.together.write(stage.take(1))
    first, crossed, stumbled, last = stage.at_once(stage.take(2), twice, stumble, stage.take(3))
    assert isinstance(crossed, Crossed) and isinstance(stumbled, LookupError)
    assert isinstance(first, tuple) and isinstance(last, tuple)
    assert [id for (id,) in stage.outside.execute("SELECT id FROM seats ORDER BY id")] == [1, 2, 3]


def test_nobody_is_told_of_what_could_not_be_committed(stage: Stage) -> None:
    def beside_nobody(cursor: sqlite3.Cursor) -> None:
        cursor.execute("PRAGMA defer_foreign_keys=ON")  # looked at by the commit alone
        cursor.execute("INSERT INTO seats VALUES (4, 99)")

    told = stage.at_once(stage.take(1), beside_nobody, stage.take(3))
    assert [type(each) for each in told] == [Crossed] * 3
    assert stage.count() == 0
    assert stage.together.write(stage.take(1)) == (1, 0)  # the next begins anew


def test_a_database_that_does_not_write_is_told_to_all_who_wait(stage: Stage) -> None:
    stage.together.write(stage.take(1))
    stage.together.write(lambda cursor: cursor.execute("PRAGMA busy_timeout=10").fetchall())
    stage.outside.execute("BEGIN IMMEDIATE")
    told = stage.at_once(stage.take(2), stage.take(3))
    assert [type(each) for each in told] == [Unavailable] * 2
    stage.outside.execute("ROLLBACK")
    assert stage.together.write(stage.take(4)) == (2, 1)
