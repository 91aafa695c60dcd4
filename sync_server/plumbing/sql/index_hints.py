"""Lets a query say which index SQLite takes: it has no statistics there, and may as soon read every row."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler


def understand(engine: Engine) -> None:
    """Write what `with_hint(table, "INDEXED BY …", "sqlite")` says after the table, which SQLAlchemy leaves out."""
    engine.dialect.statement_compiler = _WithHints


class _WithHints(SQLiteCompiler):
    def get_from_hint_text(self, _table: Any, text: str | None) -> str | None:
        return text
