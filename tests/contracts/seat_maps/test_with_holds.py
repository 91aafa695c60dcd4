"""Guests hold and release seats over HTTP, and open maps show it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.holds.seated_event import SeatedEvent as Shop
from tests.contracts.holds.seated_event import a_seated_event as a_shop
from tests.contracts.seat_maps.mapped_event import FREE, HELD, TAKEN, Page


@dataclass
class Shown:
    """The map of an event on sale."""

    shop: Shop

    @property
    def app_server(self) -> AppServer:
        return self.shop.app_server

    @property
    def path(self) -> str:
        return f"{self.shop.path}/seatmap"

    def page(self, api: ApiClient) -> Page:
        response = api.get(self.path)
        return Page(self, api, response["plan"], response["state"])


@pytest.fixture
def shop(app_server: AppServer) -> Shop:
    """An event on sale: two rows of eight seats and standing places for three hundred."""
    return a_shop(app_server)


def test_held_and_released_seat_shows_on_open_maps(shop: Shop, app_server: AppServer) -> None:
    guest, stranger = shop.guest(), shop.guest()
    page, organiser = Shown(shop).page(stranger), Shown(shop).page(shop.api)
    hold = shop.reserve(guest, "A-1")
    app_server.run_worker()
    assert page.follow() == [[1, TAKEN]]
    assert organiser.follow() == [[1, HELD]]
    assert guest.ask("DELETE", f"/api/holds/{hold['hold_id']}").status_code in {200, 204}
    app_server.run_worker()
    assert page.follow() == [[1, FREE]]
    shop.reserve(stranger, "A-1")
    app_server.run_worker()
    assert page.follow() == [[1, TAKEN]]


def test_expired_hold_is_free_before_and_after_it_is_swept(shop: Shop, app_server: AppServer) -> None:
    guest = shop.guest()
    page = Shown(shop).page(guest)
    shop.reserve(guest, "A-1")
    app_server.run_worker()
    page.follow()
    app_server.advance(5 * MINUTE)
    assert page.follow() == [[1, FREE]]
    app_server.advance(11_000)
    app_server.run_worker()
    app_server.run_worker()
    assert shop.states() == {"A-1": 0}
    page.follow()
    assert page.seat(1) == FREE
    assert Shown(shop).page(guest).seat(1) == FREE


def test_holds_of_a_cancelled_event_leave_the_map(shop: Shop, app_server: AppServer) -> None:
    guest, page = shop.guest(), Shown(shop).page(shop.api)
    shop.reserve(guest, "A-1")
    app_server.run_worker()
    page.follow()
    shop.api.post(f"{shop.path}/cancel", {"reason": "storm"}, 200)
    app_server.run_worker()
    page.follow()
    assert page.seat(1) == FREE
    assert guest.refused("GET", Shown(shop).path) == (404, "event_not_found")


def test_map_shows_suspended_and_resumed_holds(shop: Shop, app_server: AppServer) -> None:
    guest, page = shop.guest(), Shown(shop).page(shop.api)
    shop.reserve(guest, "A-1")
    app_server.run_worker()
    shop.api.post(f"{shop.path}/postpone", {"reason": "storm"}, 200)
    app_server.run_worker()
    app_server.advance(60 * MINUTE)
    page.follow()
    assert page.seat(1) == HELD
    again = app_server.now + 24 * 60 * MINUTE
    shop.api.post(f"{shop.path}/reschedule", {"rescheduled_at": again, "reason": "over"}, 200)
    app_server.run_worker()
    page.follow()
    assert page.seat(1) == HELD
    app_server.advance(5 * MINUTE)
    page.follow()
    assert page.seat(1) == FREE


def test_held_standing_places_are_counted(shop: Shop, app_server: AppServer) -> None:
    guest = shop.guest()
    page = Shown(shop).page(guest)
    guest.post(f"{shop.path}/holds", {"count": 4, "zone_id": shop.zones["Floor"]})
    app_server.run_worker()
    changes = page.changes()
    assert (changes["seats"], changes["zones"][1]["available"]) == ([], 296)
    assert shop.api.get(f"{shop.path}/occupancy")["held"] == 4
    page.version = changes["version"]
    app_server.advance(5 * MINUTE)
    assert page.changes()["zones"][1]["available"] == 300
