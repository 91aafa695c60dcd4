"""Writes whose outcome nobody awaits: PostgreSQL gets them in one go, before whatever its session does next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session

from sync_server.plumbing.sql import pipelines
from sync_server.plumbing.sql.pipelines import Statement

_QUEUE: Final = "late writes"
_SILENT: Final = "nothing is asked"
RECORDS: Final = "%(records)s"
"""The one parameter of an insert that may be joined with those beside it."""


class Insert(NamedTuple):
    """An insert that locks no row that was there before, and returns nothing: a statement, and its parameter."""

    statement: str
    records: str


class Asked(Exception):
    """The database was about to be asked, or told, something within `nothing_asked`."""


class LateWritingSession(Session):
    """A session that sends what is queued before it asks the database anything else, or writes what it has changed."""

    def connection(self, *arguments: Any, **options: Any) -> Any:
        """Its connection, for whoever asks the database past the session."""
        send(self)
        return super().connection(*arguments, **options)


@event.listens_for(LateWritingSession, "do_orm_execute")
def _before_statement(state: ORMExecuteState) -> None:
    send(state.session)


@event.listens_for(LateWritingSession, "before_flush")
def _before_flush(session: Session, _context: Any, _rows: Any) -> None:
    send(session)


def begin(session: Session) -> None:
    """Queue inserts from now on, until the end of the transaction; where each is sent alone, do nothing."""
    if pipelines.are_possible(session):
        session.info.setdefault(_QUEUE, [])


def are_queued(session: Session) -> bool:
    """Whether this session queues its inserts."""
    return _QUEUE in session.info


def add(session: Session, statement: str, values: Mapping[str, Any]) -> None:
    """Queue a statement."""
    session.info[_QUEUE].append((statement, values))


def add_insert(session: Session, insert: Insert) -> None:
    """Queue an insert."""
    session.info[_QUEUE].append(insert)


def are_waiting(session: Session) -> bool:
    """Whether something is queued."""
    return bool(session.info.get(_QUEUE))


def taken(session: Session) -> list[Statement]:
    """What is queued, for whoever sends it with what follows."""
    queue: list[Statement | Insert] = session.info.get(_QUEUE) or []
    if queue:
        session.info[_QUEUE] = []
    return [*_joined(queue)]


def _joined(queue: Iterable[Statement | Insert]) -> Iterator[Statement]:
    """Inserts that follow one another as one statement: each costs driver and database more than its rows do."""
    inserts: list[Insert] = []
    for each in (*queue, None):
        if isinstance(each, Insert):
            inserts.append(each)
            continue
        if inserts:
            records = dict(zip(_names(len(inserts)), (insert.records for insert in inserts), strict=True))
            yield _as_one(tuple(insert.statement for insert in inserts)), records
            inserts = []
        if each is not None:
            yield each


@lru_cache
def _as_one(statements: tuple[str, ...]) -> str:
    """PostgreSQL runs all parts of such a statement, whether anything reads them or not."""
    named = zip(statements, _names(len(statements)), strict=True)
    *others, last = [statement.replace(RECORDS, f"%({name})s") for statement, name in named]
    parts = ", ".join(f"part_{at} AS ({statement})" for at, statement in enumerate(others))
    return f"WITH {parts} {last}" if parts else last


def _names(count: int) -> list[str]:
    return [f"records_{at}" for at in range(count)]


@contextmanager
def nothing_asked(session: Session) -> Iterator[None]:
    """Raise `Asked` wherever this session would ask the database something, or tell it what has changed."""
    session.info[_SILENT] = True
    try:
        yield
    finally:
        del session.info[_SILENT]


def send(session: Session) -> None:
    """Send what is queued, in its order. What fails is raised here, and nothing of the transaction remains."""
    if _SILENT in session.info:
        raise Asked
    if queue := taken(session):
        pipelines.run(session, queue)
