"""Finds ids of another organisation's rows inside JSON, and in columns that hold kind and id: some rows at a turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, MetaData, Row, Table, select, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.watch.crossings import Finding
from sync_server.watch.meanings import FREE_WORDS, OF_LATE, SAID, WHOSE, field_of, table_of, whole, whose

AT_ONCE: Final = 500
LATE_MS: Final[Millis] = 7 * 24 * 3_600_000
_HEX: Final = frozenset("0123456789abcdef")

Name = tuple[Column[Any], Any]
"""The column under which a row is named, and the name."""
Place = tuple[Any, ...]
"""A primary key."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What some rows say of others abroad, and where the next turn begins; None: these were the last."""

    abroad: Sequence[Finding]
    last: Place | None


@dataclass(frozen=True, slots=True)
class Walk:
    """All columns of a table that say ids: gone through together, from the first row to the last."""

    table: Table
    said: Mapping[str, str]  # by column, the one that says of what kind
    metadata: MetaData

    @property
    def places(self) -> Sequence[str]:
        """What is looked at."""
        return [f"{self.table.name}.{column}" for column in self.said]

    def turn(self, session: Session, after: Place | None, now: Millis) -> Turn:
        """What some rows say, from the first or after a place."""
        key = list(self.table.primary_key.columns)
        beside = [self.table.c[kind] for kind in self.said.values() if kind]
        wanted = select(self.table.c[WHOSE], *key, *(self.table.c[name] for name in self.said), *beside)
        if after is not None:
            wanted = wanted.where(tuple_(*key) > tuple_(*after))
        elif self.table.name in OF_LATE:
            wanted = wanted.where(key[0] > uuid7(now - LATE_MS, bytes))
        rows = session.execute(wanted.order_by(*key).limit(AT_ONCE)).all()
        last = tuple(getattr(rows[-1], column.name) for column in key) if len(rows) == AT_ONCE else None
        return Turn(list(self._abroad(session, rows, [column.name for column in key])), last)

    def _abroad(self, session: Session, rows: Sequence[Row[Any]], key: Sequence[str]) -> Iterator[Finding]:
        said = [(row, column, set(self._names(row, column))) for row in rows if row[0] for column in self.said]
        owners = _owners(session, {name for _, _, names in said for name in names})
        for row, column, names in said:
            abroad = sorted({owners[name] for name in names if name in owners} - {row[0]})
            if abroad:
                words = ",".join(str(getattr(row, part)) for part in key)[:200]
                yield Finding(f"{self.table.name}.{column}", words, row[0], abroad[0])

    def _names(self, row: Row[Any], column: str) -> Iterator[Name]:
        beside = self.said[column]
        yield from names_in(getattr(row, column), getattr(row, beside) if beside else column, self.metadata)


def walks(metadata: MetaData) -> Iterator[Walk]:
    """One for each table that says ids."""
    for table in metadata.sorted_tables:
        said = {column.name: SAID[place] for column in table.c if (place := f"{table.name}.{column.name}") in SAID}
        if said:
            yield Walk(table, said, metadata)


def names_in(value: Any, word: str, metadata: MetaData) -> Iterator[Name]:
    """Every row that is named in what stands under a word."""
    if isinstance(value, dict):
        for inner, each in value.items():
            yield from _name(inner, word, metadata)
            if inner not in FREE_WORDS:
                yield from names_in(each, word if inner == "id" else inner, metadata)
    elif isinstance(value, list):
        for each in value:
            yield from names_in(each, word, metadata)
    else:
        yield from _name(value, word, metadata)


def _name(value: Any, word: str, metadata: MetaData) -> Iterator[Name]:
    if isinstance(value, str) and ":" in value:  # guest:…, event:…
        word, _, value = value.partition(":")
    table = table_of(word, metadata) if isinstance(value, (str, int)) and not isinstance(value, bool) else None
    if table is None:
        return
    column = field_of(table, numbers=isinstance(value, int) or str(value).isdecimal())
    if whole(column.type):
        number = _number(value)
        if number is not None:
            yield column, number
    elif isinstance(value, str) and value:
        yield column, value


def _number(value: str | int) -> int | None:
    """A number as it is, in figures, or as a ticket's is written: sixteen hexadecimal digits."""
    if isinstance(value, int):
        return value
    if len(value) == 16 and set(value) <= _HEX:
        return int(value, 16)
    return int(value) if value.isdecimal() and len(value) < 19 else None


def _owners(session: Session, names: set[Name]) -> Mapping[Name, str]:
    """Whose the named rows are; those that are not there are left out."""
    wanted = defaultdict(list)
    for column, value in names:
        wanted[column].append(value)
    found: dict[Name, str] = {}
    for column, values in wanted.items():
        table = column.table
        for start in range(0, len(values), AT_ONCE):
            here = column.in_(values[start : start + AT_ONCE])
            found |= {(column, row[0]): row[1] for row in session.execute(select(column, whose(table)).where(here))}
    return found
