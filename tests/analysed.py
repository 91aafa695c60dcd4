"""Statistics of the tables, which PostgreSQL gathers by itself some time after they have been filled."""

from __future__ import annotations

from sync_server.plumbing.database import Database


def analyse(database: Database) -> None:
    """Gather them now; nobody does it for SQLite."""
    if not database.embedded:
        with database.engine.connect() as connection:
            connection.exec_driver_sql("ANALYZE")
            connection.commit()
