"""A theatre on sale: stalls in two prices, a curved balcony, wheelchair places, a pillar, and standing room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import cos, sin
from threading import Event as Stop
from threading import Thread
from typing import Any

from playwright.sync_api import Page, expect

from sync_server.workers import Worker
from tests.app_server import AppServer
from tests.builders import a_ticket_type, a_zone
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, a_seat

ROWS = "ABCDEFGH"
AISLE = 8


def stalls() -> dict[str, Any]:
    """Eight rows of sixteen with an aisle; the first three are dearer, A-1 is for a wheelchair, H-8 behind a pillar."""
    seats = []
    for depth, row in enumerate(ROWS):
        for number in range(1, 17):
            place = {"x": float(number + (number > AISLE) * 1.5), "y": float(depth * 1.1)}
            seats.append(a_seat(row, number, coordinates=place, price_category="Front" if depth < 3 else "Rear"))
    by_id = {seat["seat_id"]: seat for seat in seats}
    by_id["A-1"] |= {"category": "wheelchair", "companion_seat_id": "A-2"}
    by_id["A-2"] |= {"category": "companion", "companion_seat_id": "A-1"}
    by_id["H-8"] |= {"category": "restricted_view"}
    return {"name": "Stalls", "zone_type": "reserved_seating", "seats": seats}


def balcony() -> dict[str, Any]:
    """Three curved rows behind the stalls."""
    seats = []
    for depth, row in enumerate(("BA", "BB", "BC")):
        for number in range(1, 21):
            angle, far = 1.05 + (number - 0.5) / 20, 18.0 + depth * 1.2
            place = {"x": 9.0 - far * cos(angle), "y": -5.5 + far * sin(angle)}
            seats.append(a_seat(row, number, coordinates=place, price_category="Balcony"))
    return {"name": "Balcony", "zone_type": "reserved_seating", "seats": seats}


def drawing() -> dict[str, Any]:
    """What is drawn besides seats, in the open format of pretix: a bar, and the floor of whoever stands."""
    bar = {
        "shape": "rectangle",
        "position": {"x": 0, "y": 0},
        "rectangle": {"width": 2.5, "height": 6},
        "text": {"text": "Bar", "position": {"x": 1.25, "y": 3}, "size": 1},
    }
    floor = [[20, 0], [25, 0], [25, 7.7], [20, 7.7]]
    return {"areas": [{"position": {"x": -4, "y": 1}, "areas": [bar]}], "outlines": {"Standing": floor}}


def a_theatre(app_server: AppServer, **event: Any) -> SeatedEvent:
    """The theatre, on sale in a shop; its event numbers the zones otherwise than the layout."""
    standing = {"name": "Standing", "zone_type": "ga_standing", "capacity": 40}
    layout = a_layout(zones=[stalls(), balcony(), standing]) | {"focus": {"x": 9.0, "y": -4.0}, "drawing": drawing()}
    theatre = a_seated_event(app_server, layout=layout, zones=[a_zone(name="Standing")], **event)
    for name, zone, cents in (("Front", 2, 6500), ("Rear", 2, 4500), ("Balcony", 3, 3000), ("Standing", 1, 2000)):
        theatre.api.post(
            f"{theatre.path}/ticket-types", a_ticket_type(name=name, zone=zone, price_cents=cents, fee_cents=0)
        )
    app_server.run_worker()
    return theatre


@contextmanager
def working(app_server: AppServer) -> Iterator[None]:
    """Run the worker in the background."""
    stop = Stop()
    thread = Thread(target=Worker(app_server.parts).run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def open_seats(page: Page, address: str, theatre: SeatedEvent, query: str = "") -> None:
    """Open the page and wait until seats can be chosen."""
    page.goto(f"{address}/o/{theatre.slug}/events/{theatre.event['slug']}/seats{query}")
    expect(page.locator("#picker")).to_have_attribute("data-ready", "true")
