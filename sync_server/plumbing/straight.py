"""The straight way to PostgreSQL for what is asked thousands of times a second: one statement that commits itself.

A session costs several round trips more than the statement itself. SQLite needs nothing of the kind.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from shared.errors import Unavailable

MOST: Final = 4
"""More statements at once than this only wait for one another inside the database, and pay for it: with sixteen each
cost PostgreSQL a third more, because all share a lock on the same rows and each writes down anew who shares it."""
_PATIENCE_S: Final = 4.0
_NAMED: Final = re.compile(r"(?<![:\w]):(\w+)")
# One plan for all: to plan so long a statement anew costs more than to run it. Tables that were empty when the plan
# was made must not tempt it to read them whole.
_OPTIONS: Final = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off"


class Crossed(Exception):
    """Two statements stood in each other's way, and this one gave in: nothing of it was done."""


class Straight:
    """A pool of connections that commit by themselves; opened by its first use."""

    def __init__(self, url: str, connections: int = MOST) -> None:
        """Opens nothing yet."""
        self._url, self._connections = url, connections
        self._pool: ConnectionPool[psycopg.Connection[tuple[Any, ...]]] | None = None
        self._turn = threading.Lock()

    def row(self, statement: Words, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Run a statement that may be repeated, and give its first row.

        Crossed where another stood in the way, Unavailable where the database is away.
        """
        try:
            return self._row(statement, values)
        except (psycopg.errors.IntegrityError, psycopg.errors.TransactionRollback) as crossed:
            raise Crossed from crossed
        except (psycopg.OperationalError, PoolTimeout):
            # The connection may have died while nobody used it: once more on a new one.
            return self._again(statement, values)

    def _again(self, statement: Words, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        self._opened().check()
        try:
            return self._row(statement, values)
        except (psycopg.OperationalError, PoolTimeout):
            raise Unavailable(
                "The database does not answer for the moment. Nothing was changed. Try again shortly."
            ) from None

    def _row(self, statement: Words, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        pool = self._opened()
        # Not as a context: it would commit what has committed itself. What fails is put back in order by the pool.
        connection = pool.getconn(timeout=_PATIENCE_S)
        try:
            asked = [values[name] for name in statement.names]
            return connection.execute(statement.text, asked, prepare=True).fetchone()
        finally:
            pool.putconn(connection)

    def _opened(self) -> ConnectionPool[psycopg.Connection[tuple[Any, ...]]]:
        if self._pool is None:
            with self._turn:
                if self._pool is None:
                    self._pool = self._open()
        return self._pool

    def _open(self) -> ConnectionPool[psycopg.Connection[tuple[Any, ...]]]:
        return ConnectionPool(
            self._url,
            min_size=1,
            max_size=self._connections,
            open=True,
            name="straight",
            kwargs={"autocommit": True, "options": _OPTIONS, "cursor_factory": psycopg.RawCursor},
        )

    def close(self) -> None:
        """Give all connections back."""
        if self._pool is not None:
            self._pool.close(timeout=2)


@dataclass(frozen=True, slots=True)
class Words:
    """A statement as the server reads it, and the names of its values in their order."""

    text: bytes
    names: tuple[str, ...]


def numbered(statement: str) -> Words:
    """A statement with `:named` values, as SQLite takes it, in the words of PostgreSQL itself."""
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    return Words(_NAMED.sub(number, statement).encode(), tuple(names))
