"""From a guest's holds to a paid order with signed tickets."""

from __future__ import annotations

from shared.wire.snapshot import RowKind
from tests.builders import MINUTE
from tests.contracts.checkout.shop_floor import ACCOUNT, Shop, assert_everything_agrees

BUYER = {"name": "Ada Lovelace", "email": "ada@lovelace.example", "locale": "en"}


def test_guest_orders_seats_and_places_and_pays_at_the_box_office(shop: Shop) -> None:
    guest = shop.guest()
    holds = [*shop.hold(guest, "A-1", "A-2"), {"hold_id": shop.hold_places(guest, 2)}]
    order = guest.post(shop.orders_path, {"holds": holds, "buyer": BUYER})
    assert (order["state"], order["number"], order["admissions"]) == ("pending", f"{shop.sale.event['code']}-R1", 4)
    assert (order["subtotal_cents"], order["fees_cents"]) == (2 * 4990 + 2 * 2500, 300)
    assert order["tax_cents"] == 2 * 336 + 2 * 399  # 7 % within 51.40, 19 % within 25.00
    assert order["total_cents"] == order["due_cents"] == 15_280
    assert [line["ticket"] for line in order["lines"]] == [None] * 4
    types = shop.types()
    assert [(row["issued"], row["reserved"]) for row in types.values()] == [(0, 2), (0, 2)]
    assert_everything_agrees(shop)

    paid = shop.note(order, "card", reference="terminal 7/0815")
    assert (paid["state"], paid["due_cents"], paid["paid_cents"]) == ("paid", 0, 15_280)
    tickets = [line["ticket"] for line in paid["lines"]]
    assert [line["seat_id"] for line in paid["lines"]] == ["A-1", "A-2", "", ""]
    assert all(ticket["state"] == "valid" and len(ticket["confirmation_code"]) == 8 for ticket in tickets)
    at_gates = {row.ticket_id for row in shop.app_server.gate_rows_of(shop.sale.event["number"], RowKind.TICKET)}
    assert at_gates == {int(ticket["id"], 16) for ticket in tickets}
    code = guest.get(f"{shop.path(order)}/tickets/{tickets[0]['id']}/code")
    assert code["number"] == tickets[0]["number"] and code["code"]
    assert_everything_agrees(shop)


def test_free_order_is_paid_by_the_guest_and_repeating_it_changes_nothing(shop: Shop) -> None:
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.floor}", {"price_cents": 0})
    guest = shop.guest()
    body = {"holds": [{"hold_id": shop.hold_places(guest, 3)}]}
    order = guest.post(shop.orders_path, body, **{"Idempotency-Key": "mine"})
    assert guest.post(shop.orders_path, body, **{"Idempotency-Key": "mine"}) == order
    paid = shop.pay(guest, order, "free")
    assert (paid["state"], len({line["ticket"]["number"] for line in paid["lines"]})) == ("paid", 3)
    assert shop.pay(guest, order, "free") == paid
    assert shop.api.get(f"/api/orders/{order['id']}/ledger")["items"] == []
    assert_everything_agrees(shop)


def test_invoice_waits_for_its_transfer_and_then_the_tickets_are_valid(shop: Shop) -> None:
    shop.api.patch("/api/organisation/checkout", ACCOUNT)
    guest = shop.guest()
    order = shop.order(guest, "A-1", buyer=BUYER)
    waiting = shop.pay(guest, order, "invoice")
    payment = waiting["payment"]
    assert (waiting["state"], payment["reference"], payment["cents"]) == ("pending", order["number"], 5140)
    assert payment["qr_text"].split("\n") == [
        "BCD",
        "002",
        "1",
        "SCT",
        "",
        "Marquee e.V.",
        "DE75512108001245126199",
        "EUR51.40",
        "",
        "",
        order["number"],
    ]
    shop.app_server.advance(24 * 60 * MINUTE)
    shop.run_jobs()
    assert shop.shown(order)["state"] == "pending", "an invoice is due in a fortnight"
    assert shop.sale.refused(shop.guest(), "A-1") == (409, "seat_held_by_another_user")
    paid = shop.note(order, "invoice", reference="bank statement 12, line 3")
    assert (paid["state"], paid["lines"][0]["ticket"]["state"], paid["payment"]) == ("paid", "valid", None)
    assert_everything_agrees(shop)


def test_unpaid_tickets_of_an_invoice_become_valid_with_the_payment(shop: Shop) -> None:
    shop.api.patch("/api/organisation/checkout", ACCOUNT | {"unpaid_tickets": True})
    guest = shop.guest()
    paid, lapsed = (shop.order(guest, seat, buyer=BUYER) for seat in ("A-1", "A-8"))
    for order in (paid, lapsed):
        assert shop.pay(guest, order, "invoice")["lines"][0]["ticket"]["state"] == "unpaid"
    assert shop.note(paid, "invoice")["lines"][0]["ticket"]["state"] == "valid"
    shop.app_server.advance(15 * 24 * 60 * MINUTE)
    shop.run_jobs()
    ended = shop.shown(lapsed)
    assert (ended["state"], ended["lines"][0]["ticket"]["state"]) == ("expired", "cancelled")
    assert shop.sale.states() == {"A-1": 2, "A-8": 0}
    assert_everything_agrees(shop)


def test_box_office_sells_seats_and_places_at_once(shop: Shop) -> None:
    body = {"seats": [{"seat_id": "B-1"}], "places": [{"ticket_type": shop.floor, "count": 2}], "method": "cash"}
    order = shop.api.post(f"{shop.sale.path}/sales", body)
    assert (order["state"], order["channel"], order["paid_cents"]) == ("paid", "box_office", 5140 + 5000)
    assert order["buyer"] == {"name": "", "email": "", "locale": ""}
    assert shop.sale.states() == {"B-1": 2}
    moved = shop.api.get(f"/api/orders/{order['id']}/ledger")["items"]
    assert [(each["kind"], each["debit"], each["credit"], each["cents"]) for each in moved] == [
        ("charge", "buyer", "tickets", 9990),
        ("charge", "buyer", "fees", 150),
        ("payment", "cash", "buyer", 10_140),
    ]
    assert_everything_agrees(shop)
