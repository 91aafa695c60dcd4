"""Writes the journal or the roster to a file that other programs read: CSV, JSON lines or SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from enum import StrEnum
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from sqlite_utils import Database

from gate_app import reading_home
from gate_app.clock.time_format import iso
from gate_app.installation.home import Home
from gate_app.scanning.answers import flag_names
from gate_app.snapshots.roster import EventRows, snapshot_paths
from gate_app.snapshots.snapshot_file import SnapshotFile, open_snapshot
from shared.csv_cells import write_lines
from shared.errors import Conflict, StorageError
from shared.wire.snapshot import TicketRow

Line = dict[str, Any]
BATCH = 5_000


class Content(StrEnum):
    """What can be exported; also the name of the table in a SQLite file."""

    JOURNAL = "journal"
    ROSTER = "roster"


def write(home: Home, content: Content, file: Path) -> int:
    """Writes a new file in the format of its ending and returns the number of lines.

    Raises NotFound before the first enrolment or scan, Conflict if the file exists, StorageError if it cannot be
    written.
    """
    with reading_home.journal(home) as connection:
        lines = reading_home.entries(connection) if content is Content.JOURNAL else roster_lines(connection, home)
        _create(file)
        counted = _Counted(lines)
        try:
            WRITERS[file.suffix.lower()](counted, file, content)
        except BaseException:
            file.unlink(missing_ok=True)
            raise
    return counted.lines


def roster_lines(connection: sqlite3.Connection, home: Home) -> Iterator[Line]:
    """Every ticket of every event this gate holds, by event and ticket number."""
    for event, path in sorted(snapshot_paths(connection, home.snapshots)):
        with closing(open_snapshot(path)) as snapshot:
            rows = _rows_of(snapshot)
            for ticket in snapshot.tickets():
                yield _ticket_line(event, rows, ticket)


def _rows_of(snapshot: SnapshotFile) -> EventRows:
    rows = EventRows()
    for row in snapshot.rows():
        rows.add(row)
    return rows


def _ticket_line(event: int, rows: EventRows, ticket: TicketRow) -> Line:
    kind, zone = rows.types.get(ticket.ticket_type), rows.zones.get(ticket.zone)
    return {
        "event": event,
        "ticket": f"{ticket.ticket_id:016x}",
        "number": ticket.number,
        "confirmation_code": ticket.confirmation_code,
        "issue": ticket.issue,
        "state": ticket.state.name.lower(),
        "type": kind.name if kind else None,
        "zone": zone.name if zone else None,
        "row": ticket.seat_row or None,
        "seat": ticket.seat_number or None,
        "entitlement": ticket.entitlement.name.lower(),
        "entries_a_day": ticket.limit or None,
        "flags": list(flag_names(int(ticket.flags))),
        "not_before": _time(ticket.not_before),
        "not_after": _time(ticket.not_after),
        "membership": ticket.membership_tier or None,
        "name": ticket.name or None,
        "notes": ticket.notes or None,
    }


def _time(seconds: int) -> str | None:
    return iso(seconds * 1000) if seconds else None


def _create(file: Path) -> None:
    """Creates the file, readable by its owner only: it may contain names. An existing one is never touched."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as why:
        raise Conflict(f"{file} already exists. Choose another name, or delete it first.") from why
    except OSError as why:
        raise StorageError(f"{file} cannot be written: {why.strerror}.") from why


class _Counted:
    """Lines, counted while they are written."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self.lines = 0

    def __iter__(self) -> Iterator[Line]:
        for line in self._lines:
            self.lines += 1
            yield line


def _write_csv(lines: _Counted, file: Path, _content: Content) -> None:
    found = iter(lines)
    first = next(found, None)
    if first is None:
        return
    with file.open("w", encoding="utf-8", newline="") as opened:
        write_lines(
            opened, chain([first], ([_cell(value) for value in line.values()] for line in chain([first], found)))
        )


def _cell(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict) else value


def _write_json_lines(lines: _Counted, file: Path, _content: Content) -> None:
    encode = msgspec.json.Encoder().encode
    with file.open("wb") as opened:
        opened.writelines(encode(line) + b"\n" for line in lines)


def _write_sqlite(lines: _Counted, file: Path, content: Content) -> None:
    with Database(file, execute_plugins=False) as database, database.atomic():
        database.table(str(content)).insert_all(lines, pk=_KEYS[content], columns=_NUMBERS[content], batch_size=BATCH)


WRITERS: Mapping[str, Callable[[_Counted, Path, Content], None]] = MappingProxyType(
    {".csv": _write_csv, ".jsonl": _write_json_lines, ".db": _write_sqlite, ".sqlite": _write_sqlite}
)
"""The writer for each ending of a file name."""

_KEYS = {Content.JOURNAL: ("device", "branch", "seq"), Content.ROSTER: ("event", "ticket")}
# Columns that may be empty in the first rows, from which sqlite-utils would guess that they hold texts.
_NUMBERS = {
    Content.JOURNAL: {"event": int, "gate": int, "issue": int},
    Content.ROSTER: {"entries_a_day": int},
}
