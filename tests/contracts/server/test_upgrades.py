"""Migrations of releases to come, on databases that have rows."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, func, inspect, select, text
from sqlalchemy.exc import IntegrityError

from shared.errors import Conflict
from sync_server.migrations import schema
from sync_server.migrations.tables import metadata
from sync_server.plumbing.database import open_engine

ORGANISATION = {"id": "01a1ee93-a800-767b-ae97-80dab5121243", "slug": "marquee", "name": "Marquee", "created_at": 1}
OF_MARQUEE = {"organisation_id": ORGANISATION["id"]}
IMAGE = OF_MARQUEE | {"id": "cover", "width": 8, "height": 8, "created_at": 1}
VARIANT = OF_MARQUEE | {"image_id": "cover", "name": "8.png", "content_type": "png", "width": 8, "height": 8}
FILE = """
import sqlalchemy as sa
from alembic import op
from sync_server.migrations.indexes import build_index

revision = "the next"
down_revision = "{newest}"


def upgrade() -> None:
    {change}
"""

Release = Callable[[str], None]


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    with engine.execution_options(writes=True).begin() as connection:
        yield connection


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """A database of the newest release, with an image of an organisation."""
    made = open_engine(database_url)
    rows: dict[str, dict[str, Any]] = {
        "organisations": ORGANISATION,
        "images": IMAGE,
        "image_variants": VARIANT | {"content": b"\x89PNG"},
    }
    with writing(made) as connection:
        for table, row in rows.items():
            connection.execute(metadata().tables[table].insert(), row)
    yield made
    made.dispose()


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Release]:
    """Add a migration that does what is given."""
    scripts = tmp_path / "migrations"
    shutil.copytree(schema.SCRIPTS, scripts)
    newest = schema.newest()
    monkeypatch.setattr(schema, "SCRIPTS", scripts)

    def add(change: str) -> None:
        (scripts / "versions" / "next.py").write_text(FILE.format(newest=newest, change=change))
        schema._revisions.cache_clear()

    yield add
    schema._revisions.cache_clear()


def count(engine: Engine, table: str) -> int:
    with engine.connect() as connection:
        return connection.scalar(select(func.count()).select_from(metadata().tables[table])) or 0


def test_a_table_is_changed_and_what_references_it_stays(engine: Engine, release: Release) -> None:
    release(
        """with op.batch_alter_table("images") as batch:
        batch.alter_column("width", type_=sa.BigInteger())
    with op.batch_alter_table("organisations") as batch:
        batch.alter_column("name", type_=sa.Text())"""
    )

    schema.upgrade(engine)

    assert schema.current(engine) == "the next"
    assert (count(engine, "images"), count(engine, "image_variants")) == (1, 1)
    with pytest.raises(IntegrityError), writing(engine) as connection:
        connection.execute(text("DELETE FROM organisations"))


def test_a_migration_that_leaves_a_reference_to_nothing_changes_nothing(engine: Engine, release: Release) -> None:
    before = schema.current(engine)
    release('op.execute("DELETE FROM organisations")')

    with pytest.raises((Conflict, IntegrityError)):
        schema.upgrade(engine)

    assert (schema.current(engine), count(engine, "organisations")) == (before, 1)


BUILD = 'build_index("ix_images_width", "images", ["organisation_id", "width"])'


def test_an_index_is_built_again_where_the_first_attempt_was_interrupted(engine: Engine, release: Release) -> None:
    release(BUILD)
    if engine.dialect.name == "postgresql":  # SQLite keeps nothing of it
        with writing(engine) as connection:
            connection.execute(text("CREATE INDEX ix_images_width ON images (height)"))

    schema.upgrade(engine)

    indexes = {index["name"]: index["column_names"] for index in inspect(engine).get_indexes("images")}
    assert indexes["ix_images_width"] == ["organisation_id", "width"]


def test_an_index_is_built_while_others_write(postgres_url: str, release: Release) -> None:
    """A plain index would wait for the open transaction, and every later writer behind it."""
    engine = open_engine(postgres_url)
    release(BUILD)
    insert = metadata().tables["organisations"].insert(), ORGANISATION
    with ThreadPoolExecutor(2) as pool:
        with writing(engine) as slow:
            slow.execute(*insert)
            slow.execute(metadata().tables["images"].insert(), IMAGE)
            upgrades = [pool.submit(schema.upgrade, engine) for _ in range(2)]
            wait_until_an_index_waits(engine)
            with writing(engine) as quick:
                quick.execute(text("SET LOCAL lock_timeout = '5s'"))
                quick.execute(text("UPDATE images SET width = 9"))
        for upgrade in upgrades:
            upgrade.result()
    assert schema.current(engine) == "the next"
    engine.dispose()


def wait_until_an_index_waits(engine: Engine) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'"
    for _ in range(300):
        with engine.connect() as connection:
            if connection.scalar(text(waiting)):
                return
        threading.Event().wait(0.1)
    pytest.fail("no index is being built")


LOCKING = re.compile(
    r'batch_alter_table\("(\w+)".*\n(?:        .*\n)*?        batch_op\.create_index|'
    r'(?<!_)op\.create_index\(.*?"(\w+)", \['
)


def locked_by_indexes(migration: str) -> list[str]:
    """The tables with rows that a migration locks while it builds an index."""
    indexed = {table for found in LOCKING.findall(migration) for table in found if table}
    return sorted(indexed - set(re.findall(r'op\.create_table\(\s*"(\w+)"', migration)))


DRAFTED = """
    with op.batch_alter_table("devices", schema=None) as batch_op:
        batch_op.add_column(sa.Column("stock_label", sa.String(length=40), server_default="", nullable=False))
        batch_op.create_index("ix_devices_stock_label", ["organisation_id", "stock_label"], unique=False)
"""


@pytest.mark.parametrize(
    ("migration", "locked"),
    [
        (DRAFTED, ["devices"]),
        ('    op.create_table(\n        "devices",\n    )\n' + DRAFTED, []),
        ('    op.create_index("ix_x", "devices", ["name"])\n', ["devices"]),
        ('    build_index("ix_devices_stock_label", "devices", ["organisation_id", "stock_label"])\n', []),
    ],
)
def test_an_index_that_locks_a_table_is_recognised(migration: str, locked: list[str]) -> None:
    assert locked_by_indexes(migration) == locked


def test_no_migration_locks_a_table_for_an_index() -> None:
    files = sorted((schema.SCRIPTS / "versions").glob("[0-9]*.py"))
    assert files
    assert {file.name: found for file in files if (found := locked_by_indexes(file.read_text()))} == {}
