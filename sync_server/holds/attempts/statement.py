"""The SQL that holds one seat: what it reads, on what condition it goes on, and what it writes.

Both databases read the same. PostgreSQL reads and writes in one statement; SQLite, which has one writer at a time
anyway, reads first and then writes. Both read tables of other packages by name: asking those packages one by one would
cost more than the rest of the request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sqlite3 import Cursor
from typing import Any, Final, cast

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql

from sync_server.audit.service import LINES_TABLE, PERSONAL_TABLE
from sync_server.holds.attempts.evidence import COUNTER_USED_AT, GUEST_ACTIVE, StatementRow, bearer
from sync_server.holds.caches import sale_state
from sync_server.holds.models import HoldRow
from sync_server.holds.rules import REASONS
from sync_server.outbox.service import OUTBOX_TABLE, WRITTEN_AT_POSTGRESQL, WRITTEN_AT_SQLITE
from sync_server.plumbing.sql.autocommit import numbered

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves dialect classes untyped

# The query plan is made once, perhaps while tables are empty and all indexes look alike. So the status, which begins an
# index that would find thousands, cannot use one with an empty string appended to it. The organisation stands plain
# everywhere: it says where the rows are.
#
# The lock on the bearer's counter serialises requests of one bearer. Everybody takes the share lock on the sale lock
# first, and then this one.
_OF_A_BEARER: Final = """
counter AS MATERIALIZED (
  SELECT version FROM hold_counters
  WHERE organisation_id = :organisation AND bearer_id = :bearer AND EXISTS (SELECT 1 FROM sale_lock) {lock}
), {bearer}, near AS MATERIALIZED (
  SELECT seat, state, held_until, version, hold_id
  FROM event_seats {by}
  WHERE organisation_id = :organisation AND event_id = :event AND day = :day
    AND seat BETWEEN :lowest AND :highest AND seat IN (:seat, :left_far, :left, :right, :right_far)
), mine AS (
  SELECT COALESCE(SUM(quantity), 0) AS count,
    MAX(CASE WHEN {here} THEN CAST(id AS VARCHAR) END) AS hold,
    MAX(CASE WHEN {here} THEN held_until END) AS until
  FROM holds
  WHERE organisation_id = :organisation AND bearer_id = :bearer AND event_id = :event
    AND status IN ('active', 'suspended') AND held_until > :now
), place AS MATERIALIZED (
  SELECT MAX(CASE WHEN seat = :seat THEN state END) AS state,
    MAX(CASE WHEN seat = :seat THEN held_until END) AS until,
    MAX(CASE WHEN seat = :seat THEN version END) AS version,
    :walls + COALESCE(SUM(
      CASE WHEN state = 2 OR (state = 1 AND held_until > :now) THEN {beside} ELSE 0 END), 0) AS taken
  FROM near
), seen AS MATERIALIZED (
  SELECT
    {fresh} AS fresh,
    {guest_active} AS guest_active,
    (SELECT version FROM counter) AS counter,
    (SELECT version FROM hold_counters WHERE organisation_id = :organisation AND bearer_id = :bearer) AS counter_before,
    recent_holds.recent, recent_holds.oldest, mine.count AS mine, mine.hold AS my_hold, mine.until AS my_until,
    COALESCE(place.state, 0) AS state, place.until AS held_until, here.count AS from_address, carded.count AS with_card,
    (:tidy >> CAST(place.taken AS INTEGER)) & 1 = 1 AS tidy, COALESCE(place.version, 0) AS version
  FROM recent_holds, mine, here, carded, place
)"""
_READ: Final = "{current}, {of_a_bearer}, going AS MATERIALIZED (SELECT version FROM seen WHERE {passed})"

# The seat and its neighbours are read at once: five lookups took PostgreSQL three times as long. Their bounds are
# named, because a plan that was made while few seats were taken reads all of an event for the list alone.
_BESIDE: Final = " + ".join(
    f"CASE WHEN seat = :{name} THEN {bit} ELSE 0 END"
    for bit, name in zip((1, 2, 4, 8), ("left_far", "left", "right", "right_far"), strict=True)
)

# Where it is one seat, its hold is looked up once; a list would be hashed twice for each statement.
_HERE: Final = "id = (SELECT hold_id FROM near WHERE seat = :seat)"
_HERE_OF_SEVERAL: Final = "id IN (SELECT hold_id FROM near)"

EVIDENCE: Final = ", ".join(field for field in StatementRow._fields if field != "done")
PASSED: Final = " AND ".join(reason.passed for reason in REASONS if reason.passed)


def of_a_bearer(
    lock: str = "", by: str = "", *, here: str = _HERE, per_address: bool = True, per_card: bool = True
) -> str:
    """What is read of one bearer and one seat, up to `seen`; `sale_lock` and `same` stand before it."""
    known = bearer(per_address=per_address, per_card=per_card)
    evidence = {"bearer": known, "guest_active": GUEST_ACTIVE, "fresh": sale_state.IS_CURRENT, "here": here}
    return _OF_A_BEARER.format(**evidence, lock=lock, by=by, beside=_BESIDE)


def _read(
    share: str = "", lock: str = "", by: str = "", *, here: str = _HERE, per_address: bool = True, per_card: bool = True
) -> str:
    found = of_a_bearer(lock, by, here=here, per_address=per_address, per_card=per_card)
    return _READ.format(current=sale_state.CURRENT.format(share=share), of_a_bearer=found, passed=PASSED)


def read_several(these: str, on_days: str, share: str = "", lock: str = "", by: str = "") -> str:
    """The same for several seats or days, by the conditions for the rows of one; their choice was checked before."""
    one, near = "seat = :seat", "seat IN (:seat, :left_far, :left, :right, :right_far)"
    read = _read(share, lock, by, here=_HERE_OF_SEVERAL).replace(near, these).replace("day = :day", on_days)
    return read.replace(f" WHERE {one}", "").replace(one, "true").replace(_BESIDE, "0").replace(":walls", "0")


def _columns(table: Table, left_out: Iterable[str] = ()) -> list[str]:
    return [column.name for column in table.columns if column.name not in set(left_out)]


#: Columns whose value is a parameter of the query already: each value is sent once.
_SAME: Final = {
    "hold_organisation_id": "organisation",
    "hold_event_id": "event",
    "hold_seat": "seat",
    "hold_bearer_kind": "kind",
    "hold_bearer_id": "bearer",
    "hold_held_until": "until",
    "hold_created_at": "now",
    "hold_updated_at": "now",
    "line_organisation_id": "organisation",
    "line_at": "now",
    "line_subject_id": "hold_id",
    "personal_organisation_id": "organisation",
    "fact_organisation_id": "organisation",
    "fact_created_at": "now",
}


OF_ONE_SEAT: Final[Mapping[str, str]] = {
    "hold_kind": "'seat'",
    "hold_quantity": "1",
    "hold_group_id": "NULL",
    "hold_order_id": "NULL",
    "hold_status": "'active'",
    "hold_remaining_ms": "NULL",
    "hold_extended": "0",
    "line_action": "'seat_reserved'",
    "line_subject_kind": "'hold'",
    "line_before": "NULL",
    "line_subject_digest": "NULL",
    "personal_part": "'actor'",
    "fact_name": "'seat_held'",
}
"""What is the same for each hold of one seat: PostgreSQL has it in its plan, but reads each parameter anew."""


def _values(prefix: str, table: Table, names: Iterable[str], *, typed: bool) -> str:
    """A placeholder for each column; PostgreSQL needs the types of parameters in a SELECT."""
    named = [f"{prefix}_{name}" for name in names]
    if not typed:
        return ", ".join(f":{_SAME.get(name, name)}" for name in named)
    placeholders = (OF_ONE_SEAT.get(name) or f":{_SAME.get(name, name)}" for name in named)
    kinds = (table.c[name].type.compile(_DIALECT) for name in names)
    return ", ".join(f"CAST({placeholder} AS {kind})" for placeholder, kind in zip(placeholders, kinds, strict=True))


_NOTHING: Final[Mapping[str, str]] = {}


def insert_rows(
    table: Table, prefix: str, names: list[str], *, source: str = "", also: Mapping[str, str] = _NOTHING
) -> str:
    columns = ", ".join(f'"{name}"' for name in [*names, *also])
    values = ", ".join([_values(prefix, table, names, typed=bool(source)), *also.values()])
    rows = f"SELECT {values} FROM {source}" if source else f"VALUES ({values})"
    return f"INSERT INTO {table.name} ({columns}) {rows}"


HOLDS: Final = cast(Table, HoldRow.__table__)
HOLD_COLUMNS: Final = _columns(HOLDS)
LINE_COLUMNS: Final = _columns(LINES_TABLE, ("seq", "seal"))
PERSONAL_COLUMNS: Final = _columns(PERSONAL_TABLE, ("erased_at",))
FACT_COLUMNS: Final = ["message_id", "name", "organisation_id", "stream", "subjects", "payload", "created_at", "trace"]

TAKE: Final = """
  INSERT INTO event_seats
    (organisation_id, event_id, seat, day, state, hold_id, held_until, ticket_id, version, locked_at)
  {new}
  ON CONFLICT (organisation_id, event_id, seat, day) DO UPDATE
  SET state = 1, hold_id = excluded.hold_id, held_until = excluded.held_until, ticket_id = NULL,
      version = event_seats.version + 1, locked_at = excluded.locked_at
  WHERE event_seats.state = 0 AND event_seats.version = {version}
  RETURNING seat"""
NEW_SEAT: Final = (
    "CAST(:organisation AS {id}), CAST(:event AS {id}), CAST(:seat AS INTEGER), CAST(:day AS SMALLINT), 1, "
    "CAST(:hold_id AS {id}), CAST(:until AS BIGINT), CAST(NULL AS BIGINT), 1, CAST(:now AS BIGINT)"
)
COUNT: Final = (
    f"UPDATE hold_counters SET version = version + 1, updated_at = {COUNTER_USED_AT} "
    "WHERE organisation_id = :organisation AND bearer_id = :bearer"
)


def history(source: str) -> list[str]:
    """The audit line, its personal part and the fact of what that source has held."""
    with_person = f"{source} WHERE CAST(:personal_line_id AS UUID) IS NOT NULL"
    return [
        f"audit_line AS ({insert_rows(LINES_TABLE, 'line', LINE_COLUMNS, source=source)})",
        f"personal AS ({insert_rows(PERSONAL_TABLE, 'personal', PERSONAL_COLUMNS, source=with_person)})",
        f"fact AS ({insert_rows(OUTBOX_TABLE, 'fact', FACT_COLUMNS, source=source, also=WRITTEN_AT_POSTGRESQL)})",
    ]


PATIENCE_MS: Final = 100
"""How long a statement waits for locks while other requests wait for it."""


def hurried(sql: str) -> str:
    """The statement, with less patience: each takes the sale lock first."""
    patience = f"patience AS MATERIALIZED (SELECT set_config('lock_timeout', '{PATIENCE_MS}', true))"
    rest = sql.removeprefix("WITH ").replace("FOR SHARE", "AND EXISTS (SELECT 1 FROM patience) FOR SHARE")
    return f"WITH {patience}, {rest}"


def _read_and_write(*, per_address: bool, per_card: bool) -> str:
    """Read and write in one, for PostgreSQL: where the seat is lost, nothing is written."""
    new = f"SELECT {NEW_SEAT.format(id='UUID')} FROM going WHERE version >= 0"
    parts = [
        _read(share="FOR SHARE", lock="FOR UPDATE", per_address=per_address, per_card=per_card),
        f"taken AS ({TAKE.format(new=new, version='(SELECT version FROM going)')})",
        f"held AS ({insert_rows(HOLDS, 'hold', HOLD_COLUMNS, source='taken')} RETURNING 1)",
        f"counted AS ({COUNT} AND EXISTS (SELECT 1 FROM held))",
        *history("held"),
    ]
    return f"WITH {', '.join(parts)} SELECT {EVIDENCE}, EXISTS (SELECT 1 FROM held) FROM seen"


LIMITED: Final = tuple((per_address, per_card) for per_address in (False, True) for per_card in (False, True))
"""Whether holds of the same address, and of the same card, are limited: each has statements of its own."""
_BY_LIMITS: Final = {each: _read_and_write(per_address=each[0], per_card=each[1]) for each in LIMITED}
READ_AND_WRITE: Final = {limited: numbered(sql) for limited, sql in _BY_LIMITS.items()}
HURRIED: Final = {limited: numbered(hurried(sql)) for limited, sql in _BY_LIMITS.items()}
"""The same for a request while others may wait for it."""
TAKEN_NOW: Final = numbered(
    "SELECT s.seat, s.state, s.held_until, h.bearer_id FROM event_seats s "
    "LEFT JOIN holds h ON h.organisation_id = s.organisation_id AND h.event_id = s.event_id AND h.seat = s.seat "
    "AND h.id = s.hold_id AND h.status IN ('active', 'suspended') "
    "WHERE s.organisation_id = :organisation AND s.event_id = :event AND s.day = :day "
    "AND s.seat BETWEEN :lowest AND :highest AND s.seat = ANY (CAST(:seats AS integer[])) "
    "AND (s.state = 2 OR s.state = 1 AND s.held_until > :now)"
)
"""Which of some seats are taken now, and who holds them: the short query for those who come too late."""

# With statistics from an event's first minutes, SQLite would scan all its seats, throughout the rush.
BY_KEY: Final = "INDEXED BY sqlite_autoindex_event_seats_1"
READ: Final = f"WITH {_read(by=BY_KEY)} SELECT {EVIDENCE}, EXISTS (SELECT 1 FROM going) FROM seen"
"""For SQLite: the evidence, and whether to write."""

WRITE_PERSONAL: Final = insert_rows(PERSONAL_TABLE, "personal", PERSONAL_COLUMNS)
"""The personal part of the audit line; only where there is one."""
_TAKE: Final = TAKE.format(new=f"SELECT {NEW_SEAT.format(id='VARCHAR')} WHERE true", version="event_seats.version")
_WRITE: Final = (
    insert_rows(HOLDS, "hold", HOLD_COLUMNS),
    COUNT,
    insert_rows(LINES_TABLE, "line", LINE_COLUMNS),
    WRITE_PERSONAL,
    insert_rows(OUTBOX_TABLE, "fact", FACT_COLUMNS, also=WRITTEN_AT_SQLITE),
)
"""For SQLite: what to write once the seat is taken, in the same transaction."""


def write_embedded(cursor: Cursor, values: Mapping[str, Any], days: Iterable[int]) -> None:
    """Write one seat, for SQLite."""
    for day in days:
        cursor.execute(_TAKE, {**values, "day": day})
    for sql in _WRITE:
        if sql is not WRITE_PERSONAL or values["personal_line_id"] is not None:
            cursor.execute(sql, values)


_PARTS: Final = {
    prefix: tuple((f"{prefix}_{name}", name) for name in columns if f"{prefix}_{name}" not in _SAME)
    for prefix, columns in (
        ("hold", HOLD_COLUMNS),
        ("line", LINE_COLUMNS),
        ("personal", PERSONAL_COLUMNS),
        ("fact", FACT_COLUMNS),
    )
}

_APART: Final = {prefix: tuple(zip(*pairs, strict=True)) for prefix, pairs in _PARTS.items()}


def named_columns(prefix: str) -> tuple[tuple[str, str], ...]:
    """The names of those parameters, each with its column."""
    return _PARTS[prefix]


def named(prefix: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's values by parameter name, without those that the query has as parameters already."""
    names, columns = _APART[prefix]
    return dict(zip(names, map(row.get, columns), strict=True))
