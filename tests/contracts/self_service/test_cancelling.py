"""The buyer cancels alone, where the organiser allows it; memberships are linked after a proof."""

from __future__ import annotations

from typing import Any

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, HOUR
from tests.contracts.checkout.shop_floor import Shop, assert_everything_agrees
from tests.contracts.customers.people import ADA, a_customer
from tests.contracts.self_service.buyers import a_paid_order, accept, link_of, offer
from tests.services.mail_server import MailBox

ACCOUNT, MY = "/api/o/marquee/account", "/api/o/marquee/my"


def cancel(shop: Shop, who: ApiClient, order: dict[str, Any], status: int = 200, **body: Any) -> Any:
    return who.post(f"{shop.path(order)}/cancellation", body, status)


def allow(shop: Shop, **more: Any) -> None:
    shop.api.patch("/api/organisation/self-service", {"cancellations": True} | more)


def test_nobody_cancels_alone_unless_the_organiser_allows_it(shop: Shop) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    assert cancel(shop, ada, order, 409)["error"]["code"] == "cancellations_forbidden"


def test_the_fee_is_kept_the_seat_is_free_and_the_rest_is_owed(shop: Shop) -> None:
    allow(shop, cancel_fee_cents=500)
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1", "A-2")
    seen = cancel(shop, ada, order, lines=[1], preview=True)
    assert seen == {"lines": [1], "paid_cents": 5140, "kept_cents": 500, "refund_cents": 4640, "done": False}
    assert shop.shown(order)["state"] == "paid"
    assert cancel(shop, ada, order, lines=[1])["done"]
    after = shop.shown(order)
    assert (after["state"], after["due_cents"]) == ("partially_refunded", -4640)
    assert shop.sale.reserve(shop.guest(), "A-1")["hold_id"]
    assert_everything_agrees(shop)
    paid_back = shop.refund(order, lines=[])
    assert (paid_back["due_cents"], paid_back["refunded_cents"]) == (0, 4640)
    assert cancel(shop, ada, order, 409, lines=[1])["error"]["code"] == "line_not_refundable"


def test_a_fee_is_never_more_than_was_paid(shop: Shop) -> None:
    allow(shop, cancel_fee_cents=1_000_000)
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    assert cancel(shop, ada, order)["refund_cents"] == 0
    assert (shop.shown(order)["state"], shop.shown(order)["due_cents"]) == ("refunded", 0)
    assert_everything_agrees(shop)


def test_the_deadline_counts_from_the_start(shop: Shop) -> None:
    allow(shop, cancel_until_hours=48)
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    secret = ada.get(f"{shop.path(order)}/link")["secret"]
    by_link = ApiClient(shop.app_server.app.test_client(), {"X-Order-Secret": secret})
    shop.app_server.advance(28 * DAY - HOUR)
    assert cancel(shop, by_link, order, preview=True)["refund_cents"] == 5140
    shop.app_server.advance(HOUR)
    assert cancel(shop, by_link, order, 409)["error"]["code"] == "too_late_to_cancel"


def test_what_was_passed_on_is_not_given_back_and_an_open_offer_ends(shop: Shop, mail_box: MailBox) -> None:
    allow(shop)
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1", "A-2", "A-3")
    offer(shop, ada, order, line=0)
    accept(shop, link_of(shop, mail_box))
    assert cancel(shop, ada, order, 409, lines=[1])["error"]["code"] == "ticket_passed_on"
    offer(shop, ada, order, line=1, to="carol@friends.example")
    code = link_of(shop, mail_box)
    assert cancel(shop, ada, order)["lines"] == [2, 3], "without lines: all that are still hers"
    assert accept(shop, code, status=404)["error"]["code"] == "link_ended"


def test_a_stranger_cancels_nothing(app_server: AppServer, shop: Shop) -> None:
    allow(shop)
    order = a_paid_order(shop, shop.guest(), "A-1")
    assert shop.guest().refused("POST", f"{shop.path(order)}/cancellation", {}) == (404, "order_not_found")
    eve = a_customer(app_server, shop.sale.organisation_id, "eve@buyers.example")
    assert eve.refused("POST", f"{shop.path(order)}/cancellation", {}) == (404, "order_not_found")
    assert eve.refused("GET", shop.path(order)) == (404, "order_not_found")


def test_a_customer_sees_and_cancels_orders_from_any_browser(app_server: AppServer, shop: Shop) -> None:
    allow(shop)
    order = a_paid_order(shop, shop.guest(), "A-1", buyer={"email": ADA})
    ada = a_customer(app_server, shop.sale.organisation_id)
    assert [row["id"] for row in ada.get(f"{MY}/orders")["items"]] == [order["id"]]
    assert ada.get(shop.path(order))["state"] == "paid"
    assert cancel(shop, ada, order)["done"]
    assert ada.get(f"{MY}/tickets")["items"][0]["state"] == "cancelled"


def test_a_membership_is_linked_by_its_card_or_by_number_and_address(app_server: AppServer, shop: Shop) -> None:
    card = shop.api.post("/api/memberships", {"tier": "patron", "id": "M-1"})["card"]
    shop.api.post("/api/memberships", {"tier": "patron", "id": "M-2", "email": ADA})
    ada, eve = (a_customer(app_server, shop.sale.organisation_id, mail) for mail in (ADA, "eve@buyers.example"))
    path = f"{MY}/membership"
    assert eve.refused("POST", path, {"membership": "M-2"}) == (400, "membership_not_proved")
    assert eve.refused("POST", path, {"membership": "M-1"}) == (400, "membership_not_proved")
    assert ada.post(path, {"membership": "M-2"}, 200)["id"] == "M-2"
    assert ada.get(ACCOUNT)["membership_id"] == "M-2"
    assert eve.post(path, {"membership": card}, 200)["id"] == "M-1"
    assert ada.refused("POST", path, {"membership": card}) == (409, "membership_linked")
    assert eve.ask("DELETE", path).status_code == 204
    assert ada.post(path, {"membership": card}, 200)["id"] == "M-1"


def test_the_linked_membership_counts_when_seats_are_held(app_server: AppServer, shop: Shop) -> None:
    card = shop.api.post("/api/memberships", {"tier": "patron", "id": "M-1"})["card"]
    guest = shop.guest()
    refused = guest.refused("POST", shop.sale.reserve_path("A-1"), {"membership": "mine"})
    assert refused == (400, "membership_not_found")
    ada = a_customer(app_server, shop.sale.organisation_id, client=guest.client)
    ada.post(f"{MY}/membership", {"membership": card}, 200)
    assert guest.post(shop.sale.reserve_path("A-1"), {"membership": "mine"})["data"]["hold_id"]
    assert shop.sale.rows("SELECT membership_id FROM holds") == [("M-1",)]
