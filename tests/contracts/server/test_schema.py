"""The migrated schema is the declared one, on both databases."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect, text

from scripts.checks.released import released
from shared.errors import Conflict
from sync_server.migrations import schema
from sync_server.migrations.tables import metadata
from sync_server.plumbing.database import open_engine
from tests.architecture.tree import ROOT


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[Engine]:
    """An empty database."""
    made = open_engine(empty_database_url)
    yield made
    made.dispose()


TRIGGERS = {
    "sqlite": "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal",
}
"""SQLite drops those of a table that a migration rebuilds."""


def _triggers(engine: Engine) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with engine.connect() as connection:
        for table, name in sorted(connection.execute(text(TRIGGERS[engine.dialect.name])).all()):
            found.setdefault(table, []).append(name)
    return found


def _described(engine: Engine) -> dict[str, object]:
    inspector, triggers = inspect(engine), _triggers(engine)
    return {
        table: (
            sorted(
                (column["name"], str(column["type"]), column["nullable"]) for column in inspector.get_columns(table)
            ),
            sorted(
                (index["name"], tuple(index["column_names"]), index["unique"]) for index in inspector.get_indexes(table)
            ),
            sorted(str(unique["name"]) for unique in inspector.get_unique_constraints(table)),
            sorted(str(check["name"]) for check in inspector.get_check_constraints(table)),
            sorted(str(key["name"]) for key in inspector.get_foreign_keys(table)),
            inspector.get_pk_constraint(table)["constrained_columns"],
            triggers.get(table, []),
        )
        for table in inspector.get_table_names()
        if table != "alembic_version"
    }


def test_migrations_make_the_declared_schema(engine: Engine) -> None:
    schema.upgrade(engine)
    assert schema.differences(engine) == []
    migrated = _described(engine)
    declared = metadata()
    declared.drop_all(engine)
    declared.create_all(engine)
    assert migrated == _described(engine)


@pytest.mark.parametrize("release", sorted(released(ROOT)))
def test_a_database_of_every_release_becomes_the_declared_one(engine: Engine, release: str, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as program:
        program.setattr(schema, "SCRIPTS", migrations_until(release, tmp_path))
        schema._revisions.cache_clear()
        schema.upgrade(engine)
        assert schema.current(engine) == release.removesuffix(".py").partition("_")[0]
    schema._revisions.cache_clear()
    schema.upgrade(engine)
    assert schema.current(engine) == schema.newest()
    assert schema.differences(engine) == []


def migrations_until(release: str, folder: Path) -> Path:
    """Those that the program of this release had."""
    copied = Path(shutil.copytree(schema.SCRIPTS, folder / "migrations"))
    for file in (copied / "versions").glob("*.py"):
        if file.name > release:
            file.unlink()
    return copied


def test_concurrent_upgrades_run_once(engine: Engine) -> None:
    with pytest.raises(Conflict, match="migrate"):
        schema.require_usable(engine)
    with ThreadPoolExecutor(1 if engine.dialect.name == "sqlite" else 3) as pool:
        list(pool.map(lambda _: schema.upgrade(engine), range(3)))
    schema.require_usable(engine)
    assert schema.current(engine) == schema.newest()


@pytest.mark.parametrize(
    ("damage", "table"),
    [
        ("ALTER TABLE users ADD COLUMN nickname TEXT", "users"),
        ("ALTER TABLE holds RENAME COLUMN notes TO remarks", "holds"),
        ("DROP TABLE reseating_steps", "reseating_steps"),
        ("DROP INDEX ix_zone_guests_organisation_id_event_id", "zone_guests"),
    ],
)
def test_a_schema_of_an_unreleased_version_is_found_though_it_has_the_newest_number(
    engine: Engine, damage: str, table: str
) -> None:
    schema.upgrade(engine)
    schema.require_declared(engine)
    with engine.execution_options(writes=True).begin() as connection:
        connection.execute(text(damage))
    schema.require_usable(engine)
    with pytest.raises(Conflict, match=f"table {table} is not as this program declares it"):
        schema.require_declared(engine)
