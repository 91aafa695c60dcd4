"""Changes that are compiled once and run with new values: for transactions with very many requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.orm import Session


class PreparedChange:
    """An insert, update or locking select with placeholders; its rows come as the driver returns them."""

    def __init__(self, build: Callable[[bool], Executable]) -> None:
        """`build` makes the statement: for SQLite if it is told so, else for PostgreSQL."""
        self._build = build
        self._compiled: dict[str, Any] = {}

    def rows(self, session: Session, **values: Any) -> Sequence[Any]:
        """Run it with these values, after what the session has not written yet; returns what it returns."""
        session.flush()
        connection = session.connection()
        name = connection.dialect.name
        compiled = self._compiled.get(name)
        if compiled is None:
            statement: Any = self._build(name == "sqlite")
            compiled = self._compiled[name] = statement.compile(
                dialect=connection.dialect, compile_kwargs={"render_postcompile": True}
            )
        named = {**compiled.params, **values}
        given = tuple([named[each] for each in compiled.positiontup]) if compiled.positional else named
        result = connection.exec_driver_sql(compiled.string, given)
        return result.all() if result.returns_rows else ()
