"""Finds rows that name another organisation's rows where no foreign key forbids it, from the declared schema alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, MetaData, Table, and_, select
from sqlalchemy.orm import Session

from sync_server.monitoring.references import REFERENCES_BY_KIND, SHARED_TABLES, TENANT_COLUMN, referenced_columns

MAX_FINDINGS: Final = 100
"""Per reference: with this many, a longer list is no help."""


@dataclass(frozen=True, slots=True)
class TenantReference:
    """A reference from one table to another, and the columns with the organisation of each side."""

    place: str  # table.column
    source: Table
    rows: FromClause  # the source joined to what has both organisations
    owner: ColumnElement[Any]
    target_owner: ColumnElement[Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One row that references another organisation's row."""

    place: str
    row: str
    organisation_id: str
    points_to: str


@dataclass(frozen=True, slots=True)
class _Join:
    """How a table is joined to one that it references."""

    place: str
    target: FromClause
    condition: ColumnElement[bool]

    @property
    def target_owner(self) -> ColumnElement[Any]:
        """The organisation of the referenced row."""
        return self.target.c[TENANT_COLUMN]


def tenant_references(metadata: MetaData) -> Iterator[TenantReference]:
    """Every reference without a foreign key between tables whose rows belong to organisations."""
    for table in metadata.sorted_tables:
        if table.name not in SHARED_TABLES:
            yield from _references_of(table, metadata)


def _references_of(table: Table, metadata: MetaData) -> Iterator[TenantReference]:
    for join in _joins(table, metadata):
        rows = table.join(join.target, join.condition)
        yield TenantReference(join.place, table, rows, table.c[TENANT_COLUMN], join.target_owner)


def _joins(table: Table, metadata: MetaData) -> Iterator[_Join]:
    for column in table.c:
        place = f"{table.name}.{column.name}"
        for referenced in () if column.foreign_keys else referenced_columns(table, column, metadata):
            target = referenced.table.alias()
            yield _Join(place, target, column == target.c[referenced.name])
        kind_column, kinds = REFERENCES_BY_KIND.get(place, ("", {}))
        for kind, name in kinds.items():
            target = metadata.tables[name].alias()
            yield _Join(place, target, and_(table.c[kind_column] == int(kind), column == target.c.id))


def find(session: Session, reference: TenantReference) -> Sequence[Finding]:
    """The rows that cross into another organisation by this reference, a hundred at most."""
    key = list(reference.source.primary_key.columns)
    mismatched = (
        select(reference.owner, reference.target_owner, *key)
        .select_from(reference.rows)
        .where(reference.owner != reference.target_owner)
    )
    rows = session.execute(mismatched.limit(MAX_FINDINGS)).all()
    return [Finding(reference.place, ",".join(map(str, row[2:]))[:200], row[0], row[1]) for row in rows]
