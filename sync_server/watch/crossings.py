"""Finds rows that point into another organisation, in every table there is, from the declared schema alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, MetaData, Table, and_, select
from sqlalchemy.orm import Session

WHOSE: Final = "organisation_id"
MOST: Final = 100
"""Findings of one kind that are listed: whoever has so many needs no longer list."""

NUMBERS: Final = {"event": "events", "event_number": "events", "device": "devices", "device_number": "devices"}
"""Columns that name another table's `number` without a foreign key."""
IDS: Final = {"line_id": "audit_lines", "key_id": "ticket_keys"}
"""Columns that name another table's `id`, where their name alone does not say which."""
NAMES_NOTHING: Final = frozenset(
    {
        "actor_id", "bearer_id", "code_id", "companion_seat_id", "family_id", "membership_id", "message_id",
        "owner_id", "party_id", "person_id", "recurrence_group_id", "request_id", "seat_id", "subject_id", "zone_id",
    }
)  # fmt: skip
"""Columns that name people, things within the same parent, or nothing of ours."""
PRESENTED: Final = frozenset({"scan_entries", "scan_conflicts"})
"""Guests hold tickets of other organisations before gates, and are refused: no mistake of ours."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """From a table to another, and the two columns that say whose each row is."""

    place: str
    source: Table
    joined: ColumnElement[bool]
    whose: Column[Any]
    target: Table
    theirs: Column[Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One row that points into another organisation."""

    place: str
    row: str
    organisation_id: str
    points_to: str


def pointers(metadata: MetaData) -> Iterator[Pointer]:
    """Every way from a row of one organisation to a row of some organisation."""
    for table in metadata.sorted_tables:
        if WHOSE in table.c:
            yield from _from_owned(table, metadata)


def _from_owned(table: Table, metadata: MetaData) -> Iterator[Pointer]:
    for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name)):
        there = key.referred_table.alias()
        if WHOSE in there.c:
            joined = and_(*(pair.parent == there.c[pair.column.name] for pair in key.elements))
            names = ",".join(column.name for column in key.columns)
            yield Pointer(f"{table.name}.{names}", table, joined, table.c[WHOSE], there, there.c[WHOSE])  # type: ignore[arg-type]  # an alias is used like a table
    for column in table.c:
        target = None if column.foreign_keys else named(table, column, metadata)
        if target is not None:
            there = target.table.alias()
            joined = column == there.c[target.name]
            yield Pointer(f"{table.name}.{column.name}", table, joined, table.c[WHOSE], there, there.c[WHOSE])  # type: ignore[arg-type]


def named(table: Table, column: Column[Any], metadata: MetaData) -> Column[Any] | None:
    """What a column without a foreign key points to by its name, if anything that belongs to an organisation."""
    if column.name == "ticket_id" and table.name in PRESENTED:
        return None
    other, field = _meant(column.name, metadata)
    target = metadata.tables.get(other)
    if target is None or target is table or WHOSE not in target.c or field not in target.c:
        return None
    return target.c[field]


def _meant(name: str, metadata: MetaData) -> tuple[str, str]:
    if name in NUMBERS:
        return NUMBERS[name], "number"
    return IDS.get(name) or _plural(name.removesuffix("_id"), metadata), "id" if name.endswith("_id") else ""


def _plural(word: str, metadata: MetaData) -> str:
    return next((known for known in (f"{word}s", f"seating_{word}s") if known in metadata.tables), "")


def unknown(metadata: MetaData) -> list[str]:
    """Columns that look like ids of something, and of which nobody has said what."""
    return [
        f"{table.name}.{column.name}"
        for table in metadata.sorted_tables
        if WHOSE in table.c
        for column in table.c
        if column.name.endswith("_id") and column.name not in NAMES_NOTHING | {WHOSE} and not column.foreign_keys
        if named(table, column, metadata) is None and not _is_own(table, column)
    ]


def _is_own(table: Table, column: Column[Any]) -> bool:
    return column.primary_key and len(table.primary_key.columns) == 1


def found(session: Session, pointer: Pointer) -> Sequence[Finding]:
    """The rows that point abroad this way, a hundred of them at most."""
    key = list(pointer.source.primary_key.columns)
    wanted = (
        select(pointer.whose, pointer.theirs, *key)
        .select_from(pointer.source.join(pointer.target, pointer.joined))
        .where(pointer.whose != pointer.theirs)
        .limit(MOST)
    )
    rows = session.execute(wanted).all()
    return [Finding(pointer.place, ",".join(map(str, row[2:]))[:200], row[0], row[1]) for row in rows]
