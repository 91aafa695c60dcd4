"""Visitors hear that nothing is left when nothing is left, whatever it was that ran out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders import DAY, EVENING, a_ticket_type, a_venue, an_event
from tests.contracts.programme.town import FEED
from tests.office import Desk, Evening, Office


@pytest.fixture
def office(database_url: str, tmp_path: Path) -> Iterator[Office]:
    made = Office(database_url, tmp_path)
    yield made
    made.close()


def on_sale(office: Office, *, house: int, own: int = 0, floor: int | None = None) -> Evening:
    """An event that is bounded by its house, by itself, or by the only zone of its layout."""
    desk = office.desk(office.organisation("marquee"))
    venue = desk.post("/api/venues", a_venue(max_capacity=house))
    evening = Evening(desk, venue, desk.post("/api/events", an_event(venue["id"], capacity=own)))
    kind: dict[str, Any] = a_ticket_type(quantity=3)
    if floor is not None:
        zone = {"name": "Floor", "zone_type": "ga_standing", "capacity": floor}
        layouts = f"/api/venues/{venue['id']}/layouts"
        layout = desk.post(layouts, {"name": "Standing", "zones": [zone]})["id"]
        desk.post(f"{layouts}/{layout}/activate", {}, 200)
        desk.put(f"{evening.path}/layout", {"layout_id": layout})
        kind["zone"] = 1
    desk.post(f"{evening.path}/ticket-types", kind)
    desk.post(f"{evening.path}/publish", {}, 200)
    return evening


def seen(office: Office, evening: Evening) -> set[str]:
    """By visitors in the feed and on its page, and by its organiser."""
    visitor = Desk(office.app.test_client(), {})
    (card,) = visitor.get(FEED)["items"]
    pages = card, visitor.get(f"{FEED}/{evening.event['id']}"), evening.desk.get(evening.path)
    return {page["sale_status"] for page in pages}


@pytest.mark.parametrize("bound", [{"house": 3}, {"house": 9, "own": 3}, {"house": 9, "floor": 3}, {"house": 0}])
def test_the_last_ticket_is_sold(office: Office, bound: dict[str, int]) -> None:
    """Whoever sells it shows it at once, whatever was remembered, and so when there is one again; no worker is up."""
    evening = on_sale(office, **bound)
    evening.issue(count=2)
    assert seen(office, evening) == {"on_sale"}
    last = evening.ticket(count=1)
    assert seen(office, evening) == ({"sold_out"} if bound != {"house": 0} else {"on_sale"})
    evening.desk.post(f"/api/tickets/{last['id']}/cancel", {"reason": "the singer's knee"}, 200)
    assert seen(office, evening) == {"on_sale"}


def test_a_copy_knows_its_zones_and_an_event_without_layout_forgets_them(office: Office) -> None:
    evening = on_sale(office, house=9, floor=2)
    copy = evening.desk.post(f"{evening.path}/copy", {"start_at": EVENING + 2 * DAY})
    other = Evening(evening.desk, evening.venue, copy)
    evening.desk.ask("DELETE", f"{evening.path}/layout")
    for one in (evening, other):
        if one is other:
            one.desk.post(f"{one.path}/publish", {}, 200)
        one.issue(count=2)
    assert evening.desk.get(evening.path)["sale_status"] == "on_sale"
    assert other.desk.get(other.path)["sale_status"] == "sold_out"
