"""Takes any number of seats on any days in one statement; only rows of `event_seats` that may be taken change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

import orjson
from sqlalchemy import Table, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import Session

from sync_server.holds.models import EventSeatRow
from sync_server.plumbing.database import database_of
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared_changes import PreparedChange

_TABLE: Final = cast(Table, EventSeatRow.__table__)
_SQLITE: Final = sqlite.dialect()
_STATEMENT: Final = """
INSERT INTO event_seats
  (organisation_id, event_id, seat, day, state, hold_id, held_until, ticket_id, version, locked_at)
SELECT CAST(:organisation_id AS {id}), CAST(:event_id AS {id}), new.seat, new.day,
  CAST(:state AS smallint), new.hold_id,
  CAST(:held_until AS bigint), new.ticket_id, 1, CAST(:now AS bigint)
FROM {rows}
WHERE true
ON CONFLICT (organisation_id, event_id, seat, day) DO UPDATE SET
  state = excluded.state, hold_id = excluded.hold_id, held_until = excluded.held_until,
  ticket_id = excluded.ticket_id, locked_at = excluded.locked_at, version = event_seats.version + 1
WHERE event_seats.state = 0
  OR (event_seats.state = 1 AND (event_seats.held_until <= CAST(:now AS bigint) OR event_seats.hold_id {mine}))
RETURNING seat, day
"""
# Arrays and JSON, because a statement with one placeholder a value would be compiled again for each number of rows.
_POSTGRESQL_TEXT: Final = text(
    _STATEMENT.format(
        id="uuid",
        rows="unnest(CAST(:seats AS integer[]), CAST(:days AS smallint[]), CAST(:holds AS uuid[]),"
        " CAST(:tickets AS bigint[])) AS new (seat, day, hold_id, ticket_id)",
        mine="= ANY (CAST(:mine AS uuid[]))",
    )
)
_SQLITE_TEXT: Final = text(
    _STATEMENT.format(
        id="varchar",
        rows="(SELECT json_extract(value, '$[0]') AS seat, json_extract(value, '$[1]') AS day,"
        " json_extract(value, '$[2]') AS hold_id, json_extract(value, '$[3]') AS ticket_id"
        " FROM json_each(:rows)) AS new",
        mine="IN (SELECT value FROM json_each(:mine))",
    )
)


_CLAIM: Final = PreparedChange(lambda embedded: _SQLITE_TEXT if embedded else _POSTGRESQL_TEXT)

SeatDay = tuple[int, int]
"""A seat on one day, by their numbers."""


def claim(
    session: Session,
    shared: Mapping[str, Any],
    rows: Sequence[tuple[SeatDay, str | None, int | None]],
    mine: Collection[str],
) -> set[SeatDay]:
    """Take these seats, given as (seat and day, hold, ticket) in ascending order; returns those that could be taken.

    `shared` is the same for all rows: organisation_id, event_id, state, held_until and now.
    """
    if not rows:
        return set()
    statement, values = asks(session, shared, rows, mine)
    return {(row.seat, row.day) for row in statement.rows(session, **values)}


def asks(
    session: Session,
    shared: Mapping[str, Any],
    rows: Sequence[tuple[SeatDay, str | None, int | None]],
    mine: Collection[str],
) -> Question:
    """What `claim` asks."""
    bound = [(*seat_day, hold, _bound(ticket)) for seat_day, hold, ticket in rows]
    if database_of(session).embedded:
        return _CLAIM, {**shared, "rows": orjson.dumps(bound).decode(), "mine": orjson.dumps(list(mine)).decode()}
    seats, days, holds, tickets = ([row[at] for row in bound] for at in range(4))
    return _CLAIM, {**shared, "seats": seats, "days": days, "holds": holds, "tickets": tickets, "mine": list(mine)}


def _bound(ticket: int | None) -> int | None:
    """As the column stores it: an unsigned number in a signed column."""
    kind: Any = _TABLE.c.ticket_id.type
    return cast("int | None", kind.process_bind_param(ticket, _SQLITE))
