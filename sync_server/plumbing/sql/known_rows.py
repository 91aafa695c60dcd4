"""Rows that a session gets without asking for them: made from values that are known already."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import Table
from sqlalchemy.orm import Session, make_transient_to_detached

from sync_server.plumbing.sql.tables import Base

Model = TypeVar("Model", bound=Base)


def new_row(model: type[Model], values: Mapping[str, Any]) -> Model:
    """A row with these values that no session has: nothing is noted of each value, as the model's constructor does.

    That takes a fifth of the time. Whoever has set every column inserts it with `bulk.insert_rows`.
    """
    row: Model = model.__mapper__.class_manager.new_instance()
    vars(row).update(values)
    return row


def known_row(session: Session, model: type[Model], values: Mapping[str, Any]) -> Model:
    """The row with these values as the session would have read it; columns without a value are read when needed."""
    present: Model | None = session.identity_map.get(
        model.__mapper__.identity_key_from_primary_key(tuple(values[name] for name in primary_key(model)))
    )
    if present is not None:
        return present
    row = new_row(model, values)
    make_transient_to_detached(row)
    session.add(row)
    return row


@dataclass(frozen=True, slots=True)
class AsRead(Generic[Model]):
    """What a row said when a session read it, for other sessions."""

    model: type[Model]
    values: Mapping[str, Any]

    @classmethod
    def of(cls, row: Model, *, but: Collection[str] = ()) -> AsRead[Model]:
        """All columns of a row but these."""
        return cls(type(row), {name: getattr(row, name) for name in column_names(type(row)) if name not in but})

    def row(self, session: Session) -> Model:
        """The row, as if the session had read it."""
        return known_row(session, self.model, self.values)


@lru_cache
def column_names(model: type[Base]) -> tuple[str, ...]:
    """The columns of a table."""
    return tuple(column.key for column in cast(Table, model.__table__).columns)


@lru_cache
def primary_key(model: type[Base]) -> tuple[str, ...]:
    """The columns of its primary key."""
    return tuple(column.key for column in cast(Table, model.__table__).primary_key.columns)
