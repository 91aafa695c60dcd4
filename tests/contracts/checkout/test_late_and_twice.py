"""Payments that come late, twice or not at all, and orders that end: money is never lost, no seat is sold twice."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from tests.builders import DAY, EVENING, HOUR, MINUTE
from tests.contracts.checkout.shop_floor import Shop, assert_everything_agrees
from tests.contracts.checkout.test_walk import BUYER


def test_unpaid_order_expires_and_frees_everything(shop: Shop) -> None:
    guest = shop.guest()
    holds = [*shop.hold(guest, "A-1"), {"hold_id": shop.hold_places(guest, 2)}]
    order = guest.post(shop.orders_path, {"holds": holds})
    shop.app_server.advance(9 * MINUTE)
    shop.run_jobs()
    assert shop.shown(order)["state"] == "pending", "an order lasts longer than the holds it was made of"
    shop.app_server.advance(MINUTE)
    shop.run_jobs()
    shop.run_jobs()
    ended = shop.shown(order)
    assert (ended["state"], ended["due_cents"]) == ("expired", 0)
    assert shop.sale.states() == {"A-1": 0}
    facts = shop.sale.rows("SELECT name FROM outbox WHERE name LIKE 'order_%' ORDER BY created_at")
    assert [name for (name,) in facts] == ["order_created", "order_expired"]
    assert_everything_agrees(shop)


def test_late_payment_is_sold_while_the_seats_are_free(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1", "A-2")
    shop.app_server.advance(11 * MINUTE)
    shop.run_jobs()
    paid = shop.note(order, "card", reference="late")
    assert (paid["state"], paid["due_cents"], shop.sale.states()) == ("paid", 0, {"A-1": 2, "A-2": 2})
    assert_everything_agrees(shop)


def test_payment_just_before_the_sweep_is_sold_too(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    shop.app_server.advance(10 * MINUTE + 1)
    assert shop.note(order)["state"] == "paid"
    assert_everything_agrees(shop)


@pytest.mark.parametrize("swept", [False, True])
def test_late_payment_is_owed_back_once_a_seat_is_gone(shop: Shop, swept: bool) -> None:
    order = shop.order(shop.guest(), "A-1", "A-8")
    shop.app_server.advance(11 * MINUTE)
    if swept:
        shop.run_jobs()
    shop.note(shop.order(shop.guest(), "A-8"))
    kept = shop.note(order, "card", reference="too late")
    assert (kept["state"], kept["paid_cents"], kept["due_cents"]) == ("expired", 2 * 5140, -2 * 5140)
    assert shop.note(order, "card", reference="too late")["paid_cents"] == 2 * 5140, "told twice, counted once"
    back = shop.refund(order, method="card", reference="back")
    assert (back["state"], back["refunded_cents"], back["due_cents"]) == ("expired", 2 * 5140, 0)
    assert shop.sale.states()["A-1"] == 0, "the other seat is for sale again"
    assert_everything_agrees(shop)


def test_payment_told_twice_counts_once(shop: Shop) -> None:
    first, second = shop.order(shop.guest(), "A-1"), shop.order(shop.guest(), "B-1")
    for _ in range(2):
        assert shop.note(first, "card", reference="7/1")["paid_cents"] == 5140
    conflict = {"method": "card", "reference": "7/1"}
    assert shop.api.refused("POST", f"/api/orders/{second['id']}/payments", conflict) == (409, "payment_known")
    assert shop.api.refused("POST", f"/api/orders/{first['id']}/payments", {"method": "card"}) == (409, "nothing_due")
    twice = shop.note(first, "card", reference="7/2", cents=5140)
    assert (twice["state"], twice["due_cents"]) == ("paid", -5140), "paid twice over: owed back"
    assert shop.refund(first, lines=[])["due_cents"] == 0
    assert shop.sale.states()["A-1"] == 2, "only what was paid too much goes back"
    assert_everything_agrees(shop)


def test_order_paid_in_parts_has_its_tickets_with_the_last(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    part = shop.note(order, cents=5000)
    assert (part["state"], part["due_cents"], part["lines"][0]["ticket"]) == ("pending", 140, None)
    assert shop.note(order)["state"] == "paid"
    assert_everything_agrees(shop)


def test_cancelled_order_is_not_sold_any_more_but_keeps_the_payment(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    shop.api.post(f"/api/orders/{order['id']}/cancel", {"reason": "asked by phone"}, 200)
    kept = shop.note(order, "card", reference="late", cents=5140)
    assert (kept["state"], kept["due_cents"], kept["reason"]) == ("cancelled", -5140, "asked by phone")
    assert shop.refund(order)["due_cents"] == 0
    assert_everything_agrees(shop)


def test_paid_order_is_refunded_and_not_cancelled(shop: Shop) -> None:
    guest = shop.guest()
    order = shop.order(guest, "A-1")
    shop.note(order)
    assert guest.refused("DELETE", shop.path(order)) == (409, "invalid_order_state")
    assert shop.api.refused("POST", f"/api/orders/{order['id']}/cancel", {}) == (409, "invalid_order_state")


def test_orders_of_a_cancelled_event_end_with_it(shop: Shop) -> None:
    paid, waiting = shop.order(shop.guest(), "A-1"), shop.order(shop.guest(), "B-1")
    shop.note(paid)
    shop.api.post(f"{shop.sale.path}/cancel", {}, 200)
    shop.run_jobs()
    ended = shop.shown(waiting)
    assert (ended["state"], ended["reason"]) == ("cancelled", "the event was cancelled")
    assert shop.shown(paid)["state"] == "paid", "until it is refunded"
    kept = shop.note(waiting, "card", reference="late", cents=5140)
    assert (kept["state"], kept["due_cents"]) == ("cancelled", -5140)
    assert shop.refund(paid)["state"] == "refunded"
    assert_everything_agrees(shop)


def test_payment_for_a_cancelled_event_is_kept_before_the_order_has_ended(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    shop.api.post(f"{shop.sale.path}/cancel", {}, 200)
    kept = shop.note(order, "card", reference="late")
    assert (kept["due_cents"], kept["lines"][0]["ticket"]) == (-5140, None)
    assert_everything_agrees(shop)


def test_orders_wait_for_the_new_date_of_a_postponed_event(shop: Shop) -> None:
    order, later = shop.order(shop.guest(), "A-1"), shop.order(shop.guest(), "B-1")
    shop.api.post(f"{shop.sale.path}/postpone", {"reason": "storm"}, 200)
    shop.app_server.advance(2 * DAY)
    shop.run_jobs()
    assert (shop.shown(order)["state"], shop.shown(order)["expires_at"]) == ("pending", None)
    assert shop.note(later)["state"] == "paid", "who pays meanwhile has tickets for the new date"
    shop.api.post(f"{shop.sale.path}/reschedule", {"rescheduled_at": EVENING + 60 * DAY}, 200)
    shop.app_server.advance(9 * MINUTE)
    shop.run_jobs()
    assert shop.shown(order)["state"] == "pending"
    shop.app_server.advance(2 * MINUTE)
    shop.run_jobs()
    assert shop.shown(order)["state"] == "expired"
    assert_everything_agrees(shop)


def test_invoice_comes_too_late_for_an_event_tomorrow(shop: Shop) -> None:
    account = {"account_holder": "Marquee", "iban": "DE75512108001245126199", "invoices": True}
    shop.api.patch("/api/organisation/checkout", account)
    guest = shop.guest()
    order = shop.order(guest, "A-1", buyer=BUYER)
    shop.app_server.advance(6 * MINUTE)
    shop.api.patch(shop.sale.path, {"start_at": EVENING + 23 * HOUR, "end_at": EVENING + 26 * HOUR})
    path = f"{shop.path(order)}/pay"
    assert guest.refused("POST", path, {"method": "invoice"}) == (409, "too_late_for_invoice")


def test_ledger_can_only_grow(shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1")
    shop.note(order)
    statements = ["UPDATE money_movements SET cents = 1", "DELETE FROM money_movements"]
    if shop.app_server.database.embedded:
        statements.append("INSERT OR REPLACE INTO money_movements SELECT * FROM money_movements")
    else:
        statements.append("TRUNCATE money_movements")
    for statement in statements:
        with pytest.raises(DBAPIError, match="only ever added"), shop.app_server.database.writing() as session:
            session.execute(text(statement))


def test_settings_refuse_an_account_that_does_not_exist(shop: Shop) -> None:
    path = "/api/organisation/checkout"
    assert shop.api.refused("PATCH", path, {"iban": "DE75512108001245126198"}) == (400, "bad_iban")
    assert shop.api.refused("PATCH", path, {"bic": "NO"}) == (400, "bad_bic")
    assert shop.api.refused("PATCH", path, {"invoices": True}) == (400, "account_required")
    assert shop.api.get(path)["methods"] == ["free", "cash", "card"]
