"""Alembic's way in: runs migrations over the connection that sync_server.migrations.schema hands it."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlalchemy.types import TypeDecorator

from sync_server.migrations.tables import metadata


def _rendered(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Migrations stand still: they name the database's types, not ours, which may change."""
    if kind != "type" or not isinstance(item, TypeDecorator):
        return False
    return f"sa.{item.impl!r}"


def _wanted(_item: Any, name: str | None, kind: str, _reflected: bool, _compared: Any) -> bool:
    """Drafts may be made of some tables only, so that a migration stays readable."""
    only = context.config.attributes.get("only")
    return only is None or kind != "table" or name in only


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata(),
    render_as_batch=True,
    render_item=_rendered,
    include_object=_wanted,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
