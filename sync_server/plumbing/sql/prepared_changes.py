"""Changes that are compiled once and run with new values: for transactions with very many requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Dialect, Executable
from sqlalchemy.orm import Session

from sync_server.plumbing.sql import asked_together, late_writes, pipelines
from sync_server.plumbing.sql.pipelines import Statement


class PreparedChange:
    """An insert, update or locking select with placeholders; its rows come as the driver returns them."""

    def __init__(self, build: Callable[[bool], Executable]) -> None:
        """`build` makes the statement: for SQLite if it is told so, else for PostgreSQL."""
        self._build = build
        self._compiled: dict[str, Any] = {}

    def rows(self, session: Session, **values: Any) -> Sequence[Any]:
        """Run it with these values, after what the session has not written yet; returns what it returns."""
        known = asked_together.answer(session, self, values)
        if known is not None:
            return known
        session.flush()
        if late_writes.are_waiting(session):  # it goes with them
            sent = [*late_writes.taken(session), self.as_sent(session.get_bind().dialect, values)]
            return asked_together.rows_of(pipelines.run(session, sent)[-1])
        connection = session.connection()
        compiled = self._compiled_for(connection.dialect)
        named = {**compiled.params, **values}
        given = tuple([named[each] for each in compiled.positiontup]) if compiled.positional else named
        result = connection.exec_driver_sql(compiled.string, given)
        return result.all() if result.returns_rows else ()

    def late(self, session: Session, **values: Any) -> None:
        """Run it with these values before the commit, where such writes are queued; what it returns is lost."""
        if not late_writes.are_queued(session):
            self.rows(session, **values)
            return
        late_writes.add(session, *self.as_sent(session.get_bind().dialect, values))

    def as_sent(self, dialect: Dialect, values: Mapping[str, Any]) -> Statement:
        """Its text and values, as PostgreSQL's driver takes them."""
        compiled = self._compiled_for(dialect)
        return compiled.string, {**compiled.params, **values}

    def _compiled_for(self, dialect: Dialect) -> Any:
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            statement: Any = self._build(dialect.name == "sqlite")
            compiled = self._compiled[dialect.name] = statement.compile(
                dialect=dialect, compile_kwargs={"render_postcompile": True}
            )
        return compiled
