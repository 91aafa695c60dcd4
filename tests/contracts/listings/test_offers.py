"""What lists say about tickets: the least price, whether any are left, and that some events have none at all."""

from __future__ import annotations

from typing import Any

from sync_server.plumbing.api.schemas import iso
from tests.builders import EVENING, HOUR, a_ticket_request, a_ticket_type
from tests.contracts.listings.town import FEED, Town


def card(town: Town, event: dict[str, Any]) -> tuple[str, Any]:
    """The sale status and the offer, in the feed and on the page; organisers are told the same status."""
    town.clear_caches()
    (listed,) = [each for each in town.page()["items"] if each["id"] == event["id"]]
    page = town.ask(f"{FEED}/{event['id']}").json
    assert (listed["sale_status"], listed["offer"]) == (page["sale_status"], page["offer"])
    told = town.api.get(f"/api/events/{event['id']}"), *town.api.get("/api/events")["items"]
    assert {each["sale_status"] for each in told if each["id"] == event["id"]} == {listed["sale_status"]}
    return listed["sale_status"], listed["offer"]


def offered(least: int, most: int, *, left: bool = True) -> dict[str, Any]:
    """What the shop offers, at these prices."""
    return {"from_cents": least, "to_cents": most, "currency": "EUR", "left": left, "begins_at": None}


def add(town: Town, event: dict[str, Any], **kind: Any) -> None:
    town.api.post(f"/api/events/{event['id']}/ticket-types", a_ticket_type(**kind))


def test_an_event_without_tickets_is_not_said_to_be_on_sale(town: Town) -> None:
    event = town.publish("Lecture")
    assert card(town, event) == ("closed", None)
    add(town, event)
    assert card(town, event) == ("on_sale", offered(3500, 3500))


def test_the_price_is_that_of_the_cheapest_ticket_that_is_left(town: Town) -> None:
    event = town.publish("Night Music")
    add(town, event, name="Front", price_cents=6000, fee_cents=150)
    add(town, event, name="Rear", price_cents=2000, quantity=1)
    add(town, event, name="Early bird", price_cents=1000, sale_end_at=EVENING - HOUR)
    assert card(town, event)[1] == offered(2000, 6150)
    path = f"/api/events/{event['id']}/tickets"
    town.api.post(path, a_ticket_request(ticket_type=2, count=1))
    assert card(town, event)[1] == offered(6150, 6150)
    town.api.post(path, a_ticket_request(ticket_type=1, count=100))
    assert card(town, event)[1] == offered(2000, 6150, left=False)


def test_hidden_tickets_have_no_price_and_the_sale_is_still_on(town: Town) -> None:
    event = town.publish("Members only")
    add(town, event, hidden=True)
    assert card(town, event) == ("on_sale", None)


def test_a_quantity_of_several_days_is_never_said_to_be_gone(town: Town) -> None:
    event = town.publish("Festival", end_at=EVENING + 72 * HOUR)
    add(town, event, quantity=2)
    town.api.post(f"/api/events/{event['id']}/tickets", a_ticket_request(count=2))
    assert card(town, event)[1]["left"] is True


def test_an_event_whose_tickets_all_come_later_is_not_said_to_be_on_sale(town: Town) -> None:
    event = town.publish("Night Music")
    begins = town.app_server.now + HOUR
    add(town, event, name="Early bird", sale_start_at=begins)
    add(town, event, name="Regular", price_cents=4000, sale_start_at=begins + HOUR)
    status, offer = card(town, event)
    assert (status, offer["begins_at"]) == ("upcoming", iso(begins))
    town.app_server.now = begins
    assert (card(town, event)[0], card(town, event)[1]["begins_at"]) == ("on_sale", None)


def test_an_event_whose_ticket_types_are_all_gone_is_sold_out_however_much_room_there_is(town: Town) -> None:
    event = town.publish("Night Music", capacity=100)
    add(town, event, quantity=1)
    town.api.post(f"/api/events/{event['id']}/tickets", a_ticket_request(count=1))
    assert card(town, event)[0] == "sold_out"


def test_an_event_whose_ticket_types_are_no_longer_sold_is_closed(town: Town) -> None:
    event = town.publish("Night Music")
    ends = town.app_server.now + HOUR
    add(town, event, sale_end_at=ends)
    town.app_server.now = ends
    assert card(town, event)[0] == "on_sale"
    town.app_server.now = ends + 1
    assert card(town, event) == ("closed", None)


def test_similar_events_are_those_that_have_tickets(town: Town) -> None:
    event = town.publish("Night Music", category="Concert")
    town.publish("Without tickets", category="Concert")
    add(town, town.publish("Day Music", category="Concert"))
    found = town.ask(f"{FEED}/{event['id']}/similar").json["items"]
    assert [each["name"] for each in found] == ["Day Music"]
