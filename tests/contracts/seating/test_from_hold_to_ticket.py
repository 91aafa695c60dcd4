"""What a guest holds becomes tickets, and nobody else's wish takes it meanwhile."""

from __future__ import annotations

import pytest

from shared.errors import Conflict
from sync_server.tickets import service
from sync_server.tickets.rules import Seat
from tests.builders import a_ticket_type, an_event
from tests.contracts.holds.house import House, a_house
from tests.office import Office


@pytest.fixture
def house(office: Office) -> House:
    """An event on sale, with one ticket type."""
    made = a_house(office)
    made.desk.post(f"{made.path}/ticket-types", a_ticket_type())
    return made


def buy(house: House, *names: str, holds: tuple[str, ...]) -> None:
    """Issue tickets on these seats, from these holds."""
    wish = service.Wish(1, seats=[Seat(seat_id=name) for name in names], holds=holds)
    with house.office.database.writing() as session:
        service.issue(session, house.organisation_id, house.id, wish, house.deed())


def test_held_seat_is_sold_to_whoever_holds_it_and_to_nobody_else(house: House) -> None:
    hold = house.reserve(house.guest(), "A-1")["hold_id"]
    body = {"ticket_type": 1, "seats": [{"seat_id": "A-1"}]}
    assert house.desk.refused("POST", f"{house.path}/tickets", body) == (409, "seat_taken")
    buy(house, "A-1", "A-2", holds=(hold,))
    assert house.states() == {"A-1": 2, "A-2": 2}
    assert house.rows("SELECT status FROM holds") == [("converted",)]


def test_box_office_sells_a_guest_what_the_guest_holds(house: House) -> None:
    hold = house.reserve(house.guest(), "A-1")["hold_id"]
    body = {"ticket_type": 1, "seats": [{"seat_id": "A-1"}], "holds": [hold]}
    made = house.desk.post(f"{house.path}/tickets", body)["items"]
    assert [ticket["seat_id"] for ticket in made] == ["A-1"]
    assert house.rows("SELECT status FROM holds") == [("converted",)]
    assert house.desk.refused("POST", f"{house.path}/tickets", body) == (409, "hold_expired"), "a hold buys once"


def test_holds_of_other_houses_buy_nothing(house: House, office: Office) -> None:
    rival = a_house(office, slug="rivals")
    hold = rival.reserve(rival.guest(), "A-1")["hold_id"]
    body = {"ticket_type": 1, "seats": [{"seat_id": "A-1"}], "holds": [hold]}
    assert house.desk.refused("POST", f"{house.path}/tickets", body) == (409, "hold_expired")
    assert house.states() == {} and rival.rows("SELECT status FROM holds") == [("active",)]


def test_places_held_at_an_event_without_a_layout_become_tickets(office: Office, house: House) -> None:
    event = house.desk.post("/api/events", an_event(house.event["venue_id"], name="Open Air", capacity=3))
    path = f"/api/events/{event['id']}"
    house.desk.post(f"{path}/ticket-types", a_ticket_type(quantity=3))
    house.desk.post(f"{path}/publish", {}, 200)
    held = house.guest().post(f"{path}/holds", {"count": 2})["data"]["holds"][0]["hold_id"]
    assert house.desk.refused("POST", f"{path}/tickets", {"ticket_type": 1, "count": 2})[0] == 409, "one place is left"
    assert house.desk.refused("POST", f"{path}/tickets", {"ticket_type": 1, "count": 1, "holds": [held]})[0] == 400
    house.desk.post(f"{path}/tickets", {"ticket_type": 1, "count": 2, "holds": [held]})
    assert house.rows("SELECT held FROM event_places WHERE event_id = :event", event=event["id"]) == [(0,)]
    house.desk.post(f"{path}/tickets", {"ticket_type": 1, "count": 1})
    assert house.desk.get(path)["tickets_issued"] == 3


def test_hold_that_is_over_buys_nothing(house: House) -> None:
    hold = house.reserve(house.guest(), "A-1")["hold_id"]
    house.office.advance(300_000)
    with pytest.raises(Conflict) as refused:
        buy(house, "A-1", holds=(hold,))
    assert refused.value.error_code == "hold_expired"
    assert house.desk.get(house.path)["tickets_issued"] == 0


def test_figures_count_what_became_of_holds(house: House) -> None:
    hold = house.reserve(house.guest(), "A-1")["hold_id"]
    buy(house, "A-1", holds=(hold,))
    house.reserve(house.guest(), "B-1")
    house.office.advance(311_000)
    house.office.work()
    figures = {each["name"]: each["percent"] for each in house.desk.get(f"{house.path}/seating/metrics")["items"]}
    assert (figures["hold_to_sale"], figures["hold_expiry"]) == (50.0, 50.0)


def test_guest_who_holds_keeps_his_seat_from_a_ticket_that_was_cancelled(house: House) -> None:
    made = house.desk.post(f"{house.path}/tickets", {"ticket_type": 1, "seats": [{"seat_id": "A-1"}]})["items"][0]
    assert house.refused(house.guest(), "A-1") == (409, "seat_not_available")
    house.desk.post(f"/api/tickets/{made['id']}/cancel", {}, 200)
    assert house.reserve(house.guest(), "A-1")["hold_id"]
