"""Finds rows that point into another organisation, in every table there is, from the declared schema alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, MetaData, Table, and_, select
from sqlalchemy.orm import Session

from sync_server.watch.meanings import BY_KIND, OF_NOBODY, WHOSE, named

MOST: Final = 100
"""Findings of one kind that are listed: whoever has so many needs no longer list."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A way from rows of a table to rows of another, and the two columns that say whose each row is."""

    place: str
    source: Table
    rows: FromClause  # joined from the row itself to what says whose both are
    ours: ColumnElement[Any]
    theirs: ColumnElement[Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One row that points into another organisation."""

    place: str
    row: str
    organisation_id: str
    points_to: str


@dataclass(frozen=True, slots=True)
class _Way:
    """From a table to another one: by which columns, and how the two are joined."""

    place: str
    target: FromClause
    joined: ColumnElement[bool]

    @property
    def theirs(self) -> ColumnElement[Any]:
        """Whose the other row is."""
        return self.target.c[WHOSE]


def pointers(metadata: MetaData) -> Iterator[Pointer]:
    """Every way from a row of one organisation to a row of some organisation."""
    for table in metadata.sorted_tables:
        if table.name not in OF_NOBODY:
            yield from _from(table, metadata)


def _from(table: Table, metadata: MetaData) -> Iterator[Pointer]:
    ways = list(_ways(table, metadata))
    rows: FromClause = table
    if WHOSE in table.c:
        ours: ColumnElement[Any] = table.c[WHOSE]
    elif not ways:
        return
    else:  # it belongs to whom the first of its pointers belongs; the others must agree
        owner = ways.pop(0)
        rows, ours = table.join(owner.target, owner.joined), owner.theirs
    for way in ways:
        yield Pointer(way.place, table, rows.join(way.target, way.joined), ours, way.theirs)


def _ways(table: Table, metadata: MetaData) -> Iterator[_Way]:
    for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name)):
        if WHOSE in key.referred_table.c:
            there = key.referred_table.alias()
            names = ",".join(column.name for column in key.columns)
            joined = and_(*(pair.parent == there.c[pair.column.name] for pair in key.elements))
            yield _Way(f"{table.name}.{names}", there, joined)
    for column in table.c:
        place = f"{table.name}.{column.name}"
        for target in () if column.foreign_keys else named(table, column, metadata):
            there = target.table.alias()
            yield _Way(place, there, column == there.c[target.name])
        beside, kinds = BY_KIND.get(place, ("", {}))
        for kind, name in kinds.items():
            there = metadata.tables[name].alias()
            yield _Way(place, there, and_(table.c[beside] == int(kind), column == there.c.id))


def found(session: Session, pointer: Pointer) -> Sequence[Finding]:
    """The rows that point abroad this way, a hundred of them at most."""
    key = list(pointer.source.primary_key.columns)
    wanted = select(pointer.ours, pointer.theirs, *key).select_from(pointer.rows)
    rows = session.execute(wanted.where(pointer.ours != pointer.theirs).limit(MOST)).all()
    return [Finding(pointer.place, ",".join(map(str, row[2:]))[:200], row[0], row[1]) for row in rows]
