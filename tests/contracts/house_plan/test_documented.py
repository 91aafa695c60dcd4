"""What docs/seat-maps.md tells people who draw maps is so."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from playwright.sync_api import Page as BrowserPage

from sync_server.seating import queries as seating
from tests.contracts.house_plan.house import House, a_house
from tests.contracts.seating.stage import a_layout, a_seat
from tests.office import Desk, Office

PAGE = (Path(__file__).parents[3] / "docs" / "seat-maps.md").read_text()


SEATS = [
    a_seat(row, number, coordinates={"x": number * 1.5, "y": depth * 10 + (number - 4) ** 2 * 0.1})
    for depth, row in enumerate("ABC")
    for number in range(1, 8 - depth)
]
SEATS[-1]["seat_id"] = "the one behind the pillar"
"""Rows that are bent, of different lengths, one of them named in a way of its own."""


def bent(office: Office, desk: Desk) -> House:
    """A house of these rows."""
    return a_house(office, desk, a_layout(zones=[{"name": "Stalls", "zone_type": "reserved_seating", "seats": SEATS}]))


def test_script_of_the_page_finds_every_seat_where_it_stands(
    office: Office, desk: Desk, browser_page: BrowserPage
) -> None:
    house = bent(office, desk)
    plan = house.page().plan["seats"]
    (script,) = re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)
    ask = f"([column, rows]) => {{ {script}; return places(column, rows); }}"
    for axis, origin in zip("xy", plan["origin"], strict=True):
        found = browser_page.evaluate(ask, [plan[axis], plan["rows"]])
        places = [origin + at * plan["scale"] for at in found]
        drawn = [seat["coordinates"][axis] for seat in SEATS]
        assert all(abs(place - there) <= plan["scale"] for place, there in zip(places, drawn, strict=True))


def test_names_and_ids_of_seats_can_be_made_from_the_plan(office: Office, desk: Desk) -> None:
    house = bent(office, desk)
    plan = house.page().plan
    seats, names = plan["seats"], list[str]()
    for (_, count), labels, named in zip(seats["rows"], seats["labels"], seats["seat_ids"], strict=True):
        row = [str(labels[0] + labels[1] * at) for at in range(count)] if count > 2 else labels
        names += [named + label for label in row] if isinstance(named, str) else named
    assert names == [seat["seat_id"] for seat in SEATS]
    with office.database.reading() as session:
        ids = seating.seat_numbers(session, plan["layout"]["id"], (made_id(plan, name) for name in names))
    assert [*ids.values()] == [*range(1, len(names) + 1)]


def made_id(plan: dict[str, Any], name: str) -> str:
    """A seat's id as the page says it is made."""
    return str(uuid5(UUID(plan["layout"]["family"]), f"seat/{name}"))


def test_bits_are_read_as_the_page_says(house: House, office: Office, browser_page: BrowserPage) -> None:
    house.hold(6)
    office.work()
    state = house.page().state
    seats = [*b64decode(state["seats"])]
    (expression,) = re.findall(r"`(bytes\[n >> 2\][^`]*)`", PAGE)
    read = browser_page.evaluate(f"bytes => Array.from({{length: {state['count']}}}, (_, n) => {expression})", seats)
    assert read == [0] * 5 + [2] + [0] * 10
