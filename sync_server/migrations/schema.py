"""Brings a database to the newest schema, and says whether it is there."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from shared.errors import Conflict
from sync_server.migrations.tables import metadata
from sync_server.programme import search_index

_LOCK = 7_263_481  # any number, as long as all processes of this product take the same


def upgrade(engine: Engine) -> None:
    """Run what is missing; processes that start together wait for one another."""
    with engine.execution_options(writes=True).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        here = MigrationContext.configure(connection).get_current_revision()
        if here is not None:
            require_known(here)
        command.upgrade(_config(connection), "head")


def draft(engine: Engine, message: str, revision: str, only: Collection[str] | None = None) -> None:
    """For developers: write down how the declared schema, or these tables of it, differ from this database's."""
    with engine.execution_options(writes=True).begin() as connection:
        config = _config(connection)
        config.attributes["only"] = only
        command.revision(config, message, autogenerate=True, rev_id=revision)


def current(engine: Engine) -> str | None:
    """The revision of this database's schema; None: it is empty."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest() -> str | None:
    """The revision that this program wants."""
    return ScriptDirectory(str(Path(__file__).parent)).get_current_head()


def require_known(revision: str) -> None:
    """Conflict, in words, where only a newer program knows this schema: there is no way back."""
    known = {script.revision for script in ScriptDirectory(str(Path(__file__).parent)).walk_revisions()}
    if revision not in known:
        raise Conflict(
            f"The schema is {revision}, which this program does not know; its newest is {newest()}. "
            "Nothing was changed. Install the Gatehouse that made it, or a newer one.",
            code="schema_not_known",
        )


def require_current(engine: Engine) -> None:
    """Conflict, in words, where the schema is not the one this program wants."""
    here = current(engine)
    if here is not None:
        require_known(here)
    if here != newest():
        raise Conflict(
            f"The database has schema {here or 'none'}, this program wants {newest()}. "
            "Make a backup, then run `gatehouse-server migrate`.",
            code="schema_not_current",
        )


def differences(engine: Engine) -> list[object]:
    """Where the database's schema is not the declared one; empty where all is well."""
    with engine.connect() as connection:
        opts = {"compare_type": True, "include_object": _is_declared}
        return list(compare_metadata(MigrationContext.configure(connection, opts=opts), metadata()))


def _is_declared(_item: Any, name: str | None, _kind: str, _reflected: bool, _compared: Any) -> bool:
    """The search index has a form of its own in each database, which no table declares."""
    return not search_index.is_part(name)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config
