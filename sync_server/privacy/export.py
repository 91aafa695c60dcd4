"""Exports everything that is stored about a person as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, Table, or_, select
from sqlalchemy.orm import Session

from shared.wire.snapshot import RowKind
from sync_server.audit import service as audit
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.tables import Base, Unsigned64
from sync_server.privacy import people
from sync_server.privacy.people import Person, Wanted
from sync_server.privacy.registry import FOUND_BY, PERSONAL

_OF_TICKETS = frozenset({"snapshot_rows", "snapshot_history"})


def export(
    session: Session, organisation_id: str, wanted: Wanted, sealer: Sealer, context: ActionContext
) -> dict[str, Any]:
    """Everything in the tables about this person, by table; that it was asked for is recorded, but not about whom."""
    person = people.find(session, organisation_id, wanted, sealer)
    records = records_of(session, person)
    after = {name: len(rows) for name, rows in records.items()}
    line = audit.AuditLine(context, "person.exported", "person", wanted.kind, organisation_id, after=after)
    audit.record(session, line)
    return {"made_at": iso(context.now), "named_by": wanted.kind, "records": records}


def records_of(session: Session, person: Person) -> dict[str, list[dict[str, Any]]]:
    """Every row about a person, by table."""
    return {table.name: rows for table in _tables() if (rows := [*_rows(session, table, person)])}


def _tables() -> list[Table]:
    return [table for table in Base.metadata.sorted_tables if table.name in FOUND_BY]


def _rows(session: Session, table: Table, person: Person) -> Iterator[dict[str, Any]]:
    where = conditions(table, person)
    if where is None:
        return
    for row in session.execute(select(table).where(where).limit(100_000)).mappings():
        yield {name: _shown(table, name, value) for name, value in row.items() if _is_shown(table, name)}


def conditions(table: Table, person: Person) -> ColumnElement[bool] | None:
    """The condition for this person's rows of a table; None where nothing known leads to any."""
    known: Mapping[str, Sequence[object]] = person.known_by()
    named = [table.c[column].in_(known[kind]) for kind, column in FOUND_BY[table.name].items() if kind in known]
    if not named:
        return None
    found: ColumnElement[bool] = or_(*named)
    if "organisation_id" in table.c and table.name != "sessions":
        found = found & (table.c.organisation_id == person.organisation_id)
    return found & (table.c.kind == int(RowKind.TICKET)) if table.name in _OF_TICKETS else found


def _is_shown(table: Table, name: str) -> bool:
    personal = PERSONAL.get(f"{table.name}.{name}")
    if personal is not None:
        return personal.shown
    return not isinstance(table.c[name].type, LargeBinary)


def _shown(table: Table, name: str, value: Any) -> Any:
    if isinstance(table.c[name].type, Unsigned64) and value is not None:
        return f"{value:016x}"
    return value
