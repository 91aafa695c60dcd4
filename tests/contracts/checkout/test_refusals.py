"""What an order is refused for: by name, with everything else left as it was."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app_server import ApiClient
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type, an_event
from tests.contracts.checkout.shop_floor import Shop, a_shop, assert_everything_agrees


def refused(shop: Shop, who: ApiClient, holds: list[dict[str, Any]], **body: Any) -> tuple[int, str]:
    return who.refused("POST", shop.orders_path, {"holds": holds, **body})


def test_expired_hold_is_named_and_the_others_stay(shop: Shop) -> None:
    guest = shop.guest()
    early = shop.hold(guest, "A-1")
    shop.app_server.advance(3 * MINUTE)
    later = shop.hold(guest, "A-2")
    shop.app_server.advance(3 * MINUTE)
    response = guest.ask("POST", shop.orders_path, {"holds": early + later})
    assert (response.status_code, response.json["error"]["code"]) == (409, "hold_expired")  # type: ignore[index]
    assert response.json["error"]["details"]["holds"] == [early[0]["hold_id"]]  # type: ignore[index]
    assert guest.post(shop.orders_path, {"holds": later})["admissions"] == 1


def test_what_is_no_longer_held_is_said_in_words_also_after_the_sweep(shop: Shop) -> None:
    guest = shop.guest()
    gone = [*shop.hold(guest, "A-1", "B-1"), {"hold_id": shop.hold_places(guest, 2)}]
    for _ in range(2):
        shop.app_server.advance(6 * MINUTE)
        shop.run_jobs()
        error = guest.ask("POST", shop.orders_path, {"holds": gone}).json["error"]  # type: ignore[index]
        assert error["message"] == (
            "These are no longer held, because they expired or were released: Stalls, row A, seat 1;"
            " Stalls, row B, seat 1; 2 places in Floor. Choose those again; the others are still yours."
        )
        assert error["details"]["seats"] == ["A-1", "B-1"]
        assert error["details"]["holds"] == sorted(hold["hold_id"] for hold in gone)


def test_holds_of_somebody_else_cannot_be_ordered_and_are_not_described(shop: Shop) -> None:
    theirs, thief = shop.hold(shop.guest(), "A-1"), shop.guest()
    answer = thief.ask("POST", shop.orders_path, {"holds": theirs})
    assert answer.status_code == 409 and answer.json is not None
    assert answer.json["error"]["details"] == {"holds": [theirs[0]["hold_id"]], "seats": []}
    assert answer.json["error"]["message"].startswith("A hold has expired or was released.")
    assert refused(shop, thief, theirs) == (409, "hold_expired")


def test_hold_belongs_to_its_order_alone(shop: Shop) -> None:
    guest = shop.guest()
    holds = shop.hold(guest, "A-1")
    order = guest.post(shop.orders_path, {"holds": holds})
    hold = holds[0]["hold_id"]
    assert refused(shop, guest, holds) == (409, "hold_ordered"), "one hold, one order"
    assert guest.refused("DELETE", f"/api/holds/{hold}") == (409, "hold_ordered")
    assert guest.refused("POST", f"/api/holds/{hold}/extend") == (409, "hold_ordered")
    issue = {"ticket_type": shop.stalls, "seats": [{"seat_id": "A-1"}], "holds": [hold]}
    assert shop.api.refused("POST", f"{shop.sale.path}/tickets", issue) == (409, "hold_ordered")
    assert guest.ask("DELETE", shop.path(order)).status_code == 204
    assert shop.sale.states() == {"A-1": 0}
    assert guest.ask("DELETE", shop.path(order)).status_code == 204, "cancelled is cancelled"
    assert_everything_agrees(shop)


def test_leaving_the_shop_keeps_what_is_ordered(shop: Shop) -> None:
    guest = shop.guest()
    order = shop.order(guest, "A-1")
    shop.sale.reserve(guest, "A-2")
    assert guest.ask("DELETE", f"/api/o/{shop.sale.slug}/session").status_code == 204
    assert shop.sale.states() == {"A-1": 1, "A-2": 0}
    assert shop.note(order)["state"] == "paid"


def test_places_take_the_ticket_types_that_are_named(shop: Shop) -> None:
    zone = shop.types()["Floor"]["zone"]
    reduced = a_ticket_type(name="Reduced", price_cents=1000, quantity=10, zone=zone)
    number = shop.api.post(f"{shop.sale.path}/ticket-types", reduced)["number"]
    guest = shop.guest()
    hold = shop.hold_places(guest, 3)
    assert refused(shop, guest, [{"hold_id": hold}]) == (400, "ticket_type_required")
    counts = [{"ticket_type": shop.floor, "count": 1}, {"ticket_type": number, "count": 1}]
    assert refused(shop, guest, [{"hold_id": hold, "ticket_types": counts}]) == (400, "places_differ")
    assert refused(shop, guest, [{"hold_id": hold, "ticket_type": shop.stalls, "count": 3}]) == (
        409,
        "ticket_type_not_sold_here",
    )
    counts[1]["count"] = 2
    order = guest.post(shop.orders_path, {"holds": [{"hold_id": hold, "ticket_types": counts}]})
    assert [line["unit_cents"] for line in order["lines"]] == [2500, 1000, 1000]
    paid = shop.note(order)
    prices = {each["ticket_type"]: each["price_cents"] for each in shop.api.get(f"{shop.sale.path}/tickets")["items"]}
    assert paid["state"] == "paid" and prices == {shop.floor: 2500, number: 1000}
    assert_everything_agrees(shop)


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"hidden": True}, (409, "ticket_type_hidden")),
        ({"sale_start_at": EVENING + HOUR}, (409, "ticket_type_not_on_sale")),
        ({"sale_end_at": EVENING - HOUR}, (409, "ticket_type_not_on_sale")),
        ({"min_per_order": 3}, (400, "order_limit")),
        ({"max_per_order": 1}, (400, "order_limit")),
        ({"quantity": 1}, (409, "insufficient_inventory")),
    ],
)
def test_shop_keeps_the_rules_of_a_ticket_type(shop: Shop, changes: dict[str, Any], refusal: tuple[int, str]) -> None:
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", changes)
    guest = shop.guest()
    holds = shop.hold(guest, "A-1", "A-2")
    named = [{**hold, "ticket_type": shop.stalls} for hold in holds]
    assert refused(shop, guest, named) == refusal
    assert shop.sale.states() == {"A-1": 1, "A-2": 1}, "what was held stays held"
    assert_everything_agrees(shop)


def test_box_office_sells_what_the_shop_does_not_offer(shop: Shop) -> None:
    hidden = {"hidden": True, "sale_end_at": EVENING - HOUR, "max_per_order": 1}
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.floor}", hidden)
    places = [{"ticket_type": shop.floor, "count": 2}]
    assert shop.api.post(f"{shop.sale.path}/sales", {"places": places, "method": "cash"})["state"] == "paid"


def test_order_is_refused_where_the_event_is_not_on_sale(shop: Shop) -> None:
    guest = shop.guest()
    holds = shop.hold(guest, "A-1")
    shop.api.patch(shop.sale.path, {"sale_start_at": EVENING - HOUR, "sale_end_at": EVENING + MINUTE})
    shop.app_server.advance(2 * MINUTE)
    assert refused(shop, guest, holds) == (400, "event_sales_closed")


def test_price_of_an_order_stays_what_it_was(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", {"price_cents": 9990})
    assert shop.note(order)["total_cents"] == 5140
    assert shop.api.get(f"{shop.sale.path}/tickets")["items"][0]["price_cents"] == 4990


def test_no_price_is_taken_from_the_request(shop: Shop) -> None:
    guest = shop.guest()
    body = {"holds": [{**shop.hold(guest, "A-1")[0], "price_cents": 1}]}
    assert guest.refused("POST", shop.orders_path, body)[0] == 400


def test_guest_cannot_pay_like_the_box_office(shop: Shop) -> None:
    guest = shop.guest()
    order = shop.order(guest, "A-1")
    assert guest.refused("POST", f"{shop.path(order)}/pay", {"method": "cash"}) == (403, "method_not_offered")
    assert guest.refused("POST", f"{shop.path(order)}/pay", {"method": "free"}) == (409, "not_free")
    assert guest.refused("POST", f"{shop.path(order)}/pay", {"method": "invoice"}) == (409, "no_invoices")
    assert guest.refused("POST", f"/api/orders/{order['id']}/payments", {"method": "cash"}) == (403, "forbidden")


def test_two_currencies_are_two_orders(shop: Shop) -> None:
    zone = shop.types()["Stalls"]["zone"]
    francs = a_ticket_type(name="Francs", currency="CHF", quantity=2, zone=zone)
    number = shop.api.post(f"{shop.sale.path}/ticket-types", francs)["number"]
    guest = shop.guest()
    holds = shop.hold(guest, "A-1", "A-2")
    named = [{**holds[0], "ticket_type": shop.stalls}, {**holds[1], "ticket_type": number}]
    assert refused(shop, guest, named) == (400, "mixed_currencies")


def test_places_of_an_event_without_a_layout_are_ordered_too(shop: Shop) -> None:
    times = {"start_at": EVENING + 9 * DAY, "end_at": EVENING + 9 * DAY + HOUR}
    body = an_event(shop.sale.event["venue_id"], name="Open Air", capacity=3, **times)
    event = shop.api.post("/api/events", body)
    path = f"/api/events/{event['id']}"
    shop.api.post(f"{path}/ticket-types", a_ticket_type(quantity=3))
    shop.api.post(f"{path}/publish", {}, 200)
    guest, other = shop.guest(), shop.guest()
    held = guest.post(f"{path}/holds", {"count": 2})["data"]["holds"][0]["hold_id"]
    orders = f"/api/o/{shop.sale.slug}/events/{event['id']}/orders"
    order = guest.post(orders, {"holds": [{"hold_id": held}]})
    assert other.refused("POST", f"{path}/holds", {"count": 2})[0] == 409, "one place is left"
    assert shop.note(order)["state"] == "paid"
    assert shop.api.get(path)["tickets_issued"] == 2
    shop.refund(order)
    assert shop.api.get(path)["tickets_issued"] == 0


def test_nothing_of_an_order_crosses_organisations(shop: Shop) -> None:
    rivals = a_shop(shop.app_server, slug="rivals")
    guest, stranger = shop.guest(), rivals.guest()
    order = shop.order(guest, "A-1")
    for method, path in (("GET", ""), ("GET", "/link"), ("POST", "/pay"), ("DELETE", "")):
        body = {"method": "free"} if method == "POST" else None
        for slug in (shop.sale.slug, rivals.sale.slug):
            address = f"/api/o/{slug}/orders/{order['id']}{path}"
            assert stranger.refused(method, address, body) == (404, "order_not_found"), (method, address)
        assert shop.guest().refused(method, shop.path(order) + path, body) == (404, "order_not_found")
    assert rivals.api.get("/api/orders")["items"] == []
    theirs = rivals.hold(stranger, "A-1")
    assert stranger.refused("POST", shop.orders_path, {"holds": theirs})[0] == 404
    assert guest.refused("POST", shop.orders_path, {"holds": theirs}) == (409, "hold_expired")


def test_whoever_has_the_link_opens_the_order_without_a_session(shop: Shop) -> None:
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", {"price_cents": 0, "fee_cents": 0})
    guest = shop.guest()
    order = shop.order(guest, "A-1")
    secret = guest.get(f"{shop.path(order)}/link")["secret"]
    stored = shop.sale.rows("SELECT * FROM orders")
    assert secret not in repr(stored), "the secret is stored nowhere"
    friend = ApiClient(shop.app_server.app.test_client(), {"X-Order-Secret": secret})
    assert friend.get(shop.path(order))["number"] == order["number"]
    paid = shop.pay(friend, order, "free")
    assert friend.get(f"{shop.path(order)}/tickets/{paid['lines'][0]['ticket']['id']}/code")["code"]
    wrong = ApiClient(shop.app_server.app.test_client(), {"X-Order-Secret": secret[::-1]})
    assert wrong.refused("GET", shop.path(order)) == (404, "order_not_found")
    other = shop.order(guest, "A-2")
    assert friend.refused("GET", shop.path(other)) == (404, "order_not_found")
    nobody = ApiClient(shop.app_server.app.test_client(), {})
    assert nobody.refused("GET", shop.path(order)) == (401, "no_session")


def test_whoever_has_no_session_is_told_so_everywhere_in_the_shop(shop: Shop) -> None:
    nobody = ApiClient(shop.app_server.app.test_client(), {})
    at = f"/api/o/{shop.sale.slug}/events/{shop.sale.id}"
    for method, path in (("GET", f"{at}/ticket-types"), ("POST", shop.orders_path), ("POST", f"{at}/checkout")):
        assert nobody.refused(method, path, {"holds": []} if method == "POST" else None) == (401, "no_session"), path
