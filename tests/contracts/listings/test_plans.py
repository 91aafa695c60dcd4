"""Queries cost what they return, however much is published, on a SQLite database without ANALYZE."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from sync_server.listings import search_strategy
from tests.app_server import AppServer
from tests.contracts.listings.town import Town

#: The index that each query uses: never one on the status, and never a full scan.
QUERIES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "feed": ({}, ["COVERING INDEX ix_listings_starts_at"]),
    "from a day on": ({"starts_from": "2026-07-01T00:00:00Z"}, ["COVERING INDEX ix_listings_starts_at (starts_at>?"]),
    "city": ({"city": "Bern"}, ["INDEX ix_listings_city_norm (city_norm=?"]),
    "category": ({"category": "rock"}, ["INDEX ix_listings_category_norm (category_norm=?"]),
    "both": ({"city": "Bern", "category": "rock"}, ["_city_norm_category_norm (city_norm=? AND category_norm=?"]),
    "an organiser in a city": (
        {"organisation": "marquee", "city": "Bern", "starts_from": "2026-07-01T00:00:00Z"},
        ["INDEX ix_listings_organisation_id (organisation_id=?"],
    ),
    "rare words in a city": (
        {"q": "night mus", "city": "Bern"},
        ["SEARCH listings USING INTEGER PRIMARY KEY", "SCAN listing_words VIRTUAL TABLE INDEX 0:M"],
    ),
}


@pytest.fixture
def town(sqlite_url: str, tmp_path: Path) -> Iterator[Town]:
    app_server = AppServer(sqlite_url, tmp_path)
    yield Town(app_server)
    app_server.close()


@pytest.fixture
def statements(town: Town) -> list[str]:
    """All statements that reach the database."""
    seen: list[str] = []
    engine = town.app_server.database.engine
    event.listen(engine, "checkout", lambda connection, *_: connection.set_trace_callback(seen.append))
    return seen


def plan_steps(town: Town, statements: list[str], table: str) -> list[str]:
    """The steps of the query plans of all statements about a table."""
    with town.app_server.database.reading() as session:
        connection = session.connection()
        selects = [one for one in statements if one.startswith("SELECT") and re.search(rf"FROM {table}\b", one)]
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {one}").all() for one in selects]
    return [step[3] for plan in plans for step in plan]


def test_each_query_uses_its_own_index(town: Town, statements: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    town.publish("Night Music", city="Bern", category="rock")
    monkeypatch.setattr(search_strategy, "COMMON", 2.0)
    for name, (query, expected) in QUERIES.items():
        statements.clear()
        assert town.find(**query) == ["Night Music"]
        sent = [*statements]
        steps = plan_steps(town, sent, "listings")
        assert [index for index in expected if not any(index in step for step in steps)] == [], (name, steps)
        cards = [step for step in plan_steps(town, sent, "events") if " events " in step]
        assert cards == ["SEARCH events USING INDEX sqlite_autoindex_events_2 (number=?)"], name


def test_cities_are_counted_with_a_covering_index(town: Town, statements: list[str]) -> None:
    town.publish("Night Music", city="Bern")
    statements.clear()
    town.ask("/api/meta/cities", prefix="be")
    (step,) = plan_steps(town, statements, "listings")
    assert step == "SEARCH listings USING COVERING INDEX ix_listings_city_norm_city (city_norm>? AND city_norm<?)"
