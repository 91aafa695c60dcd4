"""Guests hold, give up and buy over HTTP, and open maps show it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.builders import MINUTE
from tests.contracts.holds.house import House as Shop
from tests.contracts.holds.house import a_house as a_shop
from tests.contracts.house_plan.house import FREE, HELD, TAKEN, Page
from tests.office import Desk, Office


@dataclass
class Shown:
    """The map of a house that sells."""

    shop: Shop

    @property
    def office(self) -> Office:
        return self.shop.office

    @property
    def path(self) -> str:
        return f"{self.shop.path}/seatmap"

    def page(self, desk: Desk) -> Page:
        answer = desk.get(self.path)
        return Page(self, desk, answer["plan"], answer["state"])


@pytest.fixture
def shop(office: Office) -> Shop:
    """Two rows of eight seats, a floor for three hundred, and an event on sale there."""
    return a_shop(office)


def test_seat_that_a_guest_holds_gives_up_and_holds_again(shop: Shop, office: Office) -> None:
    guest, stranger = shop.guest(), shop.guest()
    page, organiser = Shown(shop).page(stranger), Shown(shop).page(shop.desk)
    hold = shop.reserve(guest, "A-1")
    office.work()
    assert page.follow() == [[1, TAKEN]]
    assert organiser.follow() == [[1, HELD]]
    assert guest.ask("DELETE", f"/api/holds/{hold['hold_id']}").status_code in {200, 204}
    office.work()
    assert page.follow() == [[1, FREE]]
    shop.reserve(stranger, "A-1")
    office.work()
    assert page.follow() == [[1, TAKEN]]


def test_hold_that_is_over_is_free_on_the_map_and_then_swept(shop: Shop, office: Office) -> None:
    guest = shop.guest()
    page = Shown(shop).page(guest)
    shop.reserve(guest, "A-1")
    office.work()
    page.follow()
    office.advance(5 * MINUTE)
    assert page.follow() == [[1, FREE]]
    office.advance(11_000)
    office.work()
    office.work()
    assert shop.states() == {"A-1": 0}
    page.follow()
    assert page.seat(1) == FREE
    assert Shown(shop).page(guest).seat(1) == FREE


def test_holds_of_an_event_that_is_called_off_leave_the_organisers_map(shop: Shop, office: Office) -> None:
    guest, page = shop.guest(), Shown(shop).page(shop.desk)
    shop.reserve(guest, "A-1")
    office.work()
    page.follow()
    shop.desk.post(f"{shop.path}/cancel", {"reason": "storm"}, 200)
    office.work()
    page.follow()
    assert page.seat(1) == FREE
    assert guest.refused("GET", Shown(shop).path) == (404, "event_not_found")


def test_time_of_holds_that_stands_still_and_goes_on_is_known_to_the_map(shop: Shop, office: Office) -> None:
    guest, page = shop.guest(), Shown(shop).page(shop.desk)
    shop.reserve(guest, "A-1")
    office.work()
    shop.desk.post(f"{shop.path}/postpone", {"reason": "storm"}, 200)
    office.work()
    office.advance(60 * MINUTE)
    page.follow()
    assert page.seat(1) == HELD
    again = office.now + 24 * 60 * MINUTE
    shop.desk.post(f"{shop.path}/reschedule", {"rescheduled_at": again, "reason": "over"}, 200)
    office.work()
    page.follow()
    assert page.seat(1) == HELD
    office.advance(5 * MINUTE)
    page.follow()
    assert page.seat(1) == FREE


def test_places_of_a_floor_are_counted_while_they_are_held(shop: Shop, office: Office) -> None:
    guest = shop.guest()
    page = Shown(shop).page(guest)
    guest.post(f"{shop.path}/holds", {"count": 4, "zone_id": shop.zones["Floor"]})
    office.work()
    news = page.ask()
    assert (news["seats"], news["zones"][1]["available"]) == ([], 296)
    assert shop.desk.get(f"{shop.path}/occupancy")["held"] == 4
    page.version = news["version"]
    office.advance(5 * MINUTE)
    assert page.ask()["zones"][1]["available"] == 300
