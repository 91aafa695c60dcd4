"""What visitors ask costs what they are shown, however much is published, on a SQLite that nobody ever analysed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from sync_server.programme import searching
from tests.contracts.programme.town import Town
from tests.office import Office

#: By what each table may be entered: never by its status, and never from one end to the other.
QUESTIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "feed": ({}, ["COVERING INDEX ix_listings_starts_at"]),
    "from a day on": ({"starts_from": "2026-07-01T00:00:00Z"}, ["COVERING INDEX ix_listings_starts_at (starts_at>?"]),
    "city": ({"city": "Bern"}, ["INDEX ix_listings_city_norm (city_norm=?"]),
    "category": ({"category": "rock"}, ["INDEX ix_listings_category_norm (category_norm=?"]),
    "both": ({"city": "Bern", "category": "rock"}, ["_city_norm_category_norm (city_norm=? AND category_norm=?"]),
    "a house in a city": (
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
    office = Office(sqlite_url, tmp_path)
    yield Town(office)
    office.close()


@pytest.fixture
def asked(town: Town) -> list[str]:
    """The statements as the database hears them, whichever way they come."""
    heard: list[str] = []
    engine = town.office.database.engine
    event.listen(engine, "checkout", lambda line, *_: line.set_trace_callback(heard.append))
    return heard


def ways(town: Town, statements: list[str], table: str) -> list[str]:
    """How each statement that speaks of the table would enter it, and what it looks up on its way."""
    with town.office.database.reading() as session:
        line = session.connection()
        spoken = [one for one in statements if one.startswith("SELECT") and re.search(rf"FROM {table}\b", one)]
        plans = [line.exec_driver_sql(f"EXPLAIN QUERY PLAN {one}").all() for one in spoken]
    return [step[3] for plan in plans for step in plan]


def test_each_question_goes_by_an_index_of_its_own(
    town: Town, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    town.publish("Night Music", city="Bern", category="rock")
    monkeypatch.setattr(searching, "COMMON", 2.0)
    for question, (words, expected) in QUESTIONS.items():
        asked.clear()
        assert town.find(**words) == ["Night Music"]
        statements = [*asked]
        entered = ways(town, statements, "listings")
        assert [way for way in expected if not any(way in step for step in entered)] == [], (question, entered)
        cards = [step for step in ways(town, statements, "events") if " events " in step]
        assert cards == ["SEARCH events USING INDEX sqlite_autoindex_events_2 (number=?)"], question


def test_cities_are_counted_in_their_index_alone(town: Town, asked: list[str]) -> None:
    town.publish("Night Music", city="Bern")
    asked.clear()
    town.ask("/api/meta/cities", prefix="be")
    (way,) = ways(town, asked, "listings")
    assert way == "SEARCH listings USING COVERING INDEX ix_listings_city_norm_city (city_norm>? AND city_norm<?)"
