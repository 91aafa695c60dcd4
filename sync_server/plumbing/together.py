"""The straight way to SQLite: those who wait for its one writer write in one transaction, and wait once for the disk.

Each keeps a savepoint of its own, so that nobody's failure takes others along; all are answered after the commit.
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

from shared.errors import Unavailable
from sync_server.plumbing.straight import Crossed

T = TypeVar("T")

AT_ONCE: Final = 64
"""At most so many in one transaction: other writers wait for all of it."""

Write = Callable[[sqlite3.Cursor], T]


@dataclass(eq=False, slots=True)
class _Errand(Generic[T]):
    """What somebody wants written, and what came of it."""

    write: Write[T]
    called: threading.Event = field(default_factory=threading.Event)
    done: bool = False
    answer: T | None = None
    failure: BaseException | None = None

    def outcome(self) -> T:
        """The answer; what went wrong is raised in the thread of whoever wanted it."""
        if self.failure is not None:
            raise _told(self.failure) from None
        return cast(T, self.answer)


class Together:
    """Whoever comes first writes for all who have come meanwhile; of the others one does it next."""

    def __init__(self, engine: Engine, turn: AbstractContextManager[Any]) -> None:
        """`turn` is held by every writer of this database. Opens nothing yet."""
        self._engine, self._turn = engine, turn
        self._line: sqlite3.Connection | None = None
        self._waiting: deque[_Errand[Any]] = deque()
        self._led = False
        self._door = threading.Lock()

    def write(self, write: Write[T]) -> T:
        """What `write` answers, once all that it wrote has been committed.

        Crossed where it broke a rule of the tables, Unavailable where the database does not write: both times nothing
        of it was done. `write` must not wait for anybody.
        """
        mine = _Errand(write)
        with self._door:
            self._waiting.append(mine)
            leads, self._led = not self._led, True
        if not leads:
            mine.called.wait()
        if not mine.done:
            self._lead()
        return mine.outcome()

    def _lead(self) -> None:
        some: list[_Errand[Any]] = []
        try:
            with self._turn:
                with self._door:
                    some = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
                self._write_all(some)
        finally:
            for errand in some:
                errand.done = True
            with self._door:
                following = self._waiting[0] if self._waiting else None
                self._led = following is not None
            for errand in (*some, *([following] if following is not None else ())):
                errand.called.set()

    def _write_all(self, errands: Sequence[_Errand[Any]]) -> None:
        """Whatever fails here fails for each of them, and in the thread of each."""
        try:
            line = self._opened()
            cursor = line.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            for errand in errands:
                _write_one(cursor, errand)
            cursor.execute("COMMIT")
        except BaseException as problem:
            for errand in errands:
                errand.failure = problem
            self._undo()

    def _undo(self) -> None:
        """The next begins with a line of its own: of this one nobody knows what state it is in."""
        line, self._line = self._line, None
        if line is not None:
            with suppress(sqlite3.Error):
                line.rollback()
            with suppress(sqlite3.Error):
                line.close()

    def _opened(self) -> sqlite3.Connection:
        if self._line is None:
            # Prepared like all others, but never given back: to take one from the pool costs more than a statement.
            lent = self._engine.raw_connection()
            self._line = cast(sqlite3.Connection, lent.driver_connection)
            lent.detach()
        return self._line

    def close(self) -> None:
        """Give the connection back."""
        with self._turn:
            self._undo()


def _write_one(cursor: sqlite3.Cursor, errand: _Errand[Any]) -> None:
    cursor.execute("SAVEPOINT errand")
    try:
        errand.answer = errand.write(cursor)
    except Exception as problem:
        cursor.execute("ROLLBACK TO errand")  # fails where SQLite has given the whole transaction up, as on a full disk
        errand.failure = problem
    cursor.execute("RELEASE errand")


def _told(problem: BaseException) -> BaseException:
    """In the words of those who asked; each gets an exception of its own."""
    if isinstance(problem, sqlite3.IntegrityError):
        return Crossed()
    if isinstance(problem, sqlite3.OperationalError):
        return Unavailable("The database does not answer for the moment. Nothing was changed. Try again shortly.")
    return problem
