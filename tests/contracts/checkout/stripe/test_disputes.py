"""Payments that buyers dispute with their banks: money, tickets and orders follow what Stripe says, in any order."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from tests.builders import HOUR
from tests.contracts.checkout.shop_floor import assert_everything_agrees
from tests.contracts.checkout.stripe.card_shop import CardShop

FACTS = ("payment_disputed", "dispute_funds_moved", "dispute_closed", "payout_due")


def states(cards: CardShop, order: dict[str, Any]) -> list[str]:
    return [line["ticket"]["state"] for line in cards.shop.shown(order)["lines"]]


def moved(cards: CardShop, order: dict[str, Any]) -> list[tuple[str, int]]:
    """The movements after the sale, without fees."""
    return [each for each in cards.kinds(order)[2:] if each[0] not in {"fee", "fee_back"}]


def alerts(cards: CardShop) -> list[tuple[str, int]]:
    return [(each["kind"], each["count"]) for each in cards.shop.api.get("/api/alerts")["items"]]


def test_disputed_tickets_do_not_admit_until_the_dispute_is_won(cards: CardShop) -> None:
    order, intent = cards.sold("A-1", "A-2")
    by_hand = cards.shop.shown(order)["lines"][1]["ticket"]["id"]
    cards.shop.api.post(f"/api/tickets/{by_hand}/block", {"reason": "found at the tram stop"}, 200)
    asked = cards.stripe.dispute(intent, "warning_needs_response")
    cards.tell_dispute(asked, "created")
    shown = cards.shop.shown(order)
    assert (shown["dispute"], shown["due_cents"], states(cards, order)) == ("inquiry", 0, ["valid", "blocked"])
    assert moved(cards, order) == [], "a bank asks, and takes nothing"
    opened = cards.stripe.dispute(intent, "needs_response", moved=-10_280)
    cards.tell_dispute(opened, "funds_withdrawn")
    shown = cards.shop.shown(order)
    assert (shown["state"], shown["dispute"], shown["due_cents"]) == ("paid", "open", 0)
    assert shown["disputes"][0]["answer_by"] == "2026-09-21T14:13:20Z" and states(cards, order) == ["blocked"] * 2
    assert moved(cards, order) == [("withdrawal", 10_280)]
    assert alerts(cards) == [("payments_disputed", 1)]
    assert [each["id"] for each in cards.shop.api.get("/api/orders?dispute=open")["items"]] == [order["id"]]
    won = cards.stripe.dispute(intent, "won", moved=10_280)
    cards.tell_dispute(won, "closed")
    shown = cards.shop.shown(order)
    assert (shown["dispute"], shown["due_cents"], alerts(cards)) == ("won", 0, [])
    assert moved(cards, order) == [("withdrawal", 10_280), ("reinstated", 10_280)]
    assert states(cards, order) == ["valid", "blocked"], "what staff have blocked stays so"
    assert_everything_agrees(cards.shop)


def test_lost_dispute_refunds_the_order_and_pays_nothing(cards: CardShop) -> None:
    order, intent = cards.sold("A-1", "A-2")
    lost = cards.stripe.dispute(intent, "lost", moved=-10_280)
    cards.tell_dispute(lost, "closed")
    shown = cards.shop.shown(order)
    assert (shown["state"], shown["dispute"], shown["due_cents"]) == ("refunded", "lost", 0)
    assert states(cards, order) == ["cancelled"] * 2 and cards.shop.sale.states() == {"A-1": 0, "A-2": 0}
    assert moved(cards, order) == [("withdrawal", 10_280), ("chargeback", 10_280), ("credit", 9980), ("credit", 300)]
    refund = {"method": "stripe", "lines": []}
    assert cards.shop.api.refused("POST", f"/api/orders/{order['id']}/refunds", refund) == (409, "nothing_to_refund")
    assert cards.stripe.refunds(intent) == []
    assert_everything_agrees(cards.shop)


def test_news_come_to_the_same_in_any_order_and_twice(cards: CardShop) -> None:
    sold_back = [("withdrawal", 5140), ("chargeback", 5140), ("credit", 4990), ("credit", 150)]
    for order_of_news in permutations(("created", "funds_withdrawn", "closed")):
        order, intent = cards.sold("A-1")
        opened = dict(cards.stripe.dispute(intent, "needs_response", moved=-5140))
        lost = dict(cards.stripe.dispute(intent, "lost"))
        for kind in (*order_of_news, *order_of_news):
            cards.tell_dispute(lost if kind == "closed" else opened, kind)
        assert moved(cards, order) == sold_back, order_of_news
    assert cards.facts(*FACTS) == sorted(["payment_disputed", "dispute_funds_moved", "dispute_closed"] * 6)
    assert_everything_agrees(cards.shop)


def test_dispute_that_is_told_before_its_payment_brings_both(cards: CardShop) -> None:
    _, order, intent = cards.paid("A-1")
    cards.tell_dispute(cards.stripe.dispute(intent, "under_review", moved=-5140), "created")
    shown = cards.shop.shown(order)
    assert (shown["state"], shown["dispute"], states(cards, order)) == ("paid", "open", ["blocked"])
    cards.stripe.dispute(intent, "won", moved=5140)
    cards.app_server.advance(7 * HOUR)
    cards.shop.run_jobs()
    assert cards.shop.shown(order)["dispute"] == "won", "the webhook was lost, and the worker asks"
    asked = len(cards.stripe.asked)
    cards.app_server.advance(7 * HOUR)
    cards.shop.run_jobs()
    assert len(cards.stripe.asked) == asked + 1, "what is closed is not asked for again, only what nobody has told"


def test_tickets_stay_valid_where_the_organiser_says_so_or_a_part_is_disputed(cards: CardShop) -> None:
    part, paid = cards.sold("A-1", "A-2")
    cards.tell_dispute(cards.stripe.dispute(paid, "lost", cents=5140, moved=-5140), "closed")
    shown = cards.shop.shown(part)
    assert (shown["state"], shown["dispute"], shown["due_cents"]) == ("paid", "lost", 5140)
    assert states(cards, part) == ["valid"] * 2
    cards.shop.api.patch("/api/organisation/checkout", {"dispute_tickets": "keep"})
    order, intent = cards.sold("B-1")
    for status, cents in (("needs_response", -5140), ("lost", 0)):
        cards.tell_dispute(cards.stripe.dispute(intent, status, moved=cents), "updated")
        assert states(cards, order) == ["valid"]
    assert cards.shop.shown(order)["due_cents"] == 5140, "the buyer has the money and the ticket"
    assert_everything_agrees(cards.shop)


def test_disputed_money_is_not_paid_back_a_second_time(cards: CardShop) -> None:
    order, intent = cards.sold("A-1")
    cards.tell_dispute(cards.stripe.dispute(intent, "needs_response", moved=-5140), "created")
    cards.shop.refund(order, method="stripe")
    cards.shop.run_jobs()
    assert cards.stripe.refunds(intent) == [] and cards.shop.shown(order)["due_cents"] == -5140
    refused = cards.shop.api.refused("POST", f"/api/orders/{order['id']}/refunds", {"method": "cash", "lines": []})
    assert refused == (409, "nothing_to_refund"), "not by hand either"
    cards.tell_dispute(cards.stripe.dispute(intent, "won", moved=5140), "closed")
    assert cards.facts("payout_due") == ["payout_due"], "now it is owed"
    cards.shop.refund(order, method="stripe", lines=[])
    cards.shop.run_jobs()
    assert [each["amount"] for each in cards.stripe.refunds(intent)] == [5140]
    assert cards.shop.shown(order)["due_cents"] == 0
    assert_everything_agrees(cards.shop)


def test_dispute_that_is_decided_anew_is_booked_back(cards: CardShop) -> None:
    order, intent = cards.sold("A-1")
    cards.tell_dispute(cards.stripe.dispute(intent, "lost", moved=-5140), "closed")
    cards.tell_dispute(cards.stripe.dispute(intent, "won", moved=5140), "closed")
    assert moved(cards, order)[-2:] == [("recovered", 5140), ("reinstated", 5140)]
    assert cards.shop.shown(order)["due_cents"] == -5140, "the tickets are gone: the money is the buyer's"
    assert_everything_agrees(cards.shop)


def test_dispute_of_which_no_webhook_ever_tells_is_found(cards: CardShop) -> None:
    order, intent = cards.sold("A-1")
    cards.shop.run_jobs()
    cards.stripe.dispute(intent, "needs_response", moved=-5140)
    cards.app_server.advance(7 * HOUR)
    cards.shop.run_jobs()
    assert (cards.shop.shown(order)["dispute"], states(cards, order)) == ("open", ["blocked"])
    assert moved(cards, order) == [("withdrawal", 5140)] and cards.facts(*FACTS) == [
        "dispute_funds_moved",
        "payment_disputed",
    ]
    assert_everything_agrees(cards.shop)


def test_fee_of_a_dispute_is_the_organisers_and_booked_once(cards: CardShop) -> None:
    order, intent = cards.sold("A-1", "A-2")
    opened = cards.stripe.dispute(intent, "needs_response", moved=-10_280)
    for _ in range(2):
        cards.tell_dispute(opened, "funds_withdrawn")
    assert cards.kinds(order)[2:] == [("withdrawal", 10_280), ("fee", 1500)]
    assert cards.shop.shown(order)["due_cents"] == 0, "it is none of the buyer's"
    won = cards.stripe.dispute(intent, "won", moved=10_280)
    won["balance_transactions"][-1]["fee"] = -1500
    cards.tell_dispute(won, "closed")
    assert cards.kinds(order)[2:] == [
        ("withdrawal", 10_280),
        ("fee", 1500),
        ("reinstated", 10_280),
        ("fee_back", 1500),
    ]
    assert_everything_agrees(cards.shop)
