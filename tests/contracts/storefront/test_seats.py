"""Seats of the shop, from the picker's prices to the tickets: what was shown is what is offered, ordered and paid."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import orjson
import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import a_ticket_type
from tests.contracts.checkout.shop_floor import ACCOUNT, Shop
from tests.contracts.holds.seated_event import a_seated_event
from tests.contracts.seating.stage import a_layout, a_seat, floor, stalls
from tests.contracts.storefront.browsing import Browser
from tests.contracts.storefront.conftest import TIMES
from tests.contracts.storefront.test_buying import ADA

FRONT, REAR = {"name": "Front", "price_cents": 6500}, {"name": "Rear", "price_cents": 4500}


@pytest.fixture
def house(app_server: AppServer) -> Shop:
    """Row A is Front, row B is Rear, row C is neither; each type is sold in the whole of the stalls."""
    category = {"A": "Front", "B": "Rear", "C": ""}
    seats = [a_seat(row, number, price_category=category[row]) for row in category for number in range(1, 9)]
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls() | {"seats": seats}, floor()]), **TIMES)
    sale.api.patch("/api/organisation/checkout", ACCOUNT)
    front, rear = (
        sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(zone=1, fee_cents=0, **each))["number"]
        for each in (FRONT, REAR)
    )
    app_server.run_worker()
    return Shop(sale, front, rear)


class Guest:
    """A browser with a session, which the script of the picker has begun."""

    def __init__(self, house: Shop) -> None:
        self.sale, self.browser = house.sale, Browser.at(house.app_server)
        self.path = f"/o/{self.sale.slug}/events/{self.sale.event['slug']}"
        made = self.browser.client.post(f"/api/o/{self.sale.slug}/session").json
        assert made is not None
        self.api = ApiClient(self.browser.client, {"X-CSRF-Token": made["csrf_token"]})

    def prices(self, category: str) -> list[tuple[str, int]]:
        """The types and prices that the picker shows for the seats of a category in the stalls."""
        self.browser.get(f"{self.path}/seats")
        (config,) = re.findall(r'data-config="([^"]*)"', self.browser.text)
        entries: list[dict[str, Any]] = orjson.loads(unescape(config))["prices"]
        (found,) = [each["types"] for each in entries if (each["zone"], each["category"]) == (1, category)]
        return [(each["name"], each["cents"]) for each in found]

    def hold(self, *names: str) -> list[str]:
        """Hold seats as the picker does."""
        body = {"seat_ids": [self.sale.seats[name][0] for name in names]}
        return [each["hold_id"] for each in self.api.post(f"{self.sale.path}/holds", body)["data"]["holds"]]


def test_a_seat_costs_at_the_end_what_the_picker_showed(house: Shop) -> None:
    guest = Guest(house)
    assert guest.prices("Front") == [("Front", 6500)]
    (hold,) = guest.hold("A-1")
    words = guest.browser.get(f"{guest.path}/checkout")
    assert "1 \N{MULTIPLICATION SIGN} Front" in words and "Order and pay €65.00" in words
    assert "Rear" not in words and "<select" not in guest.browser.text, "there is nothing to ask"
    chosen_by_hand = {f"seat-{hold}": house.floor}
    assert "Please transfer" in guest.browser.send("/checkout", **ADA, method="invoice", **chosen_by_hand)
    (order,) = house.api.get("/api/orders")["items"]
    assert order["total_cents"] == 6500
    house.note(order, "invoice", reference="1")
    words = guest.browser.get(guest.browser.path)
    (line,) = house.shown(order)["lines"]
    assert line["ticket_type_name"] == "Front" and line["ticket"]["confirmation_code"] in words
    assert "Your tickets are here" in words and guest.browser.text.count('class="shop-ticket-code"') == 1


def test_where_several_types_are_sold_for_a_seat_its_buyer_says_which(house: Shop) -> None:
    guest = Guest(house)
    assert guest.prices("") == [("Front", 6500), ("Rear", 4500)]
    _, unnamed = guest.hold("B-1", "C-1")
    guest.browser.get(f"{guest.path}/checkout")
    assert re.findall(r'<select[^>]* name="seat-([^"]*)"', guest.browser.text) == [unnamed]
    assert "Order and pay €110.00" in guest.browser.words, "both as the first type of theirs"
    chosen = ADA | {f"seat-{unnamed}": house.floor}
    assert "comes to €90.00" in guest.browser.send("/checkout", **chosen, method="invoice")
    assert house.api.get("/api/orders")["items"] == [], "nobody orders another sum than the one that was shown"
    assert "Order and pay €90.00" in guest.browser.words and ADA["email"] in guest.browser.text
    guest.browser.send("/checkout", method="invoice")
    (order,) = house.api.get("/api/orders")["items"]
    assert order["total_cents"] == 9000
    assert [line["ticket_type_name"] for line in house.shown(order)["lines"]] == ["Rear", "Rear"]


def test_an_order_of_a_seat_as_a_type_that_was_not_offered_is_refused(house: Shop) -> None:
    guest = Guest(house)
    (hold,) = guest.hold("A-1")
    wanted = {"holds": [{"hold_id": hold, "ticket_type": house.floor}]}
    assert guest.api.refused("POST", house.orders_path, wanted) == (409, "ticket_type_not_sold_here")
    assert house.api.get("/api/orders")["items"] == [], "and the seat stays held"
    sold = guest.api.post(house.orders_path, {"holds": [{"hold_id": hold, "ticket_type": house.stalls}]})
    assert sold["total_cents"] == 6500


def test_a_code_opens_another_type_for_a_seat_beside_the_one_that_it_has(house: Shop) -> None:
    path, guest = house.sale.path, Guest(house)
    hidden = a_ticket_type(name="Friends", price_cents=3000, fee_cents=0, zone=1, hidden=True)
    friends = house.api.post(f"{path}/ticket-types", hidden)["number"]
    batch = {"kind": "presale", "name": "Friends", "codes": 1, "max_uses": 1, "ticket_types": [friends]}
    house.api.post(f"{path}/code-batches", batch)
    code = house.api.ask("GET", f"{path}/code-batches/1/codes").text.split()[1]
    (hold,) = guest.hold("A-1")
    guest.browser.get(f"{guest.path}/tickets")
    guest.browser.send("/tickets", code=code, use="code")
    words = guest.browser.get(f"{guest.path}/checkout")
    assert "Front, €65.00" in words and "Friends, €30.00" in words and "Rear" not in words
    words = guest.browser.send("/checkout", update=1, **{f"seat-{hold}": friends})
    assert "Order and pay €30.00" in words and "missing" not in words, "asked for the total, nothing else"
    guest.browser.send("/checkout", **ADA, method="invoice")
    (order,) = house.api.get("/api/orders")["items"]
    assert order["total_cents"] == 3000
