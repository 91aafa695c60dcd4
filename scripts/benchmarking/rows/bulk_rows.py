"""Copies many rows into a table at once: by COPY on PostgreSQL, in one transaction on SQLite, past all types.

Foreign keys and triggers are not looked at: whoever calls this makes rows of rows that the program has written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

from sqlalchemy import Table, text
from sqlalchemy.engine.interfaces import DBAPIConnection

from sync_server.plumbing.database import Database
from sync_server.plumbing.sql.tables import Base

Row = dict[str, Any]
MOST: Final = 10


def stored_rows(database: Database, name: str, column: str = "", value: object = None) -> list[Row]:
    """A few rows as the database itself writes them, by column; all, or those with this value."""
    table: Table = Base.metadata.tables[name]
    cast_to_text = "" if database.embedded else "::text"
    shown = ", ".join(f'"{each}"{cast_to_text} AS "{each}"' for each in list(table.columns.keys()))
    chosen = f'WHERE "{column}"{cast_to_text} = :value ' if column else ""
    sought = value if database.embedded else str(value)
    statement = text(f"SELECT {shown} FROM {name} {chosen}LIMIT {MOST}")  # noqa: S608  # names of our own tables
    with database.engine.connect() as connection:
        return [dict(row) for row in connection.execute(statement, {"value": sought} if column else {}).mappings()]


def copy_rows(database: Database, name: str, rows: Iterable[Row]) -> None:
    """Write these rows, each of which has every column of the table."""
    columns = list(Base.metadata.tables[name].columns.keys())
    values = ([row[column] for column in columns] for row in rows)
    named = ", ".join(f'"{column}"' for column in columns)
    with _unchecked(database) as (connection, cursor):
        if database.embedded:
            gaps = ", ".join("?" * len(columns))
            cursor.execute("BEGIN")
            cursor.executemany(f"INSERT INTO {name} ({named}) VALUES ({gaps})", values)  # noqa: S608  # likewise
        else:
            with cursor.copy(f"COPY {name} ({named}) FROM STDIN") as copy:
                for each in values:
                    copy.write_row(each)
        connection.commit()


@contextmanager
def _unchecked(database: Database) -> Iterator[tuple[DBAPIConnection, Any]]:
    """A connection of its own that looks at neither foreign keys nor triggers."""
    off, on = (
        ("PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys = ON")
        if database.embedded
        else ("SET session_replication_role = replica", "SET session_replication_role = DEFAULT")
    )
    pooled = database.engine.raw_connection()
    connection = cast(DBAPIConnection, pooled.driver_connection)
    try:
        cursor = connection.cursor()
        cursor.execute(off)
        connection.commit()
        yield connection, cursor
        cursor.execute(on)
        connection.commit()
    finally:
        pooled.close()
