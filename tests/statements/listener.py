"""Listens to every statement that this process sends, and remembers those of the server that name no organisation."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from types import FrameType
from typing import Any, Final, Self

import psycopg
from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import Dialect

from tests.statements.exceptions import EXCEPTIONS, SHARED_TABLES
from tests.statements.reader import unnamed

_PASSED_THROUGH: Final = ("sync_server.plumbing.sql.", "sync_server.plumbing.database", "tests.statements.")
"""They send the statements of others."""


@dataclass(frozen=True, slots=True)
class Offence:
    """A statement of the server that touches these tables without naming the organisation."""

    place: str  # package.module.function
    tables: tuple[str, ...]
    statement: str

    def __str__(self) -> str:
        return f"{self.place} does not name the organisation of {', '.join(self.tables)}:\n{self.statement[:2_000]}"


@dataclass
class Heard:
    """What was heard in this process."""

    offences: set[Offence] = field(default_factory=set)
    exceptions_used: set[str] = field(default_factory=set)


HEARD: Final = Heard()


def listen() -> None:
    """Listen below SQLAlchemy, at both drivers: the fastest statements go past it."""
    event.listen(Engine, "do_connect", _heard_connection)
    for name in ("execute", "executemany"):
        setattr(psycopg.Cursor, name, _heard(getattr(psycopg.Cursor, name)))


def hear(statement: str, backend: str) -> None:
    """Remember the statement if it is the server's, names no organisation and is no exception."""
    tables = tuple(table for table in unnamed(statement, backend) if table not in SHARED_TABLES)
    place = _sender(sys._getframe(1)) if tables else None
    if place is None:
        return
    if place in EXCEPTIONS:
        HEARD.exceptions_used.add(place)
    else:
        HEARD.offences.add(Offence(place, tables, statement))


def _sender(frame: FrameType | None) -> str | None:
    """The function of the server that sends a statement; None if a test or a script does."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(("sync_server.", "tests.", "scripts.")) and not module.startswith(_PASSED_THROUGH):
            package, _, rest = module.partition(".")
            function = frame.f_code.co_qualname.partition(".<locals>")[0]
            return f"{rest}.{function}" if package == "sync_server" else None
        frame = frame.f_back
    return None


class _Cursor(sqlite3.Cursor):
    def execute(self, statement: str, values: Any = (), /) -> Self:
        hear(statement, "sqlite")
        return super().execute(statement, values)

    def executemany(self, statement: str, values: Iterable[Any], /) -> Self:
        hear(statement, "sqlite")
        return super().executemany(statement, values)


class _Connection(sqlite3.Connection):
    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)


def _heard_connection(dialect: Dialect, _record: Any, _arguments: Any, options: dict[str, Any]) -> None:
    if dialect.name == "sqlite":
        options["factory"] = _Connection


def _heard(execute: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(execute)
    def hear_and_execute(cursor: Any, statement: Any, *values: Any, **options: Any) -> Any:
        text = statement.decode() if isinstance(statement, bytes) else statement
        if isinstance(text, str):  # the driver's own objects are its own statements, such as BEGIN
            hear(text, "postgresql")
        return execute(cursor, statement, *values, **options)

    return hear_and_execute
