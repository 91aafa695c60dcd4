"""The SQL that holds a seat for each of several bearers, on PostgreSQL: each is read and judged alone.

What is read of a bearer is the text of `statement`, run for one row of `asked` after the other. Starting so large a
statement, its commit and its way to the database cost more than all that it reads: here they are paid once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import orjson
from sqlalchemy import Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import JSON

from sync_server.audit.service import LINES_TABLE, PERSONAL_TABLE
from sync_server.holds.attempts import statement
from sync_server.holds.attempts.evidence import StatementRow
from sync_server.holds.caches import sale_state
from sync_server.outbox.service import OUTBOX_TABLE
from sync_server.plumbing.sql.autocommit import NAMED, NumberedStatement, chosen, numbered

_BIGINTS: Final = ("since", "now", "until")
_INTEGERS: Final = ("seat", "walls", "lowest", "highest", "left_far", "left", "right", "right_far", "tidy")
_TEXTS: Final = ("kind", "origin", "card")
_OF_EACH: Final = {
    **dict.fromkeys(("bearer", "hold_id"), "uuid"),
    **dict.fromkeys(_BIGINTS, "bigint"),
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys(_TEXTS, "varchar"),
}
_TABLES: Final = (
    ("hold", statement.HOLDS),
    ("line", LINES_TABLE),
    ("personal", PERSONAL_TABLE),
    ("fact", OUTBOX_TABLE),
)
_DIALECT: Final = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves dialect classes untyped


def _written(prefix: str, table: Table) -> dict[str, str]:
    """What is written of each, by the names of their parameters, with their types."""
    names = [(name, column) for name, column in statement.named_columns(prefix) if name not in statement.OF_ONE_SEAT]
    return {name: table.c[column].type.compile(_DIALECT) for name, column in names}


ASKED: Final = {**_OF_EACH, **{name: kind for each in _TABLES for name, kind in _written(*each).items()}}
"""What differs between requests, with its type; everything else is the same for all that share a statement."""
_asked_of: Final = chosen(tuple(ASKED))
_JSON: Final = frozenset(
    name
    for prefix, table in _TABLES
    for name, column in statement.named_columns(prefix)
    if isinstance(table.c[column].type, JSON) and name in ASKED
)


def _of_each(sql: str) -> str:
    """The text with the values of one row of `asked` in place of parameters."""
    return NAMED.sub(lambda found: f'asked."{found[1]}"' if found[1] in ASKED else found[0], sql)


def _read_and_write(*, per_address: bool, per_card: bool) -> str:
    columns = ", ".join(f'"{name}" {kind}' for name, kind in ASKED.items())
    # Whoever locks more than one counter takes them in one order: that of `asked`.
    found = statement.of_a_bearer("FOR UPDATE", per_address=per_address, per_card=per_card)
    passed = statement.PASSED.replace(":now", "now")
    taking = _of_each(statement.NEW_SEAT.format(id="UUID")).replace("asked.", "going.")
    new = f"SELECT {taking} FROM going WHERE version >= 0 ORDER BY seat"
    version = "(SELECT version FROM going WHERE going.seat = excluded.seat)"
    held = statement.insert_rows(statement.HOLDS, "hold", statement.HOLD_COLUMNS, source="asked")
    parts = [
        sale_state.CURRENT.format(share="FOR SHARE"),
        f"every AS MATERIALIZED (SELECT * FROM json_to_recordset(CAST(:asked AS json)) AS asked ({columns}))",
        "seen AS MATERIALIZED (SELECT asked.hold_id, asked.seat, asked.until, asked.now, one.* "
        f"FROM every AS asked, LATERAL (WITH {_of_each(found)} SELECT * FROM seen) AS one)",
        f"going AS MATERIALIZED (SELECT * FROM seen WHERE {passed})",
        f"taken AS ({statement.TAKE.format(new=new, version=version)})",
        "mine AS MATERIALIZED (SELECT every.* FROM every JOIN taken USING (seat))",
        f"held AS ({_of_each(held).replace('FROM asked', 'FROM mine AS asked')})",
        f"counted AS ({_counted()})",
        *(_of_each(each) for each in statement.history("mine AS asked")),
    ]
    fields = f"{statement.EVIDENCE}, EXISTS (SELECT 1 FROM taken WHERE taken.seat = seen.seat)"
    return f"WITH {', '.join(parts)} SELECT hold_id, {fields} FROM seen"


def _counted() -> str:
    raised = statement.COUNT.replace("bearer_id = :bearer", "bearer_id = ANY (ARRAY(SELECT bearer FROM mine))")
    return raised.replace(":now", "(SELECT max(now) FROM mine)")


READ_AND_WRITE: Final[Mapping[tuple[bool, bool], NumberedStatement]] = {
    limited: numbered(statement.hurried(_read_and_write(per_address=limited[0], per_card=limited[1])))
    for limited in statement.LIMITED
}
SHARED: Final = tuple(name for name in READ_AND_WRITE[True, True].names if name != "asked")
"""The parameters that are the same for all that share a statement."""


def parameters(requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters for these requests, which differ in bearer and seat."""
    ordered = sorted(requests, key=itemgetter("bearer"))
    asked = orjson.dumps([_row(each) for each in ordered], default=_as_bytea)
    return {**ordered[0], "asked": asked.decode()}


def _row(values: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(zip(ASKED, _asked_of(values), strict=True))
    for name in _JSON:
        if row[name] is not None:
            row[name] = orjson.Fragment(row[name])
    return row


def _as_bytea(value: bytes) -> str:
    return f"\\x{value.hex()}"


def by_hold(rows: Sequence[Sequence[Any]]) -> dict[str, StatementRow]:
    """What was read for each, by the id of the hold that it would get."""
    return {row[0]: StatementRow(*row[1:]) for row in rows}
