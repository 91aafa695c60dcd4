"""What an error of the database means: somebody was quicker, it is busy, full or away, or the mistake is ours."""

from __future__ import annotations

import sqlite3
from enum import Enum
from typing import Any, Final

import psycopg
from psycopg_pool import PoolTimeout as AutocommitPoolTimeout
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared.errors import GatehouseError, Unavailable


class Failure(Enum):
    """The kinds of failure; nothing was changed in any of them."""

    CONFLICT = "Somebody else changed the same things at this moment. Nothing was changed. Try again."
    BUSY = "The database is busy with other changes of the same things. Nothing was changed. Try again shortly."
    SLOW = "This took longer than the server allows, so it was stopped. Nothing was changed. Ask for less at once."
    CROWDED = "Very many people are here right now. Nothing was changed. Try again shortly."
    FULL = "The server's disk is full. Nothing was changed. The operator must free some space."
    AWAY = "The database is not available. Nothing was changed. Try again shortly."
    OURS = "unexpected"
    """Not the state of the database: a statement or a value that should never have been sent."""


_BY_STATE: Final = {
    "40001": Failure.CONFLICT,
    "40P01": Failure.CONFLICT,
    "23505": Failure.CONFLICT,
    "23503": Failure.CONFLICT,
    "55P03": Failure.BUSY,
    "57014": Failure.SLOW,
    "53300": Failure.CROWDED,
    "53100": Failure.FULL,
    "25006": Failure.AWAY,  # read only: the standby answers while the first server is being replaced
    "25P03": Failure.AWAY,
}
_AWAY_CLASSES: Final = ("08", "57P", "53", "58")
_BY_SQLITE_CODE: Final = {
    sqlite3.SQLITE_BUSY: Failure.BUSY,
    sqlite3.SQLITE_LOCKED: Failure.BUSY,
    sqlite3.SQLITE_FULL: Failure.FULL,
    sqlite3.SQLITE_IOERR: Failure.AWAY,
    sqlite3.SQLITE_CANTOPEN: Failure.AWAY,
    sqlite3.SQLITE_READONLY: Failure.AWAY,
    sqlite3.SQLITE_CONSTRAINT_UNIQUE: Failure.CONFLICT,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: Failure.CONFLICT,
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: Failure.CONFLICT,
}


def failure_of(error: BaseException) -> Failure:
    """Which kind of failure it is."""
    if isinstance(error, PoolTimeout | AutocommitPoolTimeout):
        return Failure.CROWDED
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        code = getattr(original, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        return _BY_SQLITE_CODE.get(code) or _BY_SQLITE_CODE.get(code & 0xFF, Failure.OURS)
    if isinstance(original, psycopg.Error):
        return _of_postgresql(original)
    return Failure.OURS


def _of_postgresql(error: psycopg.Error) -> Failure:
    if error.sqlstate is None:  # the connection itself failed
        return Failure.AWAY if isinstance(error, psycopg.OperationalError) else Failure.OURS
    away = error.sqlstate.startswith(_AWAY_CLASSES)
    return _BY_STATE.get(error.sqlstate, Failure.AWAY if away else Failure.OURS)


def leave_values_out(original: BaseException, *others: BaseException | None) -> None:
    """Remove the values that PostgreSQL quotes in this error, from it and from what was made of it."""
    diagnosis = getattr(original, "diag", None)
    quoted = [found for name in ("message_detail", "context") if (found := getattr(diagnosis, name, None))]
    for error in (original, *others):
        if error is not None:
            for values in quoted:
                error.args = tuple(_without(values, each) for each in error.args)


def _without(values: str, argument: Any) -> Any:
    return argument.replace(values, "left out") if isinstance(argument, str) else argument


def refusal(failure: Failure) -> GatehouseError:
    """What whoever asked is told."""
    if failure is Failure.OURS:
        return GatehouseError()
    return Unavailable(failure.value, code=None if failure is Failure.AWAY else f"database_{failure.name.lower()}")
