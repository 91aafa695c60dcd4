"""Events that stood before they were searched keep standing, and are found; what is new can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, inspect, text

from sync_server.events.models import EventRecord
from sync_server.plumbing.database import open_engine
from sync_server.plumbing.folding import fold
from tests.contracts.server.test_audit_migration import rows, walk

BEFORE, AFTER = "0007", "0008"
ORGANISATION = {"id": "marquee", "slug": "marquee", "name": "Marquee", "currency": "EUR"}


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    made = open_engine(database_url)
    yield made
    made.dispose()


def insert(engine: Engine, table: str, **given: Any) -> None:
    """A row as an older server wrote it: what is not given is empty."""
    empty: dict[str, Any] = {"INTEGER": 1, "BIGINT": 1, "BOOLEAN": False, "JSON": "{}"}
    words = {
        column["name"]: empty.get(str(column["type"]), "")
        for column in inspect(engine).get_columns(table)
        if not column["nullable"]
    } | given
    names, gaps = ", ".join(words), ", ".join(f":{name}" for name in words)
    with engine.execution_options(writes=True).begin() as connection:
        connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({gaps})"), words)


@pytest.fixture
def old(engine: Engine) -> Engine:
    """Two houses, an evening that was entered twice, and one that was laid by."""
    walk(engine, BEFORE)
    insert(engine, "organisations", **ORGANISATION)
    insert(engine, "venues", id="v1", organisation_id="marquee", slug="v1", name="Volkshaus", city="Zürich")
    event = {
        "organisation_id": "marquee",
        "venue_id": "v1",
        "venue_name": "Volkshaus",
        "city": "Zürich",
        "end_at": 99,
        "name": "Große  Nacht",
        "category": "Jazz",
        "created_by": "olga",
        "status": "published",
        "start_at": 7,
    }
    for number, changed in enumerate(({}, {}, {"status": "archived", "updated_at": 55}), start=1):
        own = {"id": f"e{number}", "number": number, "slug": f"s{number}", "code": f"C{number}"}
        insert(engine, "events", **(event | own | changed))
    insert(
        engine,
        "layouts",
        id="l1",
        organisation_id="marquee",
        venue_id="v1",
        family_id="l1",
        name="Hall",
        status="active",
    )
    here = {"layout_id": "l1", "organisation_id": "marquee"}
    drawn = {"focus_x": 0.0, "focus_y": 0.0}
    for number, (kind, capacity) in enumerate(
        (("reserved_seating", 3), ("ga_standing", 50), ("ga_standing", 9), ("vip_reserved", 8)), start=1
    ):
        words = {"id": f"z{number}", "number": number, "name": f"Z{number}", "zone_type": kind, "capacity": capacity}
        insert(engine, "layout_zones", **here, **drawn, **words)
    for number in (1, 2, 3):
        insert(
            engine,
            "layout_seats",
            **here,
            number=number,
            id=f"s{number}",
            seat_id=f"A-{number}",
            zone_number=1,
            x=0.0,
            y=0.0,
        )
    deltas = {"blocked_seats": "[2]", "disabled_zones": "[3]", "zone_overrides": '{"2": {"capacity": 40}}'}
    insert(engine, "event_layouts", event_id="e2", **here, **deltas)
    return engine


def test_events_that_had_a_layout_before_have_room_for_those_whom_its_open_zones_hold(old: Engine) -> None:
    walk(old, AFTER)
    assert [row["layout_room"] for row in rows(old, "events", "id")] == [0, 3 - 1 + 40 + 8, 0]


def test_events_that_stood_before_are_folded_owned_and_keyed(old: Engine) -> None:
    walk(old, AFTER)
    first, second, third = rows(old, "events", "id")
    for row in (first, second, third):
        assert row["search_text"] == fold("Große  Nacht Volkshaus Zürich Jazz") == "grosse nacht volkshaus zurich jazz"
        assert (row["city_norm"], row["owner_id"], row["venue_capacity"]) == ("zurich", "olga", 1)
    assert first["dedupe_key"] == "olga:v1:7:grosse-nacht"
    assert second["dedupe_key"] != first["dedupe_key"]  # doubles that stand go on standing
    assert (first["archived_at"], third["archived_at"]) == (None, 55)
    assert rows(old, "venues", "id")[0]["city_norm"] == "zurich"


def test_the_way_back_keeps_events_and_the_way_forth_finds_them_again(old: Engine) -> None:
    before = rows(old, "events", "id"), rows(old, "venues", "id")
    walk(old, AFTER)
    forth = rows(old, "events", "id")
    walk(old, BEFORE, back=True)
    assert (rows(old, "events", "id"), rows(old, "venues", "id")) == before
    walk(old, AFTER)
    assert rows(old, "events", "id") == forth
    assert set(forth[0]) <= {column.name for column in EventRecord.__table__.columns}
