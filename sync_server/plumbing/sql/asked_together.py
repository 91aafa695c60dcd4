"""Statements that are sent together before their answers are needed: one round trip for all of them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, Protocol, cast

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
    answers = session.info.setdefault(_ANSWERS, {})
    keys = [_key(*question) for question in questions]
    answers |= zip([*keys, *(_key(*question) for question in until_commit)], cursors, strict=True)
    try:
        yield
    finally:
        for key in keys:
            answers.pop(key, None)


def answer(session: Session, statement: Askable, values: Mapping[str, Any]) -> Sequence[Any] | None:
    """The rows of this statement, if it was asked together with others and nobody has had them."""
    answers = session.info.get(_ANSWERS)
    cursor = answers.pop(_key(statement, values), None) if answers else None
    return None if cursor is None else rows_of(cursor)


def rows_of(cursor: Any) -> Sequence[Any]:
    """What a statement has returned, as tuples with names; nothing where it returns no rows."""
    if cursor.description is None:
        return ()
    return [*map(_row(tuple(column.name for column in cursor.description)), cursor.fetchall())]


def _key(statement: Askable, values: Mapping[str, Any]) -> tuple[Any, ...]:
    given = ((name, tuple(value) if isinstance(value, list) else value) for name, value in values.items())
    return statement, frozenset(given)


@lru_cache
def _row(names: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    make: Callable[[Sequence[Any]], Any] = cast(Any, namedtuple)("named", names, rename=True)._make
    return make
