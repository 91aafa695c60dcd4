"""Statements that are compiled once and then only given other values: for the reads that crowds wait for."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    ColumnElement,
    Select,
    String,
    any_,
    bindparam,
    func,
    select,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session


@dataclass(frozen=True, slots=True)
class _Form:
    """A statement as one driver takes it."""

    text: str
    constants: dict[str, Any]
    order: tuple[str, ...] | None  # of places that have no names
    row: Callable[[Sequence[Any]], Any]  # with the columns' names

    def given(self, values: dict[str, Any]) -> Any:
        """The values as the driver takes them."""
        known = {**self.constants, **values}
        return known if self.order is None else tuple([_plain(known[place]) for place in self.order])


class Prepared:
    """A select with named places; rows come as the driver gives them, past all conversions.

    `planned_anew`: PostgreSQL looks at the values each time, where one way for all of them would be wrong for some.
    """

    def __init__(self, statement: Select[*tuple[Any, ...]], *, planned_anew: bool = False) -> None:
        """Compiles nothing yet: which database it is for is known when it is first asked."""
        self._statement, self._planned_anew = statement, planned_anew
        self._forms: dict[str, _Form] = {}

    def rows(self, session: Session, **values: Any) -> Sequence[Any]:
        """What it finds for these values; a place made by `among` takes a list."""
        connection = session.connection()
        dialect = connection.dialect
        form = self._forms.get(dialect.name) or self._forms.setdefault(dialect.name, _form(self._statement, dialect))
        given = form.given(values)
        how = {"prepare": False} if self._planned_anew and dialect.name == "postgresql" else {}
        cursor: Any = connection.connection.cursor()
        try:
            # Past SQLAlchemy, which would work out the columns' names anew for each answer.
            found = cursor.execute(form.text, given, **how).fetchall()
        except dialect.loaded_dbapi.Error:
            # A look does no harm twice: the usual way names the error as all others are, or there was none.
            return connection.exec_driver_sql(form.text, given).all()
        finally:
            cursor.close()
        return [*map(form.row, found)]


def place(name: str, kind: Any = None) -> BindParameter[Any]:
    """Where a value goes; its kind is that of the column it is compared with, or the one named."""
    return bindparam(name, None, type_=kind, required=False)


def _form(statement: Select[*tuple[Any, ...]], dialect: Dialect) -> _Form:
    compiled: Any = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    order = tuple(compiled.positiontup) if compiled.positional else None
    names = [column.name for column in statement.selected_columns]
    named = cast(Any, namedtuple)("named", names)  # the names are known only now
    return _Form(str(compiled), dict(compiled.params), order, named._make)


def _plain(value: Any) -> Any:
    return orjson.dumps(value).decode() if isinstance(value, list) else value


def among(column: Any, name: str, *, embedded: bool) -> ColumnElement[bool]:
    """Whether a column is one of the values given at that place: as JSON to SQLite, as an array to PostgreSQL."""
    if embedded:
        each = func.json_each(place(name, String())).table_valued("value")
        inside: ColumnElement[bool] = column.in_(select(each.c.value))
        return inside
    kind: Any = column.type if isinstance(column.type, String) else BigInteger()
    one_of: ColumnElement[bool] = column == any_(place(name, ARRAY(kind)))
    return one_of


def from_json(value: Any) -> Any:
    """A JSON column as the driver gives it: text on SQLite, read already on PostgreSQL."""
    return orjson.loads(value) if isinstance(value, str) else value
