"""Puts the rows of an event back into the tables, from its file, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from sync_server.archives import people, sealed_files
from sync_server.archives.event_rows import EventTable, leaving
from sync_server.archives.removing import PIECE, PIECE_EMBEDDED
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql import writes


def restore(
    database: Database, event: EventKey, file: Path, done: int = 0, *, tables_win: bool = False
) -> Iterator[int]:
    """Put every row back that left, but the first `done`; yields how many each transaction wrote.

    Rows that are back already are written once more: nothing is lost where it does not know how far it came. What gates
    have sent once more meanwhile is replaced by what is in the file, unless the `tables_win`: if not all had left. Of
    people comes back what was not erased meanwhile.
    """
    manifest = sealed_files.verify(file).manifest
    size = PIECE_EMBEDDED if database.embedded else PIECE
    for each in reversed(leaving()):
        part = manifest.part(each.name)
        if part is None or done >= part.rows:
            done -= 0 if part is None else part.rows
            continue
        with sealed_files.opened(file) as archive:
            lines = islice(sealed_files.lines(archive, part), done, None)
            done = 0
            while some := list(islice(lines, size)):
                with database.writing() as session:
                    kept = people.kept_of(session, event, each.name, some)
                    rows = [each.row(line, part.columns, kept.get(people.digest(line))) for line in some]
                    _put_back(session, each, rows, tables_win=tables_win)
                yield len(some)


def _put_back(session: Session, each: EventTable, rows: list[dict[str, Any]], *, tables_win: bool) -> None:
    insert = writes.insert(session, each.table)
    if tables_win:
        session.execute(insert.on_conflict_do_nothing(), rows)
        return
    key = [column.name for column in each.table.primary_key.columns]
    others = {name: insert.excluded[name] for name in rows[0] if name not in key}
    write = insert.on_conflict_do_update(index_elements=key, set_=others) if others else insert.on_conflict_do_nothing()
    session.execute(write, rows)
