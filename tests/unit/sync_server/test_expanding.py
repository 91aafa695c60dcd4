"""Which changes of a schema servers of the release before do not notice."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text

from sync_server.migrations.expanding import contractions, reflected

BEFORE = (
    "CREATE TABLE halls (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, doors INTEGER DEFAULT 1, city VARCHAR(9))",
    "CREATE TABLE seats (id INTEGER PRIMARY KEY, hall INTEGER REFERENCES halls (id))",
    "CREATE INDEX ix_halls_city ON halls (city)",
)


def after(*changes: str) -> list[str]:
    with create_engine("sqlite://").connect() as connection:
        for statement in BEFORE:
            connection.execute(text(statement))
        before = reflected(connection)
        for statement in changes:
            connection.execute(text(statement))
        return contractions(before, reflected(connection))


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE bars (id INTEGER PRIMARY KEY, hall INTEGER NOT NULL REFERENCES halls (id))",
        "ALTER TABLE halls ADD COLUMN roof VARCHAR(9)",
        "ALTER TABLE halls ADD COLUMN roof VARCHAR(9) NOT NULL DEFAULT 'flat'",
        "ALTER TABLE seats ADD COLUMN twin INTEGER REFERENCES seats (id)",
        "CREATE INDEX ix_halls_name ON halls (name)",
        "DROP INDEX ix_halls_city",
    ],
)
def test_what_is_added_is_not_noticed(change: str) -> None:
    assert after(change) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (["DROP TABLE seats"], "table seats is gone"),
        (["DROP INDEX ix_halls_city", "ALTER TABLE halls DROP COLUMN city"], "column halls.city is gone"),
        (["ALTER TABLE halls RENAME COLUMN city TO town"], "column halls.city is gone"),
        (["CREATE UNIQUE INDEX uq_halls_name ON halls (name)"], "table halls has a new rule: unique index name"),
        (
            ["DROP TABLE seats", "CREATE TABLE seats (id INTEGER PRIMARY KEY, hall INTEGER NOT NULL)"],
            "column seats.hall must no longer be null",
        ),
        (
            ["DROP TABLE seats", "CREATE TABLE seats (id INTEGER PRIMARY KEY, hall BIGINT)"],
            "column seats.hall was INTEGER and is BIGINT",
        ),
        (
            ["DROP TABLE seats", "CREATE TABLE seats (id INTEGER PRIMARY KEY, hall INTEGER, row INTEGER NOT NULL)"],
            "column seats.row must be given, and has no default",
        ),
        (
            [
                "DROP TABLE seats",
                "CREATE TABLE seats (id INTEGER PRIMARY KEY, hall INTEGER CONSTRAINT low CHECK (hall < 9))",
            ],
            "table seats has a new rule: low",
        ),
    ],
)
def test_what_is_missed_or_refused_is_said(changes: list[str], problem: str) -> None:
    assert problem in after(*changes)
