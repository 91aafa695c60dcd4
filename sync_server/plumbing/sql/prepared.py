"""Selects that are compiled once and run with new values: for reads with very many requests."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Select,
    String,
    any_,
    bindparam,
    func,
    select,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from sync_server.plumbing.sql import asked_together
from sync_server.plumbing.sql.pipelines import Statement


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A statement in the dialect of one driver."""

    text: str
    constants: dict[str, Any]
    order: tuple[str, ...] | None  # of positional parameters
    row: Callable[[Sequence[Any]], Any]  # makes a named tuple

    def parameters(self, values: dict[str, Any]) -> Any:
        """The values as the driver takes them."""
        named = {**self.constants, **values}
        return named if self.order is None else tuple([_driver_value(named[name]) for name in self.order])


Selected = Select[*tuple[Any, ...]] | CompoundSelect[*tuple[Any, ...]]


class Prepared:
    """A select with named placeholders; rows come as the driver returns them, without type conversion.

    `replan`: PostgreSQL plans for the values each time, where one plan for all would be wrong for some.
    """

    def __init__(self, statement: Selected, *, replan: bool = False) -> None:
        self._statement, self._replan = statement, replan
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, session: Session, **values: Any) -> Sequence[Any]:
        """The rows for these values; a placeholder made by `among` takes a list."""
        known = asked_together.answer(session, self, values)
        if known is not None:
            return known
        connection = session.connection()
        dialect = connection.dialect
        compiled = self._compiled_for(dialect)
        parameters = compiled.parameters(values)
        options = {"prepare": False} if self._replan and dialect.name == "postgresql" else {}
        cursor: Any = connection.connection.cursor()
        try:
            # Bypasses SQLAlchemy, which would work out the column names for each result.
            rows = cursor.execute(compiled.text, parameters, **options).fetchall()
        except dialect.loaded_dbapi.Error:
            # A read may run twice: through SQLAlchemy it raises the usual error, or works.
            return connection.exec_driver_sql(compiled.text, parameters).all()
        finally:
            cursor.close()
        return [*map(compiled.row, rows)]

    def as_sent(self, dialect: Dialect, values: Mapping[str, Any]) -> Statement:
        """Its text and values, as PostgreSQL's driver takes them."""
        compiled = self._compiled_for(dialect)
        return compiled.text, compiled.parameters(dict(values))

    def _compiled_for(self, dialect: Dialect) -> _Compiled:
        known = self._compiled.get(dialect.name)
        return known or self._compiled.setdefault(dialect.name, _compile(self._statement, dialect))


def placeholder(name: str, kind: Any = None) -> BindParameter[Any]:
    """A placeholder for a value, of the type of the column it is compared with, or of `kind`."""
    return bindparam(name, None, type_=kind, required=False)


def _compile(statement: Selected, dialect: Dialect) -> _Compiled:
    compiled: Any = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    order = tuple(compiled.positiontup) if compiled.positional else None
    names = [column.name for column in statement.selected_columns]
    named = cast(Any, namedtuple)("named", names)  # the names are not static
    constants = {name: _constant(compiled.binds.get(name), value, dialect) for name, value in compiled.params.items()}
    return _Compiled(str(compiled), constants, order, named._make)


def _constant(bind: BindParameter[Any] | None, value: Any, dialect: Dialect) -> Any:
    """A value of the statement itself as the driver takes it: SQLite has paths where PostgreSQL has names in JSON.

    Those of a list have no place of their own, and are taken as they are.
    """
    if bind is None or value is None:
        return value
    process = bind.type.dialect_impl(dialect).bind_processor(dialect)
    return value if process is None else process(value)


def _driver_value(value: Any) -> Any:
    return orjson.dumps(value).decode() if isinstance(value, list) else value


def among(column: Any, name: str, *, embedded: bool) -> ColumnElement[bool]:
    """Whether a column is one of the values of that placeholder: JSON for SQLite, an array for PostgreSQL."""
    if embedded:
        each = func.json_each(placeholder(name, String())).table_valued("value")
        inside: ColumnElement[bool] = column.in_(select(each.c.value))
        return inside
    kind: Any = column.type if isinstance(column.type, String) else BigInteger()
    one_of: ColumnElement[bool] = column == any_(placeholder(name, ARRAY(kind)))
    return one_of


def from_json(value: Any) -> Any:
    """The value of a JSON column as the driver returns it: text on SQLite, already parsed on PostgreSQL."""
    return orjson.loads(value) if isinstance(value, str) else value
