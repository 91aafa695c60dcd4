"""Sends several statements to PostgreSQL in one go: one round trip, where each would be waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from sync_server.plumbing.sql.failures import leave_values_out

Statement = tuple[str, Mapping[str, Any]]
"""A statement as the driver takes it, and its values by name."""


def are_possible(session: Session) -> bool:
    """Whether this session has such a connection; each statement has a span of its own where spans are recorded."""
    return session.get_bind().dialect.name == "postgresql" and not session.info["database"].spans.on


def run(session: Session, statements: Sequence[Statement]) -> list[psycopg.Cursor[Any]]:
    """Run them in their order; the cursors have what they returned, and what fails is raised as SQLAlchemy would."""
    connection = session.connection()
    driver: Any = connection.connection.driver_connection
    cursors: list[psycopg.Cursor[Any]] = []
    try:
        with driver.pipeline():
            for statement, values in statements:
                cursors.append(driver.cursor())
                cursors[-1].execute(statement, values)
    except psycopg.Error as error:
        leave_values_out(error)
        if driver.broken:
            connection.invalidate(error)
        named = "; ".join(statement.partition("(")[0] for statement, _ in statements)
        raise DBAPIError.instance(named, None, error, psycopg.Error, hide_parameters=True) from error
    return cursors
