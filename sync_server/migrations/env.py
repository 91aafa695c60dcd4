"""Alembic's way in: runs migrations over the connection that sync_server.migrations.schema hands it."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlalchemy.types import TypeDecorator

from sync_server.listings import search_index
from sync_server.migrations.tables import metadata
from sync_server.plumbing.sql.tables import UUID_TYPE


def _rendered(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Migrations stand still: they name the database's types, not ours, which may change."""
    if item is UUID_TYPE:
        return "ID"
    if kind != "type" or not isinstance(item, TypeDecorator):
        return False
    return f"sa.{item.impl!r}"


def _is_declared(_item: Any, name: str | None, _kind: str, _reflected: bool, _compared: Any) -> bool:
    return not search_index.is_search_object(name)


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata(),
    render_as_batch=context.config.attributes.get("batch", True),
    render_item=_rendered,
    include_object=_is_declared,
    compare_type=True,
    transaction_per_migration=True,
    on_version_apply=context.config.attributes.get("on_version_apply"),
)
with context.begin_transaction():
    context.run_migrations()
