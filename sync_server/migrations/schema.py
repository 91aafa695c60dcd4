"""Brings a database to the newest schema, and says whether it is there."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, Table, text

from shared.errors import Conflict
from sync_server.listings import search_index
from sync_server.migrations.tables import metadata

_LOCK = 7_263_481  # any number, as long as all processes of this product take the same


def upgrade(engine: Engine) -> None:
    """Run what is missing; processes that start together wait for one another."""
    with engine.execution_options(writes=True).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        here = MigrationContext.configure(connection).get_current_revision()
        if here is not None:
            require_known(here)
        if here == newest():
            return
        command.upgrade(_config(connection), "head")


def draft(engine: Engine, message: str, revision: str, *, batch: bool = True) -> None:
    """For developers: write the migration that turns this database's schema into the declared one."""
    with engine.execution_options(writes=True).begin() as connection:
        config = _config(connection)
        config.attributes["batch"] = batch
        command.revision(config, message, autogenerate=True, rev_id=revision)


def current(engine: Engine) -> str | None:
    """The revision of this database's schema; None: it is empty."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest() -> str:
    """The revision that this program wants."""
    return _revisions()[0]


def require_known(revision: str) -> None:
    """Conflict, in words, where only a newer program knows this schema: there is no way back."""
    if revision not in _revisions():
        raise Conflict(
            f"The schema is {revision}, which this program does not know; its newest is {newest()}. "
            "Nothing was changed. Install the Gatehouse that made it, or a newer one.",
            code="schema_not_known",
        )


@cache
def _revisions() -> tuple[str, ...]:
    """The revisions that this program knows, the newest first; read from their files once."""
    return tuple(script.revision for script in ScriptDirectory(str(Path(__file__).parent)).walk_revisions())


def require_current(engine: Engine) -> None:
    """Conflict, in words, where the schema is not the one this program wants."""
    here = current(engine)
    if here is not None:
        require_known(here)
    if here != newest():
        raise Conflict(
            f"The database has {f'schema {here}' if here else 'no schema yet'}, this program wants {newest()}. "
            "Make a backup, then run `gatehouse-server migrate`.",
            code="schema_not_current",
        )


def differences(engine: Engine) -> list[object]:
    """Where the database's schema is not the declared one; empty where all is well."""
    with engine.connect() as connection:
        opts = {"compare_type": True, "include_object": _is_declared}
        return list(compare_metadata(MigrationContext.configure(connection, opts=opts), metadata()))


def require_declared(engine: Engine) -> None:
    """Conflict, in plain words, where the tables are not those this program declares, whatever the version number says.

    A database made by an unreleased version can carry the newest number and still lack a column.
    """
    require_current(engine)
    found = differences(engine)
    if found:
        raise Conflict(
            f"The database calls its schema {newest()}, but table {_table_of(found[0])} is not as this program "
            f"declares it (differences in all: {len(found)}). Nothing was changed. "
            "An unreleased version made it: restore a backup made by a release, or start with a new database.",
            code="schema_differs",
        )


def _table_of(difference: Any) -> str:
    """The name of the table that one of Alembic's differences is about."""
    change = difference[0] if isinstance(difference, list) else difference
    for part in change[1:]:
        table = part if isinstance(part, str | Table) else getattr(part, "table", None)
        if table is not None:
            return str(table)
    return "unknown"


def _is_declared(_item: Any, name: str | None, _kind: str, _reflected: bool, _compared: Any) -> bool:
    """The search index has a form of its own in each database, which no table declares."""
    return not search_index.is_search_object(name)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config
