"""A pool of autocommit connections to PostgreSQL, for statements that run thousands of times a second.

A session costs several round trips more than the statement itself. SQLite has `group_commit` instead.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

import psycopg
from psycopg.types.string import TextLoader
from psycopg_pool import ConnectionPool, PoolTimeout

from sync_server.plumbing.sql.connecting import NETWORK_LIMITS, NO_LIMITS, Limits, says_not_now
from sync_server.plumbing.sql.failures import Failure, failure_of, refusal
from sync_server.plumbing.telemetry.spans import NO_SPANS

psycopg.adapters.register_loader("uuid", TextLoader)  # ids are text everywhere in the program
CONNECTIONS: Final = 4
"""More statements at once only wait for one another inside the database: with sixteen connections each cost
PostgreSQL a third more, because all share a lock on the same rows and each records who shares it."""
_TIMEOUT_S: Final = 4.0
_Rows = list[tuple[Any, ...]]
NAMED: Final = re.compile(r"(?<![:\w]):(\w+)")
"""A named parameter of a statement."""
# A generic plan: planning so long a statement costs more than running it. No sequential scans, because the plan may
# be made while tables are empty.
_SETTINGS: Final = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "jit": "off"}
_OPTIONS: Final = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
_SET_LOCAL: Final = "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in _SETTINGS.items())


class Pooler(Enum):
    """What stands between the server and PostgreSQL, and gives each transaction another connection."""

    NONE = "none"
    TRANSACTION = "transaction"
    TRANSACTION_UNPREPARED = "transaction_unprepared"

    @property
    def prepares(self) -> bool:
        """Whether prepared statements are found again."""
        return self is not Pooler.TRANSACTION_UNPREPARED


class WriteConflict(Exception):
    """The statement conflicted with another, or broke a constraint: nothing of it was done."""


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection with one cursor: a new one for each statement would have to look up all types again."""

    @cached_property
    def only_cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        """Its cursor."""
        return self.cursor()


class AutocommitPool:
    """A pool of autocommit connections, opened at first use."""

    def __init__(
        self,
        url: str,
        pooler: Pooler = Pooler.NONE,
        connections: int = CONNECTIONS,
        *,
        limits: Limits = NO_LIMITS,
    ) -> None:
        self._url, self._pooler, self._connections = url, pooler, connections
        # A pooler refuses options, and settings of a session would reach whoever has the connection next.
        options = {"options": f"{_OPTIONS} {limits.options()}"} if pooler is Pooler.NONE else {}
        self._arguments: dict[str, Any] = {
            "autocommit": True,
            "cursor_factory": psycopg.RawCursor,
            **NETWORK_LIMITS,
            **options,
        }
        self._pool: ConnectionPool[_Connection] | None = None
        self._lock = threading.Lock()
        self.spans = NO_SPANS

    def row(self, statement: NumberedStatement, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Run a statement that may be repeated; returns its first row.

        WriteConflict where it conflicted with another, Unavailable where the database is away.
        """
        rows = self.rows(statement, values)
        return rows[0] if rows else None

    def rows(self, statement: NumberedStatement, values: Mapping[str, Any], *, sets: int = 1) -> _Rows:
        """The same with all rows of a statement that answers so many requests."""
        with self.spans.span("statement", sets=sets):
            try:
                return self._rows(statement, values)
            except (psycopg.Error, PoolTimeout) as error:
                return self._after(error, statement, values)

    def _after(self, error: Exception, statement: NumberedStatement, values: Mapping[str, Any]) -> _Rows:
        failure = failure_of(error)
        if failure is Failure.CONFLICT or isinstance(error, psycopg.IntegrityError):
            raise WriteConflict from error
        if failure is Failure.OURS:
            raise error
        if failure not in {Failure.AWAY, Failure.CROWDED}:
            raise refusal(failure) from None
        # The connection may have died while idle: try once more on a new one.
        self._open_pool().check()
        try:
            return self._rows(statement, values)
        except (psycopg.OperationalError, PoolTimeout):
            raise refusal(self._why()) from None

    def _why(self) -> Failure:
        """Whether the database is away or only crowded: from outside a pool without connections looks the same."""
        try:
            self._connect().close()
        except psycopg.OperationalError as error:
            return Failure.CROWDED if says_not_now(error) else Failure.AWAY
        return Failure.CROWDED

    def _rows(self, statement: NumberedStatement, values: Mapping[str, Any]) -> _Rows:
        pool = self._open_pool()
        # Not `pool.connection()`: it would commit what is committed already. The pool repairs failed connections.
        connection = pool.getconn(timeout=_TIMEOUT_S)
        try:
            return self._run(connection, statement, statement.parameters(values))
        finally:
            pool.putconn(connection)

    def _run(self, connection: _Connection, statement: NumberedStatement, parameters: Sequence[Any]) -> _Rows:
        cursor, prepare = connection.only_cursor, self._pooler.prepares
        if self._pooler is Pooler.NONE:
            return cursor.execute(statement.text, parameters, prepare=prepare).fetchall()
        with connection.pipeline():  # one round trip, and one transaction
            connection.execute(_SET_LOCAL, prepare=prepare)
            cursor.execute(statement.text, parameters, prepare=prepare)
        return cursor.fetchall()

    def use(self) -> dict[str, int]:
        """How many connections are in use, how many there may be, and how many statements wait for one."""
        found = self._pool.get_stats() if self._pool is not None else {}
        in_use = found.get("pool_size", 0) - found.get("pool_available", 0)
        return {"in_use": in_use, "most": self._connections, "waiting": found.get("requests_waiting", 0)}

    def probe(self) -> None:
        """Run one statement on two connections, which a pooler may serve by one; the driver's error where it fails."""
        statement = numbered("SELECT 1")
        with self._connect() as one, self._connect() as other:
            for connection in (one, other):
                self._run(connection, statement, [])

    def _connect(self) -> _Connection:
        return _Connection.connect(self._url, **self._arguments)

    def _open_pool(self) -> ConnectionPool[_Connection]:
        if self._pool is None:
            with self._lock:
                if self._pool is None:
                    self._pool = self._new_pool()
        return self._pool

    def _new_pool(self) -> ConnectionPool[_Connection]:
        return ConnectionPool(
            self._url,
            connection_class=_Connection,
            min_size=1,
            max_size=self._connections,
            open=True,
            name="autocommit",
            kwargs=self._arguments,
        )

    def close(self) -> None:
        """Close all connections."""
        if self._pool is not None:
            self._pool.close(timeout=2)


@dataclass(frozen=True, slots=True)
class NumberedStatement:
    """A statement with $1, $2 … and the names of its parameters in that order."""

    text: bytes
    names: tuple[str, ...]
    parameters: Callable[[Mapping[str, Any]], tuple[Any, ...]]  # of values by name


def chosen(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """What reads these values in this order: faster than a loop, where there are dozens."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple([values[name] for name in names])


def numbered(statement: str) -> NumberedStatement:
    """A statement with `:named` parameters, as SQLite takes them, with the numbered ones of PostgreSQL."""
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    text = NAMED.sub(number, statement).encode()
    return NumberedStatement(text, tuple(names), chosen(tuple(names)))
