"""The declarative base of all tables, with names for every constraint, and the column types both databases agree on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from sqlalchemy import DDL, JSON, UUID, BigInteger, ForeignKeyConstraint, MetaData, String, Table, event
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

Millis = BigInteger
"""Column of whole UTC milliseconds."""

Uuid = Annotated[str, "uuid"]
"""Annotation of every column with a UUID, which the program handles as text of 36 characters.

PostgreSQL has a type for it that takes less than half; `autocommit` makes its driver return text.
"""
UUID_TYPE: Final = String(36).with_variant(UUID(as_uuid=False), "postgresql")

_SIGN = 1 << 63
_SPAN = 1 << 64


class Unsigned64(TypeDecorator[int]):
    """A number of 0 to 2**64-1 in a signed column: two's complement, so that equal stays equal."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, _dialect: Dialect) -> int | None:
        """The signed number that the column stores."""
        return value - _SPAN if value is not None and value >= _SIGN else value

    def process_result_value(self, value: int | None, _dialect: Dialect) -> int | None:
        """The unsigned number."""
        return value + _SPAN if value is not None and value < 0 else value


def bits_text(bits: int) -> str:
    """A bitmap as its column stores it."""
    return f"{bits:x}"


class DayBits(TypeDecorator[int]):
    """A bitmap of event days of any length, stored as hexadecimal text."""

    impl = String(128)
    cache_ok = True

    def process_bind_param(self, value: int | None, _dialect: Dialect) -> str | None:
        """As text."""
        return None if value is None else bits_text(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> int | None:
        """As a number."""
        return None if value is None else int(value, 16)


def references(table: str, column: str, *, to: str = "id", ondelete: str | None = None) -> ForeignKeyConstraint:
    """A foreign key to a table's row. It carries the organisation, so a row of another organisation cannot be named."""
    return ForeignKeyConstraint(
        ["organisation_id", column], [f"{table}.organisation_id", f"{table}.{to}"], ondelete=ondelete
    )


class Base(DeclarativeBase):
    """All tables of the server."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {Uuid: UUID_TYPE, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012 - SQLAlchemy's own declaration form


def after_create(table: Table, **statements: Sequence[str]) -> None:
    """Run statements together with the creation of a table, by the name of the dialect."""
    for dialect, listed in statements.items():
        for statement in listed:
            ddl: DDL = DDL(statement)  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it untyped
            event.listen(table, "after_create", ddl.execute_if(dialect=dialect))
