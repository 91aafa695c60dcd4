"""Builds the index of a table that has rows, for migrations."""

from __future__ import annotations

from typing import Any

from alembic import op


def build_index(name: str, table: str, columns: list[str], **options: Any) -> None:
    """Build an index while others write to the table, as the last statement of a migration that does nothing else.

    What was built before it cannot be rolled back. After an interruption PostgreSQL keeps half an index of that name.
    """
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(name, table, columns, **options)  # it has one writer, who is here
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
        op.create_index(name, table, columns, postgresql_concurrently=True, **options)
