"""Writes of single rows: changes and what they replace, inserts of what may exist already, conflicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.plumbing.sql.tables import Base


def change(row: Base, values: Mapping[str, Any]) -> dict[str, Any]:
    """Set these columns; returns the values that they had."""
    before = {name: getattr(row, name) for name in values}
    for name, value in values.items():
        setattr(row, name, value)
    return before


def insert(session: Session, table: Any) -> Any:
    """An INSERT in the dialect of this database, which can say what happens on a conflict."""
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    return dialect.insert(table)


def flush_or_conflict(session: Session, message: str, code: str) -> None:
    """Flush; Conflict where a constraint of the database forbids it."""
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(message, code=code) from None
