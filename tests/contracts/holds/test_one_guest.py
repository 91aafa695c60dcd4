"""One membership admits one guest: counted when seats are held, and when tickets are issued."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app_server import AppServer
from tests.builders import MINUTE, a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.holds.test_group_holds import ask, ids
from tests.contracts.seating.stage import a_layout, a_seat, floor, stalls

MEMBER = {"id": "m-1"}


@pytest.fixture
def lounge(app_server: AppServer) -> SeatedEvent:
    """Public stalls, and a lounge for friends of the house."""
    zone: dict[str, Any] = {"name": "Lounge", "zone_type": "reserved_seating", "access_mode": "membership_tier"}
    zone |= {"membership_tier": "friends", "seats": [a_seat("L", number) for number in range(1, 7)]}
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls(), zone, floor()]))
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type())
    return sale


def a_card(sale: SeatedEvent) -> str:
    return str(sale.api.post("/api/memberships", {"id": "m-1", "tier": "friends"})["card"])


def test_a_card_holds_one_seat_in_the_lounge_whoever_shows_it(lounge: SeatedEvent) -> None:
    card, first = a_card(lounge), lounge.guest()
    held = lounge.reserve(first, "L-1", membership=card)
    lounge.reserve(first, "L-1", 200, membership=card)
    for who in (first, lounge.guest()):
        assert lounge.refused(who, "L-3", membership=card) == (409, "membership_in_use")
    lounge.reserve(lounge.guest(), "A-1", membership=card)  # where everybody may sit a card says nothing
    assert ask(lounge, lounge.guest(), 409, seat_ids=ids(lounge, "L-3", "L-4"), membership=card)["error"]["code"] == (
        "membership_in_use"
    )
    assert first.ask("DELETE", f"/api/holds/{held['hold_id']}").status_code == 204
    lounge.reserve(lounge.guest(), "L-3", membership=card)
    lounge.app_server.advance(6 * MINUTE)
    lounge.reserve(lounge.guest(), "L-6", membership=card)


def test_a_ticket_counts_for_holds_and_a_hold_for_tickets(lounge: SeatedEvent) -> None:
    card = a_card(lounge)
    issued = {"ticket_type": 1, "seats": [{"seat_id": "L-1", "membership": MEMBER}]}
    held = lounge.reserve(lounge.guest(), "L-3", membership=card)
    assert lounge.api.refused("POST", f"{lounge.path}/tickets", issued) == (403, "zone_access_denied")
    bought = {"ticket_type": 1, "holds": [held["hold_id"]], "seats": [{"seat_id": "L-3", "membership": MEMBER}]}
    ticket = lounge.api.post(f"{lounge.path}/tickets", bought)["items"][0]
    assert lounge.refused(lounge.guest(), "L-6", membership=card) == (409, "membership_in_use")
    lounge.api.ask("POST", f"/api/tickets/{ticket['id']}/cancel", {})
    lounge.reserve(lounge.guest(), "L-6", membership=card)


def test_a_member_who_asks_for_the_best_two_is_not_led_into_the_lounge(lounge: SeatedEvent) -> None:
    card = a_card(lounge)
    two = ask(lounge, lounge.guest(), best=2, membership=card)["holds"]
    assert {each["block_name"] for each in two} == {"Stalls"}
    alone = ask(lounge, lounge.guest(), best=1, zone_ids=[lounge.zones["Lounge"]], membership=card)["holds"]
    assert {each["block_name"] for each in alone} == {"Lounge"}
