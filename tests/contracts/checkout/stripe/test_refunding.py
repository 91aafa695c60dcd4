"""Refunds by Stripe: whole and in part, each once, whatever the network loses and whatever happens at Stripe itself."""

from __future__ import annotations

from typing import Any

import pytest

from sync_server.commands import doctor
from tests.builders import MINUTE
from tests.contracts.checkout.shop_floor import assert_everything_agrees
from tests.contracts.checkout.stripe.card_shop import CardShop
from tests.services.stripe_server import SECRET_KEY


def sold(cards: CardShop, *seats: str) -> tuple[dict[str, Any], str]:
    _guest, order, intent = cards.paid(*seats)
    assert cards.tell(cards.succeeded(intent))[0] == 200
    return order, intent


def amounts(cards: CardShop, intent: str) -> list[int]:
    return sorted(refund["amount"] for refund in cards.stripe.refunds(intent))


def test_part_and_then_the_rest(cards: CardShop) -> None:
    order, intent = sold(cards, "A-1", "A-2")
    part = cards.shop.refund(order, method="stripe", lines=[1], reason="ill")
    assert (part["state"], part["refunded_cents"], part["due_cents"]) == ("partially_refunded", 0, -5140)
    assert cards.shop.sale.states()["A-1"] == 0, "the seat is free at once"
    cards.shop.run_jobs()
    shown = cards.shop.shown(order)
    assert (shown["refunded_cents"], shown["due_cents"], amounts(cards, intent)) == (5140, 0, [5140])
    cards.shop.refund(order, method="stripe")
    cards.shop.run_jobs()
    assert (cards.shop.shown(order)["state"], amounts(cards, intent)) == ("refunded", [5140, 5140])
    assert cards.facts("order_refunded", "payout_made") == [
        "order_refunded",
        "order_refunded",
        "payout_made",
        "payout_made",
    ]
    assert_everything_agrees(cards.shop)


def test_asked_twice_before_it_is_sent_it_is_paid_back_once(cards: CardShop) -> None:
    order, intent = sold(cards, "A-1")
    path = f"/api/orders/{order['id']}/refunds"
    cards.shop.refund(order, method="stripe")
    for method in ("stripe", "cash"):
        assert cards.shop.api.refused("POST", path, {"method": method}) == (409, "nothing_to_refund")
    for _ in range(2):
        cards.shop.run_jobs()
    assert amounts(cards, intent) == [5140]
    assert_everything_agrees(cards.shop)


def test_what_was_not_paid_online_is_not_paid_back_online(cards: CardShop) -> None:
    order = cards.shop.order(cards.shop.guest(), "A-1")
    cards.shop.note(order, "cash")
    path = f"/api/orders/{order['id']}/refunds"
    assert cards.shop.api.refused("POST", path, {"method": "stripe"}) == (409, "not_paid_online")
    assert cards.shop.shown(order)["state"] == "paid", "and nothing of it was refunded"


@pytest.mark.parametrize("lost", ["lost_requests", "lost_answers"])
@pytest.mark.parametrize("next_day", [False, True])
def test_network_fails_in_the_middle_of_a_refund(cards: CardShop, lost: str, next_day: bool) -> None:
    order, intent = sold(cards, "A-1", "A-2")
    cards.shop.refund(order, method="stripe", lines=[2])
    getattr(cards.stripe, lost)["/v1/refunds"] = 2
    cards.shop.run_jobs()
    assert cards.shop.shown(order)["due_cents"] == -5140, "nobody knows yet"
    if next_day:
        cards.stripe.forget_keys()
    cards.app_server.advance(MINUTE)
    cards.shop.run_jobs()
    assert (cards.shop.shown(order)["due_cents"], amounts(cards, intent)) == (0, [5140])
    assert_everything_agrees(cards.shop)


def test_refund_made_at_stripe_itself_stands_in_the_ledger(cards: CardShop) -> None:
    order, intent = sold(cards, "A-1")
    cards.stripe.ask("POST", "/v1/refunds", payment_intent=intent, amount="1000")
    told = {"type": "charge.refunded", "data": {"object": {"payment_intent": intent, "metadata": {}}}}
    for _ in range(2):
        assert cards.tell(told) == (200, {"handled": True})
    assert cards.kinds(order)[-1] == ("payout", 1000)
    assert cards.shop.refund(order, method="stripe")["due_cents"] == -4140
    cards.shop.run_jobs()
    assert amounts(cards, intent) == [1000, 4140]


def test_refund_that_comes_back_is_owed_again(cards: CardShop) -> None:
    order, intent = sold(cards, "A-1")
    cards.shop.refund(order, method="stripe")
    cards.shop.run_jobs()
    refund = cards.stripe.refunds(intent)[0]["id"]
    cards.stripe.refund_states[refund] = "failed"
    told = {"type": "refund.failed", "data": {"object": {"id": refund, "payment_intent": intent}}}
    for _ in range(2):
        assert cards.tell(told) == (200, {"handled": True})
    assert [kind for kind, _ in cards.kinds(order)][-2:] == ["payout", "return"]
    assert cards.shop.shown(order)["due_cents"] == -5140
    assert cards.facts("payout_failed") == ["payout_failed"]
    assert cards.shop.refund(order, method="cash", lines=[])["due_cents"] == 0
    assert_everything_agrees(cards.shop)


def test_refused_refund_is_owed_and_told(cards: CardShop) -> None:
    order, intent = sold(cards, "A-1")
    cards.stripe.ask("POST", "/v1/refunds", payment_intent=intent, amount="5140")
    cards.shop.refund(order, method="stripe")
    cards.shop.run_jobs()
    assert (cards.shop.shown(order)["due_cents"], cards.facts("payout_failed")) == (-5140, ["payout_failed"])
    told = {"type": "charge.refunded", "data": {"object": {"payment_intent": intent, "metadata": {}}}}
    cards.tell(told)
    assert cards.shop.shown(order)["due_cents"] == 0, "what was paid back at Stripe itself"
    assert_everything_agrees(cards.shop)


def test_wrong_keys_delay_a_refund_and_doctor_says_so(cards: CardShop) -> None:
    order, intent = sold(cards, "A-1")
    runtime = cards.app_server.runtime
    assert doctor._stripe(runtime) == [{"part": "stripe of marquee", "ok": True, "problem": None}]
    cards.stripe.refused_keys.add(SECRET_KEY)
    assert "does not accept" in doctor._stripe(runtime)[0]["problem"]
    cards.shop.refund(order, method="stripe")
    cards.shop.run_jobs()
    assert (amounts(cards, intent), cards.facts("payout_failed")) == ([], []), "it waits until they are corrected"
    cards.stripe.refused_keys.clear()
    cards.app_server.advance(MINUTE)
    cards.shop.run_jobs()
    assert amounts(cards, intent) == [5140]
    cards.shop.api.patch("/api/organisation/checkout", {"stripe_webhook_secret": ""})
    assert "missing" in doctor._stripe(runtime)[0]["problem"]
