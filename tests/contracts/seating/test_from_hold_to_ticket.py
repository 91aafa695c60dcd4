"""Held seats become tickets of whoever holds them, and nobody else can buy them."""

from __future__ import annotations

import pytest

from shared.errors import Conflict
from sync_server.tickets import service
from sync_server.tickets.rules import Seat
from tests.app_server import AppServer
from tests.builders import a_ticket_type, an_event
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event


@pytest.fixture
def seated(app_server: AppServer) -> SeatedEvent:
    """An event on sale, with one ticket type."""
    seated = a_seated_event(app_server)
    seated.api.post(f"{seated.path}/ticket-types", a_ticket_type())
    return seated


def buy(seated: SeatedEvent, *names: str, holds: tuple[str, ...]) -> None:
    """Issue tickets on these seats, from these holds."""
    request = service.IssueRequest(1, seats=[Seat(seat_id=name) for name in names], holds=holds)
    with seated.app_server.database.writing() as session:
        service.issue(session, seated.organisation_id, seated.id, request, seated.context())


def test_held_seat_is_only_sold_to_its_holder(seated: SeatedEvent) -> None:
    hold = seated.reserve(seated.guest(), "A-1")["hold_id"]
    body = {"ticket_type": 1, "seats": [{"seat_id": "A-1"}]}
    assert seated.api.refused("POST", f"{seated.path}/tickets", body) == (409, "seat_taken")
    buy(seated, "A-1", "A-2", holds=(hold,))
    assert seated.states() == {"A-1": 2, "A-2": 2}
    assert seated.rows("SELECT status FROM holds") == [("converted",)]


def test_box_office_sells_a_guest_what_the_guest_holds(seated: SeatedEvent) -> None:
    hold = seated.reserve(seated.guest(), "A-1")["hold_id"]
    body = {"ticket_type": 1, "seats": [{"seat_id": "A-1"}], "holds": [hold]}
    made = seated.api.post(f"{seated.path}/tickets", body)["items"]
    assert [ticket["seat_id"] for ticket in made] == ["A-1"]
    assert seated.rows("SELECT status FROM holds") == [("converted",)]
    assert seated.api.refused("POST", f"{seated.path}/tickets", body) == (409, "hold_expired"), "a hold buys once"


def test_holds_of_other_organisations_buy_nothing(seated: SeatedEvent, app_server: AppServer) -> None:
    rival = a_seated_event(app_server, slug="rivals")
    hold = rival.reserve(rival.guest(), "A-1")["hold_id"]
    body = {"ticket_type": 1, "seats": [{"seat_id": "A-1"}], "holds": [hold]}
    assert seated.api.refused("POST", f"{seated.path}/tickets", body) == (409, "hold_expired")
    assert seated.states() == {} and rival.rows("SELECT status FROM holds") == [("active",)]


def test_places_held_at_an_event_without_a_layout_become_tickets(app_server: AppServer, seated: SeatedEvent) -> None:
    event = seated.api.post("/api/events", an_event(seated.event["venue_id"], name="Open Air", capacity=3))
    path = f"/api/events/{event['id']}"
    seated.api.post(f"{path}/ticket-types", a_ticket_type(quantity=3))
    seated.api.post(f"{path}/publish", {}, 200)
    held = seated.guest().post(f"{path}/holds", {"count": 2})["data"]["holds"][0]["hold_id"]
    assert seated.api.refused("POST", f"{path}/tickets", {"ticket_type": 1, "count": 2})[0] == 409, "one place is left"
    assert seated.api.refused("POST", f"{path}/tickets", {"ticket_type": 1, "count": 1, "holds": [held]})[0] == 400
    seated.api.post(f"{path}/tickets", {"ticket_type": 1, "count": 2, "holds": [held]})
    assert seated.rows("SELECT held FROM event_places WHERE event_id = :event", event=event["id"]) == [(0,)]
    seated.api.post(f"{path}/tickets", {"ticket_type": 1, "count": 1})
    assert seated.api.get(path)["tickets_issued"] == 3


def test_expired_hold_buys_nothing(seated: SeatedEvent) -> None:
    hold = seated.reserve(seated.guest(), "A-1")["hold_id"]
    seated.app_server.advance(300_000)
    with pytest.raises(Conflict) as refused:
        buy(seated, "A-1", holds=(hold,))
    assert refused.value.error_code == "hold_expired"
    assert seated.api.get(seated.path)["tickets_issued"] == 0


def test_figures_count_how_holds_ended(seated: SeatedEvent) -> None:
    hold = seated.reserve(seated.guest(), "A-1")["hold_id"]
    buy(seated, "A-1", holds=(hold,))
    seated.reserve(seated.guest(), "B-1")
    seated.app_server.advance(311_000)
    seated.app_server.run_worker()
    figures = {each["name"]: each["percent"] for each in seated.api.get(f"{seated.path}/seating/metrics")["items"]}
    assert (figures["hold_to_sale"], figures["hold_expiry"]) == (50.0, 50.0)


def test_seat_of_a_cancelled_ticket_can_be_held_again(seated: SeatedEvent) -> None:
    made = seated.api.post(f"{seated.path}/tickets", {"ticket_type": 1, "seats": [{"seat_id": "A-1"}]})["items"][0]
    assert seated.refused(seated.guest(), "A-1") == (409, "seat_not_available")
    seated.api.post(f"/api/tickets/{made['id']}/cancel", {}, 200)
    assert seated.reserve(seated.guest(), "A-1")["hold_id"]
