"""The SQL that holds several seats, all or none: it reads and judges as the statement for one seat does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sqlite3 import Cursor
from typing import Any, Final

import orjson

from sync_server.audit.service import LINES_TABLE, PERSONAL_TABLE
from sync_server.holds.attempts import statement
from sync_server.holds.attempts.evidence import StatementRow
from sync_server.holds.attempts.hold_rows import HoldRows
from sync_server.outbox.service import OUTBOX_TABLE, WRITTEN_AT_POSTGRESQL
from sync_server.plumbing.sql.autocommit import numbered

_SEATS: Final = "organisation_id, event_id, seat, day, 1, id, held_until, CAST(NULL AS BIGINT), 1, created_at"


def _rows(table: str, parameter: str) -> str:
    """The rows of a parameter in JSON, with the types of their table."""
    return f"json_populate_recordset(CAST(NULL AS {table}), CAST(:{parameter} AS json))"


def _insert(table: str, names: Sequence[str], rows: str, also: Mapping[str, str] | None = None) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    columns, values = ", ".join(["", *(also or {})]), ", ".join(["", *(also or {}).values()])
    return f"INSERT INTO {table} ({quoted}{columns}) SELECT {quoted}{values} FROM complete, {rows}"


def _read_and_write() -> str:
    """Read and write in one, for PostgreSQL.

    Where another guest has just taken one of the seats, the holds get no status, which their table refuses: so nothing
    of it is done.
    """
    days = "unnest(CAST(:on_days AS smallint[])) AS days (day)"
    new = f"SELECT {_SEATS} FROM going, wanted, {days} WHERE version >= 0 ORDER BY seat, day"
    held = [name for name in statement.HOLD_COLUMNS if name != "status"]
    fact_columns, written = statement.FACT_COLUMNS, WRITTEN_AT_POSTGRESQL
    parts = [
        statement.read_several(
            "seat = ANY (CAST(:seats AS integer[]))",
            "day = ANY (CAST(:on_days AS smallint[]))",
            share="FOR SHARE",
            lock="FOR UPDATE",
        ),
        f"wanted AS MATERIALIZED (SELECT * FROM {_rows('holds', 'holds')})",
        f"taken AS ({statement.TAKE.format(new=new, version='event_seats.version')})",
        "complete AS MATERIALIZED (SELECT CASE WHEN count(*) = CAST(:count AS integer) THEN 'active' END AS complete "
        "FROM taken HAVING count(*) > 0)",
        f"held AS ({_insert('holds', held, 'wanted', {'status': 'complete'})} RETURNING 1)",
        f"counted AS ({statement.COUNT} AND EXISTS (SELECT 1 FROM held))",
        f"line AS ({_insert(LINES_TABLE.name, statement.LINE_COLUMNS, _rows(LINES_TABLE.name, 'lines'))})",
        "personal AS ("
        f"{_insert(PERSONAL_TABLE.name, statement.PERSONAL_COLUMNS, _rows(PERSONAL_TABLE.name, 'personal'))})",
        f"fact AS ({_insert(OUTBOX_TABLE.name, fact_columns, _rows(OUTBOX_TABLE.name, 'facts'), written)})",
    ]
    return f"WITH {', '.join(parts)} SELECT {statement.EVIDENCE}, EXISTS (SELECT 1 FROM held) FROM seen"


READ_AND_WRITE: Final = numbered(_read_and_write())
_THESE: Final = "seat IN (SELECT value FROM json_each(:seats))"
_ON_DAYS: Final = "day IN (SELECT value FROM json_each(:on_days))"
_READ: Final = (
    f"WITH {statement.read_several(_THESE, _ON_DAYS, by=statement.BY_KEY)} "
    f"SELECT {statement.EVIDENCE}, EXISTS (SELECT 1 FROM going) FROM seen"
)


def parameters(
    values: Mapping[str, Any], seats: Sequence[int], days: Sequence[int], rows: Sequence[HoldRows]
) -> dict[str, Any]:
    """The parameters of the statement for PostgreSQL."""
    return {
        **values,
        **_bounds(seats),
        "seats": list(seats),
        "on_days": list(days),
        "count": len(rows) * len(days),
        "holds": _json([each.hold for each in rows]),
        "lines": _json([each.line for each in rows]),
        "personal": _json([one for each in rows for one in each.personal]),
        "facts": _json([each.fact for each in rows]),
    }


def _bounds(seats: Sequence[int]) -> dict[str, int]:
    return {"lowest": min(seats), "highest": max(seats)}


def _json(rows: Sequence[Mapping[str, Any]]) -> str:
    return orjson.dumps(rows, default=_as_bytea).decode()


def _as_bytea(value: bytes) -> str:
    return f"\\x{value.hex()}"


def run_embedded(
    cursor: Cursor, values: Mapping[str, Any], seats: Sequence[int], days: Sequence[int], rows: Sequence[HoldRows]
) -> StatementRow:
    """Read, and write each seat, in one transaction of SQLite, which has no other writer meanwhile."""
    listed = {**_bounds(seats), "seats": _text(seats), "on_days": _text(days)}
    read = StatementRow(*cursor.execute(_READ, {**values, **listed}).fetchone())
    if read.done:
        for each in rows:
            mine = {"seat": each.hold["seat"], "hold_id": each.hold["id"], "until": each.hold["held_until"]}
            statement.write_embedded(cursor, {**values, **mine, **each.values()}, days)
    return read


def _text(seats: Sequence[int]) -> str:
    return orjson.dumps(list(seats)).decode()
