"""docs/seat-maps.md describes the format as it is."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from playwright.sync_api import Page as BrowserPage

from sync_server.seating.plans.seat_plans import layout_seats
from tests.app_server import ApiClient, AppServer
from tests.contracts.seat_maps.mapped_event import MappedEvent, a_mapped_event
from tests.contracts.seating.stage import a_layout, a_seat

DOCUMENT = (Path(__file__).parents[3] / "docs" / "seat-maps.md").read_text()


SEATS = [
    a_seat(row, number, coordinates={"x": number * 1.5, "y": depth * 10 + (number - 4) ** 2 * 0.1})
    for depth, row in enumerate("ABC")
    for number in range(1, 8 - depth)
]
SEATS[-1]["seat_id"] = "the one behind the pillar"
"""Curved rows of different lengths; one seat has an irregular id."""


def curved(app_server: AppServer, api: ApiClient) -> MappedEvent:
    """An event with these rows."""
    return a_mapped_event(
        app_server, api, a_layout(zones=[{"name": "Stalls", "zone_type": "reserved_seating", "seats": SEATS}])
    )


def test_documented_script_computes_the_position_of_every_seat(
    app_server: AppServer, api: ApiClient, browser_page: BrowserPage
) -> None:
    mapped = curved(app_server, api)
    plan = mapped.page().plan["seats"]
    (script,) = re.findall(r"```js\n(.*?)```", DOCUMENT, re.DOTALL)
    ask = f"([column, rows]) => {{ {script}; return places(column, rows); }}"
    for axis, origin in zip("xy", plan["origin"], strict=True):
        found = browser_page.evaluate(ask, [plan[axis], plan["rows"]])
        places = [origin + at * plan["scale"] for at in found]
        drawn = [seat["coordinates"][axis] for seat in SEATS]
        assert all(abs(place - there) <= plan["scale"] for place, there in zip(places, drawn, strict=True))


def test_seat_names_and_ids_can_be_derived_from_the_plan(app_server: AppServer, api: ApiClient) -> None:
    mapped = curved(app_server, api)
    plan = mapped.page().plan
    seats, names = plan["seats"], list[str]()
    for (_, count), labels, named in zip(seats["rows"], seats["labels"], seats["seat_ids"], strict=True):
        row = [str(labels[0] + labels[1] * at) for at in range(count)] if count > 2 else labels
        names += [named + label for label in row] if isinstance(named, str) else named
    assert names == [seat["seat_id"] for seat in SEATS]
    with app_server.database.reading() as session:
        ids = layout_seats(session, mapped.stage.event["organisation_id"], plan["layout"]["id"]).find_all(
            seat_id(plan, name) for name in names
        )
    assert [*ids.values()] == [*range(1, len(names) + 1)]


def seat_id(plan: dict[str, Any], name: str) -> str:
    """A seat's id, derived as documented."""
    return str(uuid5(UUID(plan["layout"]["family"]), f"seat/{name}"))


def test_documented_expression_reads_the_bits(
    mapped: MappedEvent, app_server: AppServer, browser_page: BrowserPage
) -> None:
    mapped.hold(6)
    app_server.run_worker()
    state = mapped.page().state
    seats = [*b64decode(state["seats"])]
    (expression,) = re.findall(r"`(bytes\[n >> 2\][^`]*)`", DOCUMENT)
    read = browser_page.evaluate(f"bytes => Array.from({{length: {state['count']}}}, (_, n) => {expression})", seats)
    assert read == [0] * 5 + [2] + [0] * 10
