"""Brings a database to the newest schema, and says whether it is there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, Table, event, text
from sqlalchemy.exc import OperationalError

from shared.errors import Conflict
from sync_server.listings import search_index
from sync_server.migrations import served
from sync_server.migrations.tables import metadata

SCRIPTS: Final = Path(__file__).parent
_LOCK = 7_263_481  # any number, as long as all processes of this product take the same
_PAUSE_S = 0.1
LOCK_WITHIN_MS: Final = 3_000
LOCK_ATTEMPTS: Final = 20
LOCK_NOT_AVAILABLE: Final = "55P03"
ADDITIONS: Final = frozenset({"remove_table", "remove_column", "remove_index", "remove_constraint", "remove_fk"})
"""Alembic's words for what a database has and a program does not declare."""


def upgrade(engine: Engine, *, contracting: bool = True) -> None:
    """Run what is missing; processes that start together wait for one another.

    Without `contracting`, Conflict for a migration with which servers of the release before could not go on.
    """
    if engine.dialect.name == "sqlite":
        _upgrade_file(engine)
        return
    for _ in range(LOCK_ATTEMPTS):
        try:
            with _turn(engine), engine.connect() as connection:
                event.listen(connection, "begin", _wait_briefly)
                _run_missing(connection, _revision_of(connection), contracting=contracting)
                return
        except OperationalError as problem:
            if getattr(problem.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                raise
    raise Conflict(
        "Other transactions hold the tables that this upgrade changes. End what runs for long, such as a dump, "
        "and run it again.",
        code="schema_locked",
    )


def _wait_briefly(connection: Connection) -> None:
    """Whoever waits for a table makes everybody after it wait too: rather give up and try again."""
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {LOCK_WITHIN_MS}")


def _upgrade_file(engine: Engine) -> None:
    """In one transaction, without foreign keys: a table is changed by a copy, and dropping it would empty others."""
    with engine.connect() as connection:
        file: Any = connection.connection.driver_connection
        file.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.execution_options(writes=True).begin():
                here = _revision_of(connection)
                _run_missing(connection, here)
                if here not in {None, newest()}:
                    _require_references(connection)
        finally:
            file.execute("PRAGMA foreign_keys=ON")


@contextmanager
def _turn(engine: Engine) -> Iterator[None]:
    """The right to migrate PostgreSQL, held by a transaction of its own, because a pooler has no sessions.

    Who waited inside a statement would in turn be waited for by an index that is built concurrently.
    """
    while True:
        with engine.begin() as connection:
            if connection.scalar(text("SELECT pg_try_advisory_xact_lock(:lock)"), {"lock": _LOCK}):
                # As the last statement it also lets go of the snapshot of the SELECT.
                connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
                yield
                return
        threading.Event().wait(_PAUSE_S)


def _revision_of(connection: Connection) -> str | None:
    """The revision of the schema; Conflict if this program neither knows it nor can serve it."""
    here = MigrationContext.configure(connection).get_current_revision()
    if here is not None and not served.serves(connection, newest()):
        require_known(here)
    return here


def _run_missing(connection: Connection, here: str | None, *, contracting: bool = True) -> None:
    if here == newest() or (here is not None and here not in _revisions()):
        return  # that of a newer program, which this one can serve
    config = _config(connection)
    steps = served.Steps(connection, ScriptDirectory(str(SCRIPTS)), here, contracting=contracting)
    config.attributes["on_version_apply"] = steps.applied
    if connection.dialect.name == "postgresql":
        connection.rollback()  # each migration has a transaction of its own
    command.upgrade(config, "head")


def _require_references(connection: Connection) -> None:
    """Conflict, and nothing is changed, where a migration has left a row that references nothing."""
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise Conflict(
            f"The migration would leave a row of {broken[0]} that references a missing row of {broken[2]}. "
            "Nothing was changed. Report this.",
            code="schema_broken",
        )


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
    return tuple(script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions())


def require_usable(engine: Engine) -> bool:
    """Conflict, in words, where this program cannot serve the schema; whether that is of a newer program."""
    with engine.connect() as connection:
        here = _revision_of(connection)
    newer = here is not None and here not in _revisions()
    if here != newest() and not newer:
        raise Conflict(
            f"The database has {f'schema {here}' if here else 'no schema yet'}, this program wants {newest()}. "
            "Make a backup, then run `gatehouse-server migrate`.",
            code="schema_not_current",
        )
    return newer


def differences(engine: Engine) -> list[object]:
    """Where the database's schema is not the declared one; empty where all is well."""
    with engine.connect() as connection:
        opts = {"compare_type": True, "include_object": _is_declared}
        return list(compare_metadata(MigrationContext.configure(connection, opts=opts), metadata()))


def require_declared(engine: Engine) -> None:
    """Conflict, in plain words, where the tables are not those this program declares, whatever the version number says.

    A database made by an unreleased version can carry the newest number and still lack a column. A newer program may
    have added to them.
    """
    newer = require_usable(engine)
    found = [each for each in differences(engine) if not (newer and _is_added(each))]
    if found:
        raise Conflict(
            f"The database calls its schema {newest()}, but table {_table_of(found[0])} is not as this program "
            f"declares it (differences in all: {len(found)}). Nothing was changed. "
            "An unreleased version made it: restore a backup made by a release, or start with a new database.",
            code="schema_differs",
        )


def _is_added(difference: Any) -> bool:
    """Whether the database only has more than this program declares."""
    return isinstance(difference, tuple) and difference[0] in ADDITIONS


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
    config.set_main_option("script_location", str(SCRIPTS))
    config.attributes["connection"] = connection
    return config
