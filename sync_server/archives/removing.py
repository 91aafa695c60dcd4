"""Takes the rows of an event out of the tables, piece by piece; only rows that are in its file, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Row, bindparam, delete, literal, literal_column, select, text
from sqlalchemy.orm import Session

from sync_server.archives import people, sealed_files
from sync_server.archives.event_rows import EventTable, leaving
from sync_server.plumbing.database import Database, database_of
from sync_server.plumbing.event_key import EventKey

PIECE: Final = 2_000
"""Rows that leave in one transaction."""
PIECE_EMBEDDED: Final = 500
"""On SQLite every other writer waits for that transaction."""


class ChangedSinceWrittenError(Exception):
    """The tables have a row of the event that is not in its file."""


def remove(database: Database, event: EventKey, file: Path) -> Iterator[int]:
    """Remove everything that is in the file, in pieces; yields how many rows each took.

    It may be interrupted at any moment, and goes on where it was. Raises ChangedSinceWrittenError before it removes a
    row that the file does not have.
    """
    manifest = sealed_files.verify(file).manifest
    for each in leaving():
        part = manifest.part(each.name)
        if _left(database, event, each):
            with sealed_files.opened(file) as archive:
                known = set() if part is None else {people.digest(line) for line in sealed_files.lines(archive, part)}
            while removed := _remove_piece(database, event, each, known):
                yield removed
    if any(_left(database, event, each) for each in leaving()):
        raise ChangedSinceWrittenError


def _remove_piece(database: Database, event: EventKey, each: EventTable, known: set[bytes]) -> int:
    with database.writing() as session:
        wanted = select(each.table).where(*each.of(event)).with_for_update(of=each.table)
        if database.embedded:
            rows = session.execute(wanted.limit(PIECE_EMBEDDED)).all()
        else:
            rows = session.execute(wanted.add_columns(literal_column(f"{each.name}.ctid")).limit(PIECE)).all()
        width = len(each.columns)
        if any(people.digest(each.line(each.shown(row[:width])) + b"\n") not in known for row in rows):
            raise ChangedSinceWrittenError
        if rows:
            people.keep(session, event, each, [row[:width] for row in rows])
            _delete(session, event, each, rows)
        return len(rows)


def _delete(session: Session, event: EventKey, each: EventTable, rows: Sequence[Row[Any]]) -> None:
    """Delete these rows, which are locked: on PostgreSQL by their places, on SQLite each by its key."""
    mine = each.table.c.organisation_id == event.organisation_id
    if database_of(session).embedded:
        key = list(each.table.primary_key.columns)
        named = (column == bindparam(f"key_{column.name}", type_=column.type) for column in key)
        values = [{f"key_{column.name}": getattr(row, column.name) for column in key} for row in rows]
        session.connection().execute(delete(each.table).where(mine, *named), values)
        return
    places = text(f"{each.name}.ctid = ANY(CAST(:places AS tid[]))").bindparams(places=[row[-1] for row in rows])
    session.execute(delete(each.table).where(mine, cast(ColumnElement[bool], places)))


def _left(database: Database, event: EventKey, each: EventTable) -> bool:
    with database.reading() as session:
        wanted = select(literal(1)).select_from(each.table).where(*each.of(event)).limit(1)
        return session.execute(wanted).first() is not None
