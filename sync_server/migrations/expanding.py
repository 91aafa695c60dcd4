"""Whether a change of the schema only expands it, so that servers of the release before go on meanwhile.

They know neither the new tables nor the new columns: they never name them, and their rows get the defaults. Everything
that they do name must stay what it is; what they no longer need is removed one release later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    Connection,
    ForeignKeyConstraint,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

OF_COLUMNS: Final = (PrimaryKeyConstraint, UniqueConstraint, ForeignKeyConstraint)


def reflected(connection: Connection) -> MetaData:
    """The schema as it is in the database."""
    found = MetaData()
    found.reflect(connection)
    return found


def contractions(before: MetaData, after: MetaData) -> list[str]:
    """What a program that knows `before` would miss or be refused by in `after`, in words; empty: it may go on."""
    return [problem for table in before.sorted_tables for problem in _of_table(table, after.tables.get(table.name))]


def _of_table(before: Table, after: Table | None) -> Iterator[str]:
    if after is None:
        yield f"table {before.name} is gone"
        return
    for column in before.columns:
        yield from _of_column(column, after.columns.get(column.name))
    for column in after.columns:
        if column.name not in before.columns and not _fills_itself(column):
            yield f"column {column} must be given, and has no default"
    known = {column.name for column in before.columns}
    for rule in sorted(_rules(after, known) - _rules(before, known)):
        yield f"table {before.name} has a new rule: {rule}"


def _of_column(before: Column[object], after: Column[object] | None) -> Iterator[str]:
    if after is None:
        yield f"column {before} is gone"
    elif str(before.type) != str(after.type):
        yield f"column {before} was {before.type} and is {after.type}"
    elif before.nullable and not after.nullable:
        yield f"column {before} must no longer be null"
    elif before.server_default is not None and after.server_default is None:
        yield f"column {before} has lost its default"


def _fills_itself(column: Column[object]) -> bool:
    return column.nullable or column.server_default is not None or column.identity is not None


def _rules(table: Table, known: Set[str]) -> set[str]:
    """What can refuse a row of which only the known columns are given: keys, unique indexes and checks."""
    unique = {("unique index", _names(index.columns)) for index in table.indexes if index.unique}
    rules = {(type(rule).__name__, _names(rule.columns)) for rule in table.constraints if isinstance(rule, OF_COLUMNS)}
    checks = {f"{rule.name}" for rule in table.constraints if isinstance(rule, CheckConstraint)}
    return checks | {f"{kind} {', '.join(names)}" for kind, names in unique | rules if set(names) <= known}


def _names(columns: Iterable[Column[object]]) -> tuple[str, ...]:
    return tuple(sorted(column.name for column in columns))
