"""Writes whose outcome nobody awaits: PostgreSQL gets them in one go, before whatever its session does next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session

from sync_server.plumbing.sql import pipelines
from sync_server.plumbing.sql.pipelines import Statement

_QUEUE: Final = "late writes"
_SILENT: Final = "nothing is asked"


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


def are_waiting(session: Session) -> bool:
    """Whether something is queued."""
    return bool(session.info.get(_QUEUE))


def taken(session: Session) -> list[Statement]:
    """What is queued, for whoever sends it with what follows."""
    queue: list[Statement] = session.info.get(_QUEUE) or []
    if queue:
        session.info[_QUEUE] = []
    return queue


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
