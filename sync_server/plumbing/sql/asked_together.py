"""Statements that are sent together before their answers are needed: one round trip for all of them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, cast

from sqlalchemy import Dialect
from sqlalchemy.orm import Session

from sync_server.plumbing.sql import late_writes, pipelines
from sync_server.plumbing.sql.pipelines import Statement

_ANSWERS: Final = "answers to what was asked together"


class Askable(Protocol):
    """A statement that is compiled once."""

    def rows(self, session: Session, **values: Any) -> Sequence[Any]:
        """Its rows for these values."""

    def as_sent(self, dialect: Dialect, values: Mapping[str, Any]) -> Statement:
        """Its text and all its values."""


Question = tuple[Askable, dict[str, Any]]
"""A statement, and the values of its placeholders."""


@contextmanager
def asked_together(session: Session, *questions: Question, until_commit: Sequence[Question] = ()) -> Iterator[None]:
    """Run these in their order, now. Whoever runs one of them inside, with the same values, gets its rows, once.

    Those `until_commit` are asked last, and their rows wait for whoever runs them at the end of the transaction.
    """
    if not questions or not pipelines.are_possible(session):
        yield
        return
    session.flush()
    dialect = session.get_bind().dialect
    before = late_writes.taken(session)
    asked = [statement.as_sent(dialect, values) for statement, values in (*questions, *until_commit)]
    cursors = pipelines.run(session, [*before, *asked])[len(before) :]
    answers: list[_Answer] = session.info.setdefault(_ANSWERS, [])
    new = [_Answer(*question, cursor) for question, cursor in zip((*questions, *until_commit), cursors, strict=True)]
    answers += new
    try:
        yield
    finally:
        for each in new[: len(questions)]:
            if each in answers:
                answers.remove(each)


class _Answer(NamedTuple):
    statement: Askable
    values: Mapping[str, Any]
    cursor: Any


def answer(session: Session, statement: Askable, values: Mapping[str, Any]) -> Sequence[Any] | None:
    """The rows of this statement, if it was asked together with others and nobody has had them."""
    answers: list[_Answer] = session.info.get(_ANSWERS, [])
    for at, each in enumerate(answers):
        if each.statement is statement and each.values == values:
            return rows_of(answers.pop(at).cursor)
    return None


def rows_of(cursor: Any) -> Sequence[Any]:
    """What a statement has returned, as tuples with names; nothing where it returns no rows."""
    result = cursor.pgresult  # its `description` would look up the type of every column
    if not result.nfields:
        return ()
    return [*map(_row(tuple(map(result.fname, range(result.nfields)))), cursor.fetchall())]


@lru_cache
def _row(names: tuple[bytes, ...]) -> Callable[[Sequence[Any]], Any]:
    named = cast(Any, namedtuple)("named", [name.decode() for name in names], rename=True)
    make: Callable[[Sequence[Any]], Any] = named._make
    return make
