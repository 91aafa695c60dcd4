"""The gate's database is brought up to date step by step, and no step is ever half done."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from gate_app.storage import database, schema
from gate_app.storage.database import SCHEMA_VERSION, migrate, open_database


def tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def an_empty_file(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "gate.db", isolation_level=None)


def test_the_version_counts_the_steps(tmp_path: Path) -> None:
    opened = open_database(tmp_path / "gate.db")
    taken = schema.STEPS.applied(Database(opened.connection))
    assert len(taken) == SCHEMA_VERSION == opened.connection.execute("PRAGMA user_version").fetchone()[0]
    opened.close()


def test_a_home_of_the_first_version_keeps_what_it_has(tmp_path: Path) -> None:
    connection = an_empty_file(tmp_path)
    connection.execute("CREATE TABLE marks (name TEXT PRIMARY KEY, value) WITHOUT ROWID")
    connection.execute("INSERT INTO marks VALUES ('lamp', 5)")
    connection.execute("PRAGMA user_version = 1")
    migrate(connection)
    assert connection.execute("SELECT value FROM marks").fetchall() == [(5,)]
    assert {"journal", "gaps"} <= tables(connection)


def test_a_step_that_fails_leaves_nothing_and_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = an_empty_file(tmp_path)
    migrate(connection)
    steps = Migrations("gate")
    steps._migrations = [*schema.STEPS._migrations]

    @steps()
    def half_done(database: Database) -> None:
        database.execute("CREATE TABLE half (a)")
        database.execute("CREATE TABLE half (a)")

    monkeypatch.setattr(schema, "STEPS", steps)
    monkeypatch.setattr(database, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection)
    assert "half" not in tables(connection)
    assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
