"""What a row says in few bytes: whoever has read it learns from them whether it still says the same."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Table, Text, cast, func

from sync_server.plumbing.sql.tables import Base


def fingerprint(model: type[Base], *, but: Collection[str] = ()) -> ColumnElement[str]:
    """PostgreSQL's digest of all columns of a row but these."""
    table: Table = model.__table__  # type: ignore[assignment]  # SQLAlchemy types it as any selectable
    columns = [column for column in table.columns if column.name not in but]
    return func.md5(cast(func.row(*columns), Text), type_=Text())
