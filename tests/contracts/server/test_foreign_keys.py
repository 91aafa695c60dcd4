"""No row of one organisation can reference a row of another: the database itself refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import CheckConstraint, Column, Connection, ForeignKeyConstraint, Table, text, update
from sqlalchemy.exc import IntegrityError

from sync_server.migrations.tables import metadata
from sync_server.plumbing.sql.tables import UUID_TYPE, DayBits, Unsigned64
from tests.app_server import AppServer
from tests.builders import an_id

OURS, THEIRS = an_id("ours"), an_id("theirs")
Row = dict[str, Any]


def foreign_keys() -> Iterator[ForeignKeyConstraint]:
    """Those to rows that belong to organisations."""
    for table in metadata().sorted_tables:
        for key in table.foreign_key_constraints:
            if "organisation_id" in key.referred_table.c:
                yield key


def test_every_foreign_key_carries_the_organisation() -> None:
    for key in foreign_keys():
        pairs = {(element.parent.name, element.column.name) for element in key.elements}
        assert ("organisation_id", "organisation_id") in pairs, key.name


def test_the_database_refuses_references_to_another_organisation(app_server: AppServer) -> None:
    keys = list(foreign_keys())
    with app_server.database.engine.begin() as connection:
        allow_any_value(connection)
        rows = {whose: rows_of(connection, whose, n) for n, whose in enumerate((OURS, THEIRS), start=1)}
    for key in keys:
        theirs = rows[THEIRS][key.referred_table.name]
        named = [each for each in key.elements if each.parent.name != "organisation_id"]
        abroad = {element.parent.name: theirs[element.column.name] for element in named}
        change = update(key.table).where(key.table.c.organisation_id == OURS)
        moved = {"organisation_id": THEIRS}  # a row that references no other of its table may move
        for values in (abroad,) if key.referred_table is key.table else (abroad, moved):
            with (
                pytest.raises(IntegrityError, match=r"(?i)foreign key"),
                app_server.database.engine.begin() as connection,
            ):
                connection.execute(change.values(values))


def allow_any_value(connection: Connection) -> None:
    """Leave only the foreign keys to refuse a row."""
    if connection.dialect.name == "sqlite":
        connection.execute(text("PRAGMA ignore_check_constraints = ON"))
        for trigger in connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
            connection.execute(text(f"DROP TRIGGER {trigger}"))
        return
    for table in metadata().sorted_tables:
        connection.execute(text(f"ALTER TABLE {table.name} DISABLE TRIGGER USER"))
        for check in table.constraints:
            if isinstance(check, CheckConstraint):
                connection.execute(text(f"ALTER TABLE {table.name} DROP CONSTRAINT {check.name}"))


def rows_of(connection: Connection, whose: str, n: int) -> dict[str, Row]:
    """A row of this organisation in every table that foreign keys lead from or to."""
    tables = {table for key in foreign_keys() for table in (key.table, key.referred_table)}
    rows: dict[str, Row] = {}
    for table in metadata().sorted_tables:
        if table in tables or table.name == "organisations":
            rows[table.name] = {column.name: value(column, whose, n) for column in table.c}
            rows[table.name] |= references(table, rows)
            connection.execute(table.insert().values(rows[table.name]))
    return rows


def value(column: Column[Any], whose: str, n: int) -> Any:
    """A value that differs between the two organisations."""
    if column.nullable and not column.primary_key:
        return None
    if column.type is UUID_TYPE:
        return whose
    kind = int if isinstance(column.type, DayBits | Unsigned64) else getattr(column.type, "python_type", str)
    return {int: n, float: 0.0, bool: False, bytes: bytes([n]), dict: {}, list: []}.get(kind, whose[:3])


def references(table: Table, rows: dict[str, Row]) -> Row:
    """The columns with which this row references the others."""
    return {
        element.parent.name: rows[key.referred_table.name][element.column.name]
        for key in table.foreign_key_constraints
        if key.referred_table.name in rows and key.referred_table is not table
        for element in key.elements
    }
