"""Visitors see at once that an event is sold out, whichever limit was reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY, EVENING, a_ticket_type, a_venue, an_event
from tests.contracts.listings.town import FEED


@pytest.fixture
def app_server(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(database_url, tmp_path)
    yield made
    made.close()


def on_sale(app_server: AppServer, *, venue_capacity: int, own: int = 0, floor: int | None = None) -> Concert:
    """An event that is limited by its venue, by its own capacity, or by the only zone of its layout."""
    api = app_server.api(app_server.organisation("marquee"))
    venue = api.post("/api/venues", a_venue(max_capacity=venue_capacity))
    concert = Concert(api, venue, api.post("/api/events", an_event(venue["id"], capacity=own)))
    kind: dict[str, Any] = a_ticket_type(quantity=3)
    if floor is not None:
        zone = {"name": "Floor", "zone_type": "ga_standing", "capacity": floor}
        layouts = f"/api/venues/{venue['id']}/layouts"
        layout = api.post(layouts, {"name": "Standing", "zones": [zone]})["id"]
        api.post(f"{layouts}/{layout}/activate", {}, 200)
        api.put(f"{concert.path}/layout", {"layout_id": layout})
        kind["zone"] = 1
    api.post(f"{concert.path}/ticket-types", kind)
    api.post(f"{concert.path}/publish", {}, 200)
    return concert


def sale_statuses(app_server: AppServer, concert: Concert) -> set[str]:
    """The sale status in the feed, on the public page, and for the organiser."""
    visitor = ApiClient(app_server.app.test_client(), {})
    (card,) = visitor.get(FEED)["items"]
    pages = card, visitor.get(f"{FEED}/{concert.event['id']}"), concert.api.get(concert.path)
    return {page["sale_status"] for page in pages}


@pytest.mark.parametrize(
    "bound",
    [{"venue_capacity": 3}, {"venue_capacity": 9, "own": 3}, {"venue_capacity": 9, "floor": 3}],
)
def test_selling_the_last_ticket_shows_at_once(app_server: AppServer, bound: dict[str, int]) -> None:
    """So does a ticket that comes back; without a worker, and whatever was cached."""
    concert = on_sale(app_server, **bound)
    concert.issue(count=2)
    assert sale_statuses(app_server, concert) == {"on_sale"}
    last = concert.ticket(count=1)
    assert sale_statuses(app_server, concert) == {"sold_out"}
    concert.api.post(f"/api/tickets/{last['id']}/cancel", {"reason": "the singer's knee"}, 200)
    assert sale_statuses(app_server, concert) == {"on_sale"}


def test_selling_the_last_ticket_of_every_type_shows_though_the_house_has_room(app_server: AppServer) -> None:
    """To the organiser at once, to visitors as soon as what was cached is forgotten."""
    concert = on_sale(app_server, venue_capacity=0)
    concert.issue(count=3)
    for family in ("feed", "event"):
        app_server.parts.cache.invalidate_family("public", family)
    assert sale_statuses(app_server, concert) == {"sold_out"}


def test_zone_limits_are_copied_with_the_event_and_dropped_with_the_layout(app_server: AppServer) -> None:
    concert = on_sale(app_server, venue_capacity=9, floor=2)
    copy = concert.api.post(f"{concert.path}/copy", {"start_at": EVENING + 2 * DAY})
    other = Concert(concert.api, concert.venue, copy)
    concert.api.ask("DELETE", f"{concert.path}/layout")
    for one in (concert, other):
        if one is other:
            one.api.post(f"{one.path}/publish", {}, 200)
        one.issue(count=2)
    assert concert.api.get(concert.path)["sale_status"] == "on_sale"
    assert other.api.get(other.path)["sale_status"] == "sold_out"
