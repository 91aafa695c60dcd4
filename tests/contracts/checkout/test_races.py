"""Many buyers at the same moment: the last of everything is sold once, and money comes once."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy.orm import Session

from shared.ids import NIL_ID
from sync_server.checkout.orders import drafting, locking
from sync_server.checkout.payments import paying
from sync_server.events import service as events
from sync_server.plumbing.database import WRITERS_AT_AN_EVENT, database_of
from sync_server.plumbing.few_at_once import FewAtOnce
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type, an_event
from tests.contracts.checkout.shop_floor import Shop, assert_everything_agrees
from tests.contracts.holds.at_once import guests, together, tried, until_waiting

BUYERS = 8


def attempts(works: list[tuple[ApiClient, str, object]]) -> list[tuple[int, str]]:
    """Send all of these at the same moment."""
    return together([lambda work=work: tried(*work) for work in works])  # type: ignore[misc]


def test_the_last_tickets_of_a_type_are_ordered_once(shop: Shop, nodes: list[AppServer]) -> None:
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.floor}", {"quantity": 5})
    buyers = guests(shop.sale, nodes, BUYERS)
    holds = [shop.hold_places(buyer, 2) for buyer in buyers]
    works = [
        (buyer, shop.orders_path, {"holds": [{"hold_id": hold}]}) for buyer, hold in zip(buyers, holds, strict=True)
    ]
    found = Counter(attempts(works))
    assert found == {(201, ""): 2, (409, "insufficient_inventory"): BUYERS - 2}
    assert_everything_agrees(shop)


def test_a_late_payment_and_new_buyers_want_the_same_seats(shop: Shop, nodes: list[AppServer]) -> None:
    seats = ("A-1", "A-8")
    late = shop.order(shop.guest(), *seats)
    for node in nodes:
        node.advance(11 * MINUTE)
    shop.run_jobs()
    buyers = guests(shop.sale, nodes, 4)
    pay = f"/api/orders/{late['id']}/payments"
    works: list[tuple[ApiClient, str, object]] = [(shop.api, pay, {"method": "card", "reference": "late"})]
    works += [(buyer, shop.sale.reserve_path(seat), {}) for buyer in buyers for seat in seats]
    found = attempts(works)
    assert found[0] == (200, "")
    sold, order = shop.sale.states(), shop.shown(late)
    assert order["state"] == ("paid" if set(sold.values()) == {2} else "expired")
    assert order["due_cents"] == (0 if order["state"] == "paid" else -order["total_cents"])
    assert_everything_agrees(shop)


def test_one_payment_told_by_many_at_once_counts_once(shop: Shop, nodes: list[AppServer]) -> None:
    order = shop.order(shop.guest(), "A-1")
    staff = [ApiClient(node.app.test_client(), shop.api.headers) for node in nodes * 3]
    body = {"method": "card", "reference": "terminal 7/1"}
    works = [(one, f"/api/orders/{order['id']}/payments", body) for one in staff]
    assert set(attempts(works)) == {(200, "")}
    shown = shop.shown(order)
    assert (shown["state"], shown["paid_cents"], shown["due_cents"]) == ("paid", 5140, 0)
    assert_everything_agrees(shop)


def test_many_who_refund_an_order_at_once_pay_back_what_was_paid(shop: Shop, nodes: list[AppServer]) -> None:
    order = shop.order(shop.guest(), "A-1", "A-2")
    shop.note(order, "card")
    staff = [ApiClient(node.app.test_client(), shop.api.headers) for node in nodes * (8 // len(nodes))]
    lines: list[dict[str, Any]] = [{"lines": [1]}, {}]
    works = [
        (one, f"/api/orders/{order['id']}/refunds", {"method": "cash", **lines[number % 2]})
        for number, one in enumerate(staff)
    ]
    found = Counter(attempts(works))
    assert 1 <= found[200, ""] <= 2, "all at once, or the first line and then the rest"
    assert found.keys() <= {(200, ""), (409, "nothing_to_refund"), (409, "line_not_refundable")}
    moved = shop.api.get(f"/api/orders/{order['id']}/ledger")["items"]
    assert sum(each["cents"] for each in moved if each["kind"] == "payout") == order["total_cents"]
    shown = shop.shown(order)
    assert (shown["state"], shown["due_cents"]) == ("refunded", 0)
    assert shop.sale.states() == {"A-1": 0, "A-2": 0}
    assert_everything_agrees(shop)


def test_paying_cancelling_and_expiring_at_once_end_in_one_state(shop: Shop, nodes: list[AppServer]) -> None:
    order = shop.order(shop.guest(), "A-1", "A-2")
    for node in nodes:
        node.advance(10 * MINUTE)
    clients = [ApiClient(node.app.test_client(), shop.api.headers) for node in nodes * 2]
    pay, cancel = (f"/api/orders/{order['id']}/{what}" for what in ("payments", "cancel"))
    works = [
        lambda one=one: tried(one, pay, {"method": "card", "reference": "x", "cents": order["total_cents"]})
        for one in clients
    ]  # type: ignore[misc]
    works += [lambda one=one: tried(one, cancel, {}) for one in clients]  # type: ignore[misc]
    works += [lambda node=node: (node.run_worker(), "")[1:] for node in nodes]  # type: ignore[misc]
    together(works)
    shown = shop.shown(order)
    assert shown["state"] in {"paid", "cancelled", "expired"}
    assert shown["paid_cents"] == shown["total_cents"], "the payment is in the ledger whatever came first"
    assert_everything_agrees(shop)


def test_the_last_places_of_an_event_are_sold_once(shop: Shop, nodes: list[AppServer]) -> None:
    times = {"start_at": EVENING + 9 * DAY, "end_at": EVENING + 9 * DAY + HOUR}
    body = an_event(shop.sale.event["venue_id"], name="Open Air", capacity=5, **times)
    event = shop.api.post("/api/events", body)
    path = f"/api/events/{event['id']}"
    shop.api.post(f"{path}/ticket-types", a_ticket_type(quantity=5))
    shop.api.post(f"{path}/publish", {}, 200)
    clients = [ApiClient(node.app.test_client(), shop.api.headers) for node in nodes * BUYERS][:BUYERS]
    sale = {"places": [{"ticket_type": 1, "count": 2}], "method": "cash"}
    found = Counter(attempts([(client, f"{path}/sales", sale) for client in clients]))
    assert found[201, ""] == 2 and found.total() == BUYERS
    assert shop.api.get(path)["tickets_issued"] == 4


def test_the_last_places_of_a_zone_and_one_seat_are_sold_once(shop: Shop, nodes: list[AppServer]) -> None:
    clients = [ApiClient(node.app.test_client(), shop.api.headers) for node in nodes * BUYERS][:BUYERS]
    shop.api.post(f"{shop.sale.path}/sales", {"places": [{"ticket_type": shop.floor, "count": 95}], "method": "cash"})
    body = {"seats": [{"seat_id": "B-8"}], "places": [{"ticket_type": shop.floor, "count": 3}], "method": "cash"}
    found = Counter(status for status, _ in attempts([(each, f"{shop.sale.path}/sales", body) for each in clients]))
    assert found == {201: 1, 409: BUYERS - 1}
    assert_everything_agrees(shop)


def test_many_buyers_wait_for_their_turn_and_one_refusal_concerns_one_of_them(
    shop: Shop, nodes: list[AppServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_it, most, counting = Counter[int](), Counter[int](), threading.Lock()
    lock = drafting.draft

    def watched(session: Session, *given: Any) -> Any:
        server = id(database_of(session))
        with counting:
            at_it[server] += 1
            most[server] = max(most[server], at_it[server])
        try:
            return lock(session, *given)
        finally:
            with counting:
                at_it[server] -= 1

    monkeypatch.setattr(drafting, "draft", watched)
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.floor}", {"price_cents": 0})
    buyers = guests(shop.sale, nodes, BUYERS)
    bodies = [_paid_at_once(shop.hold_places(buyer, 2)) for buyer in buyers]
    bodies[3] = _paid_at_once(NIL_ID)  # there is no such hold
    orders = [
        lambda who=who, body=body, key=key: who.ask("POST", shop.orders_path, body, **{"Idempotency-Key": key})
        for who, body, key in zip(buyers, bodies, "abcdefgh", strict=True)
    ]
    first, again = together(orders), together(orders * 2)  # type: ignore[arg-type]
    expected = [201] * 3 + [409] + [201] * (BUYERS - 4)
    assert [answer.status_code for answer in [*first, *again]] == expected * 3
    repeated = [answer.json["id"] for answer in again if answer.status_code == 201]  # type: ignore[index]
    assert repeated == 2 * [answer.json["id"] for answer in first if answer.status_code == 201]  # type: ignore[index]
    assert most and max(most.values()) <= WRITERS_AT_AN_EVENT
    assert shop.types()["Floor"]["issued"] == 2 * (BUYERS - 1)
    assert_everything_agrees(shop)


@pytest.mark.parametrize("where", ["in the shop", "at the box office"])
def test_buyers_who_pay_afterwards_take_turns_too(
    shop: Shop, nodes: list[AppServer], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    at_it, most, counting = Counter[int](), Counter[int](), threading.Lock()
    lock = locking.lock_order

    def watched(session: Session, *key: Any, **named: Any) -> Any:
        server = id(database_of(session))
        with counting:
            at_it[server] += 1
            most[server] = max(most[server], at_it[server])
        try:
            return lock(session, *key, **named)
        finally:
            with counting:
                at_it[server] -= 1

    monkeypatch.setattr(paying, "lock_order", watched)
    shop.api.patch(
        f"{shop.sale.path}/ticket-types/{shop.floor}", {"price_cents": 0 if where == "in the shop" else 2_000}
    )
    buyers = guests(shop.sale, nodes, BUYERS)
    orders = [buyer.post(shop.orders_path, {"holds": [{"hold_id": shop.hold_places(buyer, 2)}]}) for buyer in buyers]
    staff = [ApiClient(node.app.test_client(), shop.api.headers) for node in nodes * BUYERS][:BUYERS]
    works: list[tuple[ApiClient, str, object]] = (
        [(buyer, f"{shop.path(order)}/pay", {"method": "free"}) for buyer, order in zip(buyers, orders, strict=True)]
        if where == "in the shop"
        else [
            (one, f"/api/orders/{order['id']}/payments", {"method": "card"})
            for one, order in zip(staff, orders, strict=True)
        ]
    )
    assert set(attempts(works)) == {(200, "")}
    assert most and max(most.values()) <= WRITERS_AT_AN_EVENT
    assert {shop.shown(order)["state"] for order in orders} == {"paid"}
    assert_everything_agrees(shop)


def _paid_at_once(hold: str) -> dict[str, Any]:
    return {"holds": [{"hold_id": hold}], "pay": {"method": "free"}}


def test_buyers_go_on_where_an_event_stays_locked_for_longer_than_they_wait_for_each_other(
    shop: Shop, nodes: list[AppServer]
) -> None:
    """An organiser's transaction that takes its time: once it is over everybody is served, whoever waited where."""
    if shop.app_server.database.embedded:
        pytest.skip("one transaction at a time")
    for node in nodes:
        node.database.writers_at = FewAtOnce(WRITERS_AT_AN_EVENT, patience_s=0.05)
    buyers = guests(shop.sale, nodes, BUYERS)
    bodies = [{"holds": [{"hold_id": shop.hold_places(buyer, 2)}]} for buyer in buyers]
    with ThreadPoolExecutor(BUYERS) as pool, shop.app_server.database.writing() as session:
        events.lock_event(session, shop.sale.organisation_id, shop.sale.id)
        orders = [pool.submit(buyer.post, shop.orders_path, body) for buyer, body in zip(buyers, bodies, strict=True)]
        until_waiting(shop.app_server, BUYERS)  # all of them, in the database
        session.commit()
    assert [order.result(60)["state"] for order in orders] == ["pending"] * BUYERS
    assert_everything_agrees(shop)
