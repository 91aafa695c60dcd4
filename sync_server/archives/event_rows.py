"""The rows of one event in every table: which they are, and each as a line of its file and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import Column, ColumnElement, LargeBinary, MetaData, Table, select
from sqlalchemy.orm import Session

from shared.wire.snapshot import Row, RowKind
from sync_server.archives.registry import EVENT_ROWS, LEFT_OUT, PACKED, EventRows
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.tables import Base, DayBits, Unsigned64
from sync_server.tickets import names

_PAGE: Final = 2_000


@dataclass(frozen=True)
class EventTable:
    """A table with rows of events."""

    table: Table
    rule: EventRows
    parent: Table | None = None

    @property
    def name(self) -> str:
        """Its name, which is also that of the part."""
        return str(self.table.name)

    @cached_property
    def columns(self) -> list[str]:
        """Its columns, in the order in which they stand in a line."""
        return [str(column.name) for column in self.table.c]

    def of(self, event: EventKey) -> tuple[ColumnElement[bool], ...]:
        """The condition for the rows of this event."""
        mine, named = self.table.c.organisation_id == event.organisation_id, self.table.c[self.rule.by]
        if self.parent is None:
            return mine, named == event.event_id
        theirs = self.parent.c.organisation_id == event.organisation_id, self.parent.c.event_id == event.event_id
        return mine, named.in_(select(self.parent.c.id).where(*theirs))

    def lines(self, session: Session, event: EventKey) -> Iterator[bytes]:
        """Every row of this event, by primary key, without personal values."""
        wanted = select(self.table).where(*self.of(event)).order_by(*self.table.primary_key.columns)
        for row in session.execute(wanted, execution_options={"yield_per": _PAGE}):
            yield self.line(self.shown(row))

    def shown(self, values: Sequence[Any]) -> Sequence[Any]:
        """A row as its file has it: without personal values."""
        empty = [self._emptied(at, values) for at in self._personal]
        if all(values[at] == value for at, value in zip(self._personal, empty, strict=True)):
            return values
        shown = list(values)
        for at, value in zip(self._personal, empty, strict=True):
            shown[at] = value
        return shown

    def personal(self, values: Sequence[Any]) -> dict[str, Any]:
        """What a row says of a person and its file does not, by column, as a line would have it."""
        shown, encoders = self.shown(values), self._encoders
        return {
            self.columns[at]: values[at] if encoders[at] is None else encoders[at](values[at])  # type: ignore[misc]
            for at in self._personal
            if values[at] != shown[at]
        }

    @cached_property
    def _personal(self) -> list[int]:
        named = LEFT_OUT.get(self.name, frozenset()) | {PACKED.get(self.name, "")}
        return [at for at, name in enumerate(self.columns) if name in named]

    def _emptied(self, at: int, values: Sequence[Any]) -> Any:
        column, value = self.table.c[self.columns[at]], values[at]
        if self.name in PACKED:
            row = dict(zip(self.columns, values, strict=True))
            if value is None or row["kind"] != RowKind.TICKET:
                return value
            return names.nameless(Row(RowKind.TICKET, row["key"], bytes(value))).body
        return None if column.nullable or not self.rule.leaves else ""

    def line(self, values: Sequence[Any]) -> bytes:
        """A row, in the order of the columns, as a line."""
        encoded = [value if code is None or value is None else code(value) for code, value in self._encoded(values)]
        return orjson.dumps(encoded)

    def _encoded(self, values: Sequence[Any]) -> Iterator[tuple[Callable[[Any], Any] | None, Any]]:
        return zip(self._encoders, values, strict=True)

    @cached_property
    def _encoders(self) -> list[Callable[[Any], Any] | None]:
        return [_encoder(column) for column in self.table.c]

    def row(self, line: bytes, columns: Sequence[str], personal: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The row of a line that was written with these columns, with what the line does not say of a person.

        Columns that the table no longer has are left out.
        """
        values: Mapping[str, Any] = dict(zip(columns, orjson.loads(line), strict=True)) | dict(personal or {})
        return {
            name: value if value is None else _decoded(self.table.c[name], value)
            for name, value in values.items()
            if name in self.table.c
        }


def event_tables(metadata: MetaData = Base.metadata) -> tuple[EventTable, ...]:
    """Every table with rows of events, those that others refer to first."""
    return _event_tables(metadata)


@lru_cache
def _event_tables(metadata: MetaData) -> tuple[EventTable, ...]:
    tables = [table for table in metadata.sorted_tables if table.name in EVENT_ROWS]
    return tuple(
        EventTable(table, rule, metadata.tables[rule.parent] if rule.parent else None)
        for table in tables
        for rule in (EVENT_ROWS[table.name],)
    )


def leaving() -> tuple[EventTable, ...]:
    """The tables that the rows of an event leave, in the order in which they do."""
    there = [each for each in reversed(event_tables()) if each.rule.leaves]
    return tuple(sorted(there, key=lambda each: not each.rule.first))


def _encoder(column: Column[Any]) -> Callable[[Any], Any] | None:
    kind = column.type
    if isinstance(kind, LargeBinary):
        return lambda value: bytes(value).hex()
    if isinstance(kind, Unsigned64):
        return lambda value: f"{value:016x}"  # as the API names tickets; other readers lose digits of such numbers
    return (lambda value: f"{value:x}") if isinstance(kind, DayBits) else None


def _decoded(column: Column[Any], value: Any) -> Any:
    if isinstance(column.type, LargeBinary):
        return bytes.fromhex(value)
    return int(value, 16) if isinstance(column.type, Unsigned64 | DayBits) else value
