"""Many rows in one statement: inserted by unnest or executemany, selected by an array or a list."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Table, TypeDecorator, any_, literal, text, type_coerce
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import InstrumentedAttribute, Session

from sync_server.plumbing.sql.tables import Base

Row = Mapping[str, Any]
_POSTGRESQL = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves dialect classes untyped


def insert_many(session: Session, model: type[Base], rows: Sequence[Row], on_conflict: str) -> None:
    """Insert rows that all have the same columns; `on_conflict` is the clause both databases share."""
    if not rows:
        return
    table, names = cast(Table, model.__table__), tuple(rows[0])
    convert = {name: _converter(table, name) for name in names}
    connection = session.connection()
    if _is_sqlite(session):
        values = [{name: convert[name](row[name]) for name in names} for row in rows]
        connection.execute(text(_by_row(table, names, on_conflict)), values)
    else:
        columns = {name: [convert[name](row[name]) for row in rows] for name in names}
        connection.execute(text(_by_column(table, names, on_conflict)), columns)


@lru_cache
def _by_row(table: Table, names: tuple[str, ...], on_conflict: str) -> str:
    placeholders = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({placeholders}) {on_conflict}"  # noqa: S608 - our own names


@lru_cache
def _by_column(table: Table, names: tuple[str, ...], on_conflict: str) -> str:
    arrays = ", ".join(f"CAST(:{name} AS {table.c[name].type.compile(_POSTGRESQL)}[])" for name in names)
    columns = ", ".join(names)
    return f"INSERT INTO {table.name} ({columns}) SELECT * FROM unnest({arrays}) {on_conflict}"  # noqa: S608 - our own names


def _converter(table: Table, name: str) -> Callable[[Any], Any]:
    kind = table.c[name].type
    if isinstance(kind, TypeDecorator):
        return lambda value: kind.process_bind_param(value, _POSTGRESQL)
    return lambda value: value


def among(session: Session, column: InstrumentedAttribute[int], values: Collection[int]) -> ColumnElement[bool]:
    """Whether a number column is one of `values`; PostgreSQL takes one array faster than hundreds of parameters."""
    if _is_sqlite(session):
        return column.in_(values)
    kind = column.type
    plain = (
        [kind.process_bind_param(value, _POSTGRESQL) for value in values] if isinstance(kind, TypeDecorator) else values
    )
    return type_coerce(column, BigInteger) == any_(literal(list(plain), ARRAY(BigInteger)))


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"
