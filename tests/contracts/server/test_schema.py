"""The migrated schema is the declared one, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, inspect

from shared.errors import Conflict
from sync_server.migrations import schema
from sync_server.migrations.tables import metadata
from sync_server.plumbing.database import open_engine


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An empty database."""
    made = open_engine(database_url)
    yield made
    made.dispose()


def _described(engine: Engine) -> dict[str, object]:
    look = inspect(engine)
    return {
        table: (
            sorted((column["name"], str(column["type"]), column["nullable"]) for column in look.get_columns(table)),
            sorted((index["name"], tuple(index["column_names"]), index["unique"]) for index in look.get_indexes(table)),
            sorted(str(unique["name"]) for unique in look.get_unique_constraints(table)),
            sorted(str(check["name"]) for check in look.get_check_constraints(table)),
            sorted(str(key["name"]) for key in look.get_foreign_keys(table)),
            look.get_pk_constraint(table)["constrained_columns"],
        )
        for table in look.get_table_names()
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


def test_a_database_is_brought_up_to_date_once_however_often_it_is_asked_for(engine: Engine) -> None:
    with pytest.raises(Conflict, match="migrate"):
        schema.require_current(engine)
    with ThreadPoolExecutor(1 if engine.dialect.name == "sqlite" else 3) as pool:
        list(pool.map(lambda _: schema.upgrade(engine), range(3)))
    schema.require_current(engine)
    assert schema.current(engine) == schema.newest()
