"""Refunds, whole and by line: gates refuse the tickets, seats are free, and the ledger balances."""

from __future__ import annotations

from shared.wire.snapshot import RowKind, TicketState
from tests.contracts.checkout.shop_floor import Shop, assert_everything_agrees


def states_at_gates(shop: Shop) -> dict[str, TicketState]:
    rows = shop.app_server.gate_rows_of(shop.sale.event["number"], RowKind.TICKET)
    return {f"{row.ticket_id:016x}": row.state for row in rows}


def test_line_by_line_until_all_is_refunded(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1", "A-2")
    paid = shop.note(order, "card")
    first, second = (line["ticket"]["id"] for line in paid["lines"])
    part = shop.refund(order, lines=[1], reason="ill")
    assert (part["state"], part["refunded_cents"], part["due_cents"]) == ("partially_refunded", 5140, 0)
    assert states_at_gates(shop) == {first: TicketState.CANCELLED, second: TicketState.VALID}
    assert shop.sale.states() == {"A-1": 0, "A-2": 2}
    assert shop.api.refused("POST", f"/api/orders/{order['id']}/refunds", {"method": "cash", "lines": [1]}) == (
        409,
        "line_not_refundable",
    )
    assert shop.api.refused("POST", f"/api/orders/{order['id']}/refunds", {"method": "cash", "lines": [7]}) == (
        400,
        "unknown_line",
    )
    whole = shop.refund(order)
    assert (whole["state"], whole["refunded_cents"]) == ("refunded", 2 * 5140)
    assert shop.api.refused("POST", f"/api/orders/{order['id']}/refunds", {"method": "cash"}) == (
        409,
        "nothing_to_refund",
    )
    assert shop.types()["Stalls"]["issued"] == 0
    again = shop.order(shop.guest(), "A-1", "A-2")
    assert shop.note(again)["state"] == "paid", "the seats are for sale again"
    assert_everything_agrees(shop)


def test_organiser_may_keep_the_fees(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    shop.note(order)
    back = shop.refund(order, keep_fees=True)
    assert (back["state"], back["refunded_cents"], back["due_cents"]) == ("refunded", 4990, 0)
    assert_everything_agrees(shop)


def test_refund_told_twice_is_paid_back_once(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1", "A-2")
    shop.note(order)
    for _ in range(2):
        back = shop.refund(order, lines=[1], method="card", reference="7/0099")
        assert (back["state"], back["refunded_cents"]) == ("partially_refunded", 5140)
    assert_everything_agrees(shop)


def test_a_reference_that_stands_for_other_lines_refunds_nothing_and_says_so(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1", "A-2")
    shop.note(order)
    shop.refund(order, lines=[1], method="card", reference="7/0099")
    path = f"/api/orders/{order['id']}/refunds"
    for lines in ({"lines": [2]}, {"lines": [1, 2]}, {}):
        body = {"method": "card", "reference": "7/0099", **lines}
        assert shop.api.refused("POST", path, body) == (409, "payment_known"), lines
    assert (shop.shown(order)["state"], shop.shown(order)["refunded_cents"]) == ("partially_refunded", 5140)
    shop.note(order, "card", cents=300, reference="7/0100")
    body = {"method": "card", "lines": [], "reference": "7/0099"}
    assert shop.api.refused("POST", path, body) == (409, "payment_known"), "what came too much is another payout"
    assert shop.refund(order, lines=[], method="card", reference="7/0101")["due_cents"] == 0
    assert_everything_agrees(shop)


def test_ticket_cancelled_before_is_refunded_all_the_same(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    ticket = shop.note(order)["lines"][0]["ticket"]["id"]
    shop.api.post(f"/api/tickets/{ticket}/cancel", {}, 200)
    assert shop.refund(order)["state"] == "refunded"
    assert_everything_agrees(shop)


def test_free_order_is_refunded_without_money(shop: Shop) -> None:
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", {"price_cents": 0, "fee_cents": 0})
    guest = shop.guest()
    order = shop.order(guest, "A-1")
    shop.pay(guest, order, "free")
    back = shop.refund(order, method="free")
    assert (back["state"], back["refunded_cents"], shop.sale.states()) == ("refunded", 0, {"A-1": 0})
    assert_everything_agrees(shop)


def test_order_that_is_not_paid_has_nothing_to_refund(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    path = f"/api/orders/{order['id']}/refunds"
    assert shop.api.refused("POST", path, {"method": "cash"}) == (409, "nothing_to_refund")
    assert shop.api.refused("POST", path, {"method": "cash", "lines": [1]}) == (409, "line_not_refundable")


def test_organiser_finds_orders_by_number_and_buyer(shop: Shop) -> None:
    buyer = {"name": "Zoë Müller", "email": "zoe@muller.example"}
    order = shop.order(shop.guest(), "A-1", buyer=buyer)
    shop.app_server.advance(1)
    other = shop.order(shop.guest(), "A-8")
    shop.note(other)

    def found(query: str) -> list[str]:
        return [each["number"] for each in shop.api.get(f"/api/orders?{query}")["items"]]

    assert found("") == [other["number"], order["number"]]
    assert found("search=zoe") == found("search=MULLER.example") == found("search=muller+Zoe") == [order["number"]]
    assert found("search=zoe+100%25") == found(f"search=zoe&event={shop.sale.id}&state=paid") == []
    assert found(f"search=zo%C3%AB&event={shop.sale.id}") == [order["number"]]
    assert found(f"search={other['number']}") == found("state=paid") == [other["number"]]
    first = shop.api.get(f"/api/orders?limit=1&event={shop.sale.id}")
    rest = shop.api.get(f"/api/orders?limit=1&event={shop.sale.id}&after={first['next']}")
    assert [each["number"] for each in first["items"] + rest["items"]] == [other["number"], order["number"]]
    facts = "".join(map(repr, shop.sale.rows("SELECT payload, subjects FROM outbox")))
    lines = "".join(map(repr, shop.sale.rows("SELECT before, after FROM audit_lines")))
    assert "muller" not in (facts + lines).casefold()
