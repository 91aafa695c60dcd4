"""Counts what a database reads for a request: rows on PostgreSQL, steps of its virtual machine on SQLite.

Both are the same in every run, whatever else the machine does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, Engine, event

from sync_server.plumbing.database import Database

STEPS: Final = 10
"""SQLite is asked after so many steps: more often would only take longer."""


@dataclass
class Reads:
    """What some requests read."""

    statements: int = 0
    rows: int = 0
    by_statement: list[tuple[int, str]] = field(default_factory=list)


@contextmanager
def reads_of(database: Database) -> Iterator[Reads]:
    """Count everything that is read meanwhile through the pool of this database."""
    found, seen = Reads(), list[tuple[str, Any]]()
    engine = database.engine
    with _listening(engine, "before_cursor_execute", lambda *args: seen.append((args[2], args[3]))):
        if database.embedded:
            with _listening(engine, "checkout", lambda connection, *_: _count_steps(connection, found)):
                yield found
        else:
            yield found
    found.statements = len(seen)
    if database.embedded:
        with engine.connect() as connection:
            _driver(connection).set_progress_handler(None, STEPS)
    else:
        _explain(engine, seen, found)


@contextmanager
def _listening(engine: Engine, name: str, listener: Callable[..., Any]) -> Iterator[None]:
    event.listen(engine, name, listener)
    try:
        yield
    finally:
        event.remove(engine, name, listener)


def _count_steps(connection: Any, found: Reads) -> None:
    def step() -> int:
        found.rows += STEPS
        return 0

    connection.set_progress_handler(step, STEPS)


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


def _explain(engine: Engine, seen: list[tuple[str, Any]], found: Reads) -> None:
    """Run every query once more, with a plan that says how many rows each part of it read."""
    with engine.connect() as connection:
        connection.exec_driver_sql("SET enable_seqscan = off")  # small tables would be read whole, whatever the index
        for statement, values in seen:
            if statement.lstrip("( \n").upper().startswith(("SELECT", "WITH")):
                (plan,) = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).scalar_one()
                rows = _rows(plan["Plan"])
                found.rows += rows
                found.by_statement.append((rows, statement))
        connection.rollback()


def _rows(node: dict[str, Any]) -> int:
    """The rows that the scans of this part of a plan touched, kept or not."""
    below = sum(_rows(part) for part in node.get("Plans", ()))
    if not node["Node Type"].endswith("Scan") or node["Node Type"] in {
        "Bitmap Index Scan",
        "Subquery Scan",
        "CTE Scan",
    }:
        return below
    read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return below + int(read * node["Actual Loops"])
