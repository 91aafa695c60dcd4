"""Many rows in one statement: inserted from JSON, by unnest or executemany, selected by an array or a list."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

import orjson
from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    ColumnElement,
    LargeBinary,
    Table,
    TextClause,
    TypeDecorator,
    any_,
    func,
    literal,
    select,
    text,
    type_coerce,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import InstrumentedAttribute, Session, make_transient_to_detached
from sqlalchemy.types import NULLTYPE, TypeEngine

from sync_server.plumbing.sql import late_writes
from sync_server.plumbing.sql.known_rows import Model, column_names
from sync_server.plumbing.sql.late_writes import RECORDS, Insert
from sync_server.plumbing.sql.tables import Base

Row = Mapping[str, Any]
Computed = tuple[tuple[str, str], ...]
"""Columns that the database fills in: their names, and expressions in its own SQL."""
MANY: Final = 16
"""From so many rows on, rows are sent by column, and a column with one value once; fewer are sent as JSON.

That takes the server a quarter of the time, and PostgreSQL as long as arrays do.
"""
_POSTGRESQL = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves dialect classes untyped


def insert_many(
    session: Session,
    model: type[Base],
    rows: Sequence[Row],
    on_conflict: str = "",
    *,
    computed: Computed = (),
) -> None:
    """Insert rows that all have the same columns; `on_conflict` is the clause both databases share.

    Those that are `computed` the database fills in.
    """
    if not rows:
        return
    if not _is_sqlite(session):
        given = cast(Table, model.__table__), rows, on_conflict, computed
        if len(rows) < MANY:
            _write_records(session, *given)
            return
        statement, arrays = _by_column(*given)
        if late_writes.are_queued(session):
            late_writes.add(session, _as_sent(statement), arrays)
        else:
            session.connection().execute(statement, arrays)
        return
    table, names = cast(Table, model.__table__), tuple(rows[0])
    columns = [_converted(table, name, [row[name] for row in rows]) for name in names]
    # By the driver itself: SQLAlchemy would prepare the values of every row anew.
    session.connection().exec_driver_sql(_by_row(table, names, on_conflict, computed), list(zip(*columns, strict=True)))


def insert_missing(session: Session, model: type[Base], rows: Sequence[Row], column: str) -> Collection[Any]:
    """Insert those rows whose key is not there yet; returns their values of this column.

    The caller has looked which are missing. On SQLite nobody else writes until this transaction ends, so all of them
    are; on PostgreSQL somebody may have been faster, and is waited for.
    """
    if not rows or _is_sqlite(session):
        insert_many(session, model, rows, "ON CONFLICT DO NOTHING")
        return [row[column] for row in rows]
    table = cast(Table, model.__table__)
    statement, values = _by_column(table, rows, f"ON CONFLICT DO NOTHING RETURNING {column}")
    return session.connection().execute(statement.columns(table.c[column]), values).scalars().all()


def columns_of(model: type[Model], rows: Iterable[Model]) -> list[Row]:
    """What new rows have in each column of their table."""
    names = column_names(model)
    return [{name: given.get(name) for name in names} for given in map(vars, rows)]


def insert_rows(session: Session, model: type[Model], rows: Sequence[Model]) -> None:
    """Insert new rows, every column of which is set, in one statement; the session knows them from now on."""
    insert_many(session, model, columns_of(model, rows))
    for row in rows:
        make_transient_to_detached(row)
    session.add_all(rows)


def array_literal(values: Sequence[Any]) -> str:
    """The values as PostgreSQL writes an array; its driver takes ten times as long, value by value."""
    kinds = {type(value) for value in values}
    writers = [_writer(kind) for kind in kinds]
    if len(writers) == 1:
        return f"{{{','.join(map(writers[0], values))}}}"
    writer_of = dict(zip(kinds, writers, strict=True))
    return f"{{{','.join([writer_of[type(value)](value) for value in values])}}}"


def _writer(kind: type[Any]) -> Callable[[Any], str]:
    """How one element of this type is written in an array. Raises TypeError for types that no bulk column has."""
    for known, write in _WRITERS:
        if issubclass(kind, known):
            return write
    raise TypeError(f"a bulk column of {kind.__name__}")


def _text(value: str) -> str:
    if "\\" not in value and '"' not in value:
        return f'"{value}"'
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# In this order: a truth value is a number too.
_WRITERS: tuple[tuple[type[Any], Callable[[Any], str]], ...] = (
    (type(None), lambda _none: "NULL"),
    (bool, lambda value: "t" if value else "f"),
    (int, int.__repr__),
    (float, float.__repr__),
    (bytes, lambda value: f'"\\\\x{value.hex()}"'),
    (str, _text),
)


@lru_cache
def _by_row(table: Table, names: tuple[str, ...], on_conflict: str, computed: Computed) -> str:
    values = ", ".join((*"?" * len(names), *(expression for _, expression in computed)))
    columns = ", ".join((*names, *(name for name, _ in computed)))
    return f"INSERT INTO {table.name} ({columns}) VALUES ({values}) {on_conflict}"  # noqa: S608 - our own names


def _by_column(
    table: Table, rows: Sequence[Row], on_conflict: str, computed: Computed = ()
) -> tuple[TextClause, dict[str, Any]]:
    """The statement, and its values: an array for each column, or one value where all rows have the same."""
    columns = {name: _converted(table, name, [row[name] for row in rows]) for name in rows[0]}
    alike = {name for name, found in columns.items() if len(rows) >= MANY and found.count(found[0]) == len(rows)}
    varied = tuple(name for name in columns if name not in alike) or tuple(columns)
    values = {name: array_literal(found) if name in varied else found[0] for name, found in columns.items()}
    return _of_columns(table, tuple(columns), varied, on_conflict, computed), values


@lru_cache
def _of_columns(
    table: Table, names: tuple[str, ...], varied: tuple[str, ...], on_conflict: str, computed: Computed
) -> TextClause:
    kinds = {name: table.c[name].type.compile(_POSTGRESQL) for name in names}
    shown = [f"each.{name}" if name in varied else f"CAST(:{name} AS {kinds[name]})" for name in names]
    shown += [expression for _, expression in computed]
    arrays = ", ".join(f"CAST(:{name} AS {kinds[name]}[])" for name in varied)
    into, given = ", ".join((*names, *dict(computed))), f"unnest({arrays}) AS each({', '.join(varied)})"
    return text(f"INSERT INTO {table.name} ({into}) SELECT {', '.join(shown)} FROM {given} {on_conflict}")  # noqa: S608 - our own names


@lru_cache
def _as_sent(statement: TextClause) -> str:
    return str(statement.compile(dialect=_POSTGRESQL))


def _write_records(session: Session, table: Table, rows: Sequence[Row], on_conflict: str, computed: Computed) -> None:
    """Insert a few rows, which are one parameter; together with other writes where the session queues them."""
    statement, writers = _of_records(table, tuple(rows[0]), on_conflict, computed)
    records = [{**row, **{name: write(row[name]) for name, write in writers}} for row in rows]
    insert = Insert(statement, orjson.dumps(records).decode())
    if not late_writes.are_queued(session):
        session.connection().exec_driver_sql(statement, {"records": insert.records})
    elif on_conflict or computed:  # by itself: it may wait for a row, or reads the clock when nothing is waited for
        late_writes.add(session, statement, {"records": insert.records})
    else:
        late_writes.add_insert(session, insert)


@lru_cache
def _of_records(
    table: Table, names: tuple[str, ...], on_conflict: str, computed: Computed
) -> tuple[str, Sequence[tuple[str, Callable[[Any], Any]]]]:
    """The statement, and how those columns are written in JSON that are not written as they are."""
    kinds = {name: table.c[name].type for name in names}
    sql = {name: kind.compile(_POSTGRESQL) for name, kind in kinds.items()}
    # JSON stays the text that it is: as part of the parameter it would lose the order of its keys.
    as_text = {name for name, kind in sql.items() if kind.startswith(("JSON", "VARCHAR"))}
    typed = ", ".join(f"{name} {'TEXT' if name in as_text else kind}" for name, kind in sql.items())
    shown = [f"CAST(each.{name} AS {sql[name]})" if name in as_text else f"each.{name}" for name in names]
    shown += [expression for _, expression in computed]
    into, chosen = ", ".join((*names, *dict(computed))), ", ".join(shown)
    given = f"jsonb_to_recordset(CAST({RECORDS} AS JSONB)) AS each({typed})"
    statement = f"INSERT INTO {table.name} ({into}) SELECT {chosen} FROM {given} {on_conflict}"  # noqa: S608 - our own names
    return statement, [(name, write) for name, kind in kinds.items() if (write := _in_json(kind)) is not None]


def _in_json(kind: TypeEngine[Any]) -> Callable[[Any], Any] | None:
    """How JSON has a value of this type; None where it takes it as it is."""
    if isinstance(kind, JSON):
        return json.dumps
    if isinstance(kind, LargeBinary):
        return lambda value: None if value is None else f"\\x{value.hex()}"
    if isinstance(kind, TypeDecorator):
        return lambda value: kind.process_bind_param(value, _POSTGRESQL)
    return None


def _converted(table: Table, name: str, values: Sequence[Any]) -> Sequence[Any]:
    kind = table.c[name].type
    if isinstance(kind, JSON):
        return [*map(json.dumps, values)]
    if not isinstance(kind, TypeDecorator):
        return values
    return [kind.process_bind_param(value, _POSTGRESQL) for value in values]


def among(session: Session, column: InstrumentedAttribute[int], values: Collection[int]) -> ColumnElement[bool]:
    """Whether a number column is one of `values`, which are sent as one parameter: hundreds of them take far longer."""
    kind = column.type
    plain = (
        [kind.process_bind_param(value, _POSTGRESQL) for value in values] if isinstance(kind, TypeDecorator) else values
    )
    stored = type_coerce(column, BigInteger)
    if _is_sqlite(session):
        listed = func.json_each(f"[{','.join(map(str, plain))}]").table_valued("value")
        return stored.in_(select(listed.c.value))
    # Without a type of its own the parameter is the array itself; a text would be converted again for each row.
    array = literal(array_literal(list(plain)), NULLTYPE)
    return stored == any_(sql_cast(array, ARRAY(BigInteger)))


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"
