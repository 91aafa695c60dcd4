"""Finds ids of another organisation's rows inside JSON, and in columns with kind and id: a batch of rows at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, MetaData, Row, Table, select, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import is_uuid, uuid7
from shared.words.numerals import whole
from sync_server.audit.rules import INSTALLATION
from sync_server.monitoring.references import (
    APPEND_ONLY_TABLES,
    FREE_FORM_KEYS,
    JSON_REFERENCE_COLUMNS,
    TENANT_COLUMN,
    is_integer,
    key_column,
    table_of,
    tenant_column,
)
from sync_server.monitoring.tenant_checks import Finding
from sync_server.plumbing.sql.tables import UUID_TYPE

BATCH_ROWS: Final = 500
RECENT_MS: Final[Millis] = 7 * 24 * 3_600_000
_HEX: Final = frozenset("0123456789abcdef")
_OF_NOBODY: Final = frozenset({None, INSTALLATION})

RowReference = tuple[Column[Any], Any]
"""The column by which a row is referenced, and its value."""
PrimaryKey = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """The findings in some rows, and the key of the last one; None after the last row of the table."""

    findings: Sequence[Finding]
    last: PrimaryKey | None


@dataclass(frozen=True, slots=True)
class TableScan:
    """All columns of a table that have ids inside: scanned together, from the first row to the last."""

    table: Table
    columns: Mapping[str, str]  # each with the column that has its kind, if there is one
    metadata: MetaData

    @property
    def places(self) -> Sequence[str]:
        """The columns, as table.column."""
        return [f"{self.table.name}.{column}" for column in self.columns]

    def batch(self, session: Session, after: PrimaryKey | None, now: Millis) -> Batch:
        """The findings in the first rows, or in those after a key."""
        key = list(self.table.primary_key.columns)
        kinds = [self.table.c[kind] for kind in self.columns.values() if kind]
        wanted = select(self.table.c[TENANT_COLUMN], *key, *(self.table.c[name] for name in self.columns), *kinds)
        if after is not None:
            wanted = wanted.where(tuple_(*key) > tuple_(*after))
        if self.table.name in APPEND_ONLY_TABLES:
            wanted = wanted.where(self.table.c.id > uuid7(now - RECENT_MS, bytes))
        rows = session.execute(wanted.order_by(*key).limit(BATCH_ROWS)).all()
        last = tuple(getattr(rows[-1], column.name) for column in key) if len(rows) == BATCH_ROWS else None
        return Batch(list(self._findings(session, rows, [column.name for column in key])), last)

    def _findings(self, session: Session, rows: Sequence[Row[Any]], key: Sequence[str]) -> Iterator[Finding]:
        owned = [row for row in rows if row[0] not in _OF_NOBODY]
        found = [(row, column, set(self._references(row, column))) for row in owned for column in self.columns]
        wanted: dict[str, set[RowReference]] = defaultdict(set)
        for row, _, references in found:
            wanted[row[0]] |= references
        # By the key first: what an organisation has itself, nearly all, is not looked for in the whole table.
        owners = _owners(
            session, {one for owner in wanted for one in wanted[owner] - _own(session, owner, wanted[owner])}
        )
        for row, column, references in found:
            others = sorted({owners[reference] for reference in references if reference in owners} - {row[0]})
            if others:
                row_key = ",".join(str(getattr(row, part)) for part in key)[:200]
                yield Finding(f"{self.table.name}.{column}", row_key, row[0], others[0])

    def _references(self, row: Row[Any], column: str) -> Iterator[RowReference]:
        kind = self.columns[column]
        yield from references_in(getattr(row, column), getattr(row, kind) if kind else column, self.metadata)


def table_scans(metadata: MetaData) -> Iterator[TableScan]:
    """One for each table that has ids inside its columns."""
    for table in metadata.sorted_tables:
        columns = {
            column.name: JSON_REFERENCE_COLUMNS[place]
            for column in table.c
            if (place := f"{table.name}.{column.name}") in JSON_REFERENCE_COLUMNS
        }
        if columns:
            yield TableScan(table, columns, metadata)


def references_in(value: Any, name: str, metadata: MetaData) -> Iterator[RowReference]:
    """Every row that a value under this name references, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _reference(key, name, metadata)
            if key not in FREE_FORM_KEYS:
                yield from references_in(inner, name if key == "id" else key, metadata)
    elif isinstance(value, list):
        for inner in value:
            yield from references_in(inner, name, metadata)
    else:
        yield from _reference(value, name, metadata)


def _reference(value: Any, name: str, metadata: MetaData) -> Iterator[RowReference]:
    if isinstance(value, str) and ":" in value:  # guest:…, event:…
        name, _, value = value.partition(":")
    table = table_of(name, metadata) if isinstance(value, (str, int)) and not isinstance(value, bool) else None
    if table is None:
        return
    column = key_column(table, numbers=isinstance(value, int) or str(value).isdecimal())
    if is_integer(column.type):
        number = _number(value)
        if number is not None:
            yield column, number
    elif isinstance(value, str) and (is_uuid(value) if column.type is UUID_TYPE else value):
        yield column, value


def _number(value: str | int) -> int | None:
    """A number as an integer, in digits, or as a ticket id: sixteen hexadecimal digits."""
    if isinstance(value, int):
        return value
    if len(value) == 16 and set(value) <= _HEX:
        return int(value, 16)
    return whole(value, 10**18)


def _own(session: Session, organisation_id: str, references: set[RowReference]) -> set[RowReference]:
    """Those of the referenced rows that belong to this organisation."""
    return {
        (column, value)
        for column, some in _by_column(references)
        for value in session.scalars(select(column).where(tenant_column(column.table) == organisation_id, some))
    }


def _owners(session: Session, references: set[RowReference]) -> Mapping[RowReference, str]:
    """The organisation of each referenced row that exists."""
    return {
        (column, row[0]): row[1]
        for column, some in _by_column(references)
        for row in session.execute(select(column, tenant_column(column.table)).where(some))
    }


def _by_column(references: set[RowReference]) -> Iterator[tuple[Column[Any], ColumnElement[bool]]]:
    """For each column that references use, conditions for some hundred values each."""
    by_column = defaultdict(list)
    for column, value in references:
        by_column[column].append(value)
    for column, values in by_column.items():
        for start in range(0, len(values), BATCH_ROWS):
            yield column, column.in_(values[start : start + BATCH_ROWS])
