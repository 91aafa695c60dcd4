"""The words of the one statement that holds a seat: what it looks at, on what it goes on, and what it writes.

The questions are the same on both databases. PostgreSQL answers them and writes in one statement; SQLite, where only
one writes at a time anyway, answers first and writes then. Both read tables of lower floors by name: to ask those
floors one by one costs more than the rest of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql

from sync_server.audit.service import FILED, LINES
from sync_server.holds.models import HoldRow, SeatOfEventRow
from sync_server.outbox.service import FACTS
from sync_server.plumbing.straight import numbered

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves dialect classes untyped

# A plan is made once, perhaps while tables are empty and every index looks as good as another. So each question leaves
# only the one good index to choose: a column that is added to an empty text cannot lead to a bad one.
#
# With the desk's row shared nobody closes the event meanwhile; with the bearer's own row locked, two requests of one
# person see each other. Both are the first locks that anybody takes, in this order.
_LOOKED_AT: Final = """
desk AS MATERIALIZED (
  SELECT turn FROM event_desks WHERE event_id = :event AND turn = :turn {share}
), same AS (
  SELECT 1 FROM events e
  LEFT JOIN event_layouts l ON l.event_id = e.id
  LEFT JOIN seating_policies p ON p.organisation_id = e.organisation_id
  WHERE e.id = :event AND e.organisation_id || '' = :organisation AND e.status || '' = :status
    AND COALESCE(e.rescheduled_at, -1) = :rescheduled_at AND COALESCE(e.sale_start_at, -1) = :sale_start_at
    AND e.sale_end_at = :sale_end_at AND e.capacity = :capacity
    AND COALESCE(l.revision, 0) = :revision AND COALESCE(p.updated_at, -1) = :policy_at
), tally AS MATERIALIZED (
  SELECT turn FROM hold_tallies WHERE bearer_id = :bearer AND EXISTS (SELECT 1 FROM desk) {lock}
), lately AS (
  SELECT COALESCE(SUM(quantity), 0) AS recent, MIN(created_at) AS oldest
  FROM holds WHERE bearer_id = :bearer AND created_at > :since
), mine AS (
  SELECT COALESCE(SUM(quantity), 0) AS count, MAX(CASE WHEN seat = :seat THEN id END) AS hold,
    MAX(CASE WHEN seat = :seat THEN held_until END) AS until
  FROM holds
  WHERE bearer_id = :bearer AND event_id = :event AND status IN ('active', 'suspended') AND held_until > :now
), here AS (
  SELECT COALESCE(SUM(quantity), 0) AS count FROM holds
  WHERE :per_address >= 0 AND event_id = :event AND origin = :origin AND status = 'active' AND held_until > :now
), place AS MATERIALIZED (
  SELECT MAX(CASE WHEN seat = :seat THEN state END) AS state,
    MAX(CASE WHEN seat = :seat THEN held_until END) AS until,
    MAX(CASE WHEN seat = :seat THEN version END) AS version,
    :walls + COALESCE(SUM(
      CASE WHEN state = 2 OR (state = 1 AND held_until > :now) THEN {beside} ELSE 0 END), 0) AS taken
  FROM event_seats {by} WHERE event_id = :event AND seat IN (:seat, :left_far, :left, :right, :right_far)
), seen AS MATERIALIZED (
  SELECT
    EXISTS (SELECT 1 FROM desk) AND EXISTS (SELECT 1 FROM same) AS fresh,
    :kind <> 'guest' OR EXISTS (
      SELECT 1 FROM guests WHERE id = :bearer AND organisation_id || '' = :organisation AND ends_at > :now) AS known,
    (SELECT turn FROM tally) AS tally,
    (SELECT turn FROM hold_tallies WHERE bearer_id = :bearer) AS tally_seen,
    lately.recent, lately.oldest, mine.count AS mine, mine.hold AS my_hold, mine.until AS my_until,
    COALESCE(place.state, 0) AS state, place.until AS held_until, here.count AS from_address, place.taken AS pattern,
    (:tidy >> CAST(place.taken AS INTEGER)) & 1 = 1 AS tidy, COALESCE(place.version, 0) AS version
  FROM lately, mine, here, place
), going AS MATERIALIZED (
  SELECT version FROM seen
  WHERE fresh AND known AND tally = tally_seen AND my_hold IS NULL AND state = 0 AND tidy
    AND (:rate < 0 OR recent < :rate) AND (:per_booking < 0 OR mine < :per_booking)
    AND (:per_user < 0 OR mine < :per_user) AND (:per_address < 0 OR from_address < :per_address)
)"""

# The seat and its neighbours are read in one go: five look-ups took PostgreSQL three times as long.
_BESIDE: Final = " + ".join(
    f"CASE WHEN seat = :{name} THEN {bit} ELSE 0 END"
    for bit, name in zip((1, 2, 4, 8), ("left_far", "left", "right", "right_far"), strict=True)
)

_SEEN: Final = (
    "fresh, known, tally, tally_seen, recent, oldest, mine, my_hold, my_until, state, held_until, from_address, "
    "pattern, tidy"
)


def _columns(table: Table, left_out: Iterable[str] = ()) -> list[str]:
    return [column.name for column in table.columns if column.name not in set(left_out)]


#: What the rows have in common with the question, under the name that it has there: each value goes over once.
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
    "filed_organisation_id": "organisation",
    "fact_organisation_id": "organisation",
    "fact_created_at": "now",
    "fact_due_at": "now",
}


def _values(prefix: str, table: Table, names: Iterable[str], *, typed: bool) -> str:
    """Each column's value by its name; PostgreSQL must be told the types of what stands in a SELECT."""
    words = (f":{_SAME.get(f'{prefix}_{name}', f'{prefix}_{name}')}" for name in names)
    if not typed:
        return ", ".join(words)
    kinds = (table.c[name].type.compile(_DIALECT) for name in names)
    return ", ".join(f"CAST({word} AS {kind})" for word, kind in zip(words, kinds, strict=True))


def _insert(table: Table, prefix: str, names: list[str], *, source: str = "") -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    values = _values(prefix, table, names, typed=bool(source))
    known = f" WHERE {_values(prefix, table, names[:1], typed=True)} IS NOT NULL"
    what = f"SELECT {values} FROM {source}{known}" if source else f"VALUES ({values})"
    return f"INSERT INTO {table.name} ({listed}) {what}"


_SEATS, _HOLDS = cast(Table, SeatOfEventRow.__table__), cast(Table, HoldRow.__table__)
HOLD_COLUMNS: Final = _columns(_HOLDS)
LINE_COLUMNS: Final = _columns(LINES, ("seq", "seal"))
FILED_COLUMNS: Final = _columns(FILED, ("erased_at",))
FACT_COLUMNS: Final = ["message_id", "name", "organisation_id", "stream", "subjects", "payload", "created_at", "due_at"]

_TAKE: Final = """
  INSERT INTO event_seats (event_id, seat, organisation_id, state, hold_id, held_until, ticket_id, version, locked_at)
  {new}
  ON CONFLICT (event_id, seat) DO UPDATE
  SET state = 1, hold_id = excluded.hold_id, held_until = excluded.held_until, ticket_id = NULL,
      version = event_seats.version + 1, locked_at = excluded.locked_at
  WHERE event_seats.state = 0 AND event_seats.version = {version}
  RETURNING seat"""
_NEW_SEAT: Final = (
    "CAST(:event AS VARCHAR), CAST(:seat AS INTEGER), CAST(:organisation AS VARCHAR), 1, CAST(:hold_id AS VARCHAR), "
    "CAST(:until AS BIGINT), CAST(NULL AS BIGINT), 1, CAST(:now AS BIGINT)"
)
_COUNT: Final = "UPDATE hold_tallies SET turn = turn + 1, updated_at = :now WHERE bearer_id = :bearer"


def _in_one() -> str:
    """Everything at once, for PostgreSQL: what is not written because the seat was lost is not written at all."""
    new = f"SELECT {_NEW_SEAT} FROM going WHERE version >= 0"
    parts = [
        _LOOKED_AT.format(share="FOR SHARE", lock="FOR UPDATE", by="", beside=_BESIDE),
        f"taken AS ({_TAKE.format(new=new, version='(SELECT version FROM going)')})",
        f"held AS ({_insert(_HOLDS, 'hold', HOLD_COLUMNS, source='taken')} RETURNING 1)",
        f"counted AS ({_COUNT} AND EXISTS (SELECT 1 FROM held))",
        f"told AS ({_insert(LINES, 'line', LINE_COLUMNS, source='held')})",
        f"filed AS ({_insert(FILED, 'filed', FILED_COLUMNS, source='held')})",
        f"fact AS ({_insert(FACTS, 'fact', FACT_COLUMNS, source='held')})",
    ]
    return f"WITH {', '.join(parts)} SELECT {_SEEN}, EXISTS (SELECT 1 FROM held) FROM seen"


IN_ONE: Final = numbered(_in_one())
HELD_BY: Final = numbered(
    "SELECT h.bearer_id, s.held_until FROM event_seats s JOIN holds h ON h.id = s.hold_id "
    "WHERE s.event_id = :event AND s.seat = :seat AND s.state = 1 AND s.held_until > :now"
)
"""Who has a seat at this moment: all that most need to be told who come too late."""

# Statistics of an event's first minutes let SQLite read every seat of it, and go on doing so for the whole rush.
_BY_KEY: Final = "INDEXED BY sqlite_autoindex_event_seats_1"
_ASKED: Final = _LOOKED_AT.format(share="", lock="", by=_BY_KEY, beside=_BESIDE)
LOOK: Final = f"WITH {_ASKED} SELECT {_SEEN}, EXISTS (SELECT 1 FROM going) FROM seen"
"""For SQLite: what there is to see, and whether to go on."""

FILE: Final = _insert(FILED, "filed", FILED_COLUMNS)
"""What is personal of the line; only where anything is."""
WRITE: Final = (
    _TAKE.format(new=f"SELECT {_NEW_SEAT} WHERE true", version="event_seats.version"),
    _insert(_HOLDS, "hold", HOLD_COLUMNS),
    _COUNT,
    _insert(LINES, "line", LINE_COLUMNS),
    FILE,
    _insert(FACTS, "fact", FACT_COLUMNS),
)
"""And what to write then, all in the same transaction."""


_PARTS: Final = {
    prefix: tuple((f"{prefix}_{name}", name) for name in columns if f"{prefix}_{name}" not in _SAME)
    for prefix, columns in (
        ("hold", HOLD_COLUMNS),
        ("line", LINE_COLUMNS),
        ("filed", FILED_COLUMNS),
        ("fact", FACT_COLUMNS),
    )
}


def named(prefix: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's values, by the names they have in the statement; what the question says of it already is left out."""
    return {name: row.get(column) for name, column in _PARTS[prefix]}
