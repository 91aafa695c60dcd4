"""Cards by Stripe: paid once, however often, late or never its webhooks come, and whatever the network loses."""

from __future__ import annotations

import pytest

from tests.builders import MINUTE
from tests.contracts.checkout.shop_floor import assert_everything_agrees
from tests.contracts.checkout.stripe.card_shop import KEYS, CardShop, a_card_shop
from tests.contracts.holds.at_once import together


def test_buyer_pays_and_a_webhook_brings_the_tickets(cards: CardShop) -> None:
    _guest, order, intent = cards.paid("A-1", "A-2")
    assert cards.stripe.intent(intent)["amount"] == 2 * 5140
    assert cards.shop.shown(order)["state"] == "pending"
    assert cards.tell(cards.succeeded(intent)) == (200, {"handled": True})
    shown = cards.shop.shown(order)
    assert (shown["state"], shown["method"], shown["due_cents"]) == ("paid", "stripe", 0)
    assert [line["ticket"]["state"] for line in shown["lines"]] == ["valid", "valid"]
    assert_everything_agrees(cards.shop)


def test_webhook_twice_counts_once(cards: CardShop) -> None:
    _guest, order, intent = cards.paid("A-1")
    for _ in range(3):
        assert cards.tell(cards.succeeded(intent))[0] == 200
    assert cards.kinds(order) == [("charge", 4990), ("payment", 5140)]
    assert cards.facts("order_paid", "payment_received") == ["order_paid", "payment_received"]


def test_one_webhook_fifty_times_at_once_counts_once(cards: CardShop) -> None:
    _guest, order, intent = cards.paid("A-1")
    path, told = cards.webhook_path, cards.succeeded(intent)
    found = together([lambda: cards.tell(told, path=path)[0]] * 50)
    assert set(found) <= {200, 503} and 200 in found, "who is told to come again comes again"
    assert cards.tell(told, path=path)[0] == 200
    assert cards.kinds(order) == [("charge", 4990), ("payment", 5140)]
    assert cards.facts("order_paid", "payment_received") == ["order_paid", "payment_received"]
    assert [line["ticket"]["state"] for line in cards.shop.shown(order)["lines"]] == ["valid"]
    assert_everything_agrees(cards.shop)


def test_page_comes_back_before_the_webhook(cards: CardShop) -> None:
    guest, order, intent = cards.paid("A-1")
    again = cards.shop.pay(guest, order, "stripe")
    assert (again["state"], again["payment"]) == ("paid", None)
    assert cards.tell(cards.succeeded(intent)) == (200, {"handled": True})
    assert cards.shop.pay(guest, order, "stripe")["state"] == "paid"
    assert cards.kinds(order) == [("charge", 4990), ("payment", 5140)]


def test_webhook_that_never_comes_is_not_missed(cards: CardShop) -> None:
    _guest, order, _intent = cards.paid("A-1")
    cards.app_server.advance(MINUTE)
    cards.shop.run_jobs()
    assert cards.shop.shown(order)["state"] == "paid"
    asked = about_payments(cards)
    cards.app_server.advance(30 * MINUTE)
    cards.shop.run_jobs()
    assert about_payments(cards) == asked, "what has arrived is not asked for again"
    assert_everything_agrees(cards.shop)


def about_payments(cards: CardShop) -> list[tuple[str, str]]:
    """What Stripe was asked, but for the search for disputes, which comes back every six hours."""
    return [(method, path) for method, path in cards.stripe.asked if path != "/v1/disputes"]


def test_chosen_twice_it_is_one_payment(cards: CardShop) -> None:
    guest = cards.shop.guest()
    order = cards.shop.order(guest, "A-1")
    assert cards.begin(guest, order) == cards.begin(guest, order)
    assert len(cards.stripe.intents()) == 1


def test_news_in_the_wrong_order_changes_nothing(cards: CardShop) -> None:
    guest = cards.shop.guest()
    order = cards.shop.order(guest, "A-1")
    intent = cards.begin(guest, order)
    cards.stripe.pay(intent, "pm_card_chargeCustomerFail")
    assert cards.shop.pay(guest, order, "stripe")["state"] == "pending"
    failed = cards.stripe.told("payment_intent.payment_failed")[0]
    _other, paid_order, paid = cards.paid("B-1")
    assert cards.tell(cards.succeeded(paid))[0] == 200
    late_failure = failed | {"data": {"object": failed["data"]["object"] | {"id": paid}}}
    assert cards.tell(late_failure) == (200, {"handled": True})
    assert cards.shop.shown(paid_order)["state"] == "paid", "a failure before it, told after it"
    assert cards.tell(failed) == (200, {"handled": True})
    assert cards.shop.shown(order)["state"] == "pending"


def test_order_that_ran_out_can_no_longer_be_paid_at_stripe(cards: CardShop) -> None:
    guest = cards.shop.guest()
    order = cards.shop.order(guest, "A-1")
    intent = cards.begin(guest, order)
    cards.app_server.advance(11 * MINUTE)
    cards.shop.run_jobs()
    cards.app_server.advance(11 * MINUTE)
    cards.shop.run_jobs()
    assert (cards.shop.shown(order)["state"], cards.stripe.intent(intent)["status"]) == ("expired", "canceled")


def test_late_payment_has_its_seats_while_they_are_free(cards: CardShop) -> None:
    _guest, order, intent = cards.paid("A-1")
    cards.app_server.advance(11 * MINUTE)
    cards.stripe.lost_requests["/v1/"] = 100
    cards.shop.run_jobs()
    cards.stripe.lost_requests.clear()
    assert cards.shop.shown(order)["state"] == "expired"
    cards.tell(cards.succeeded(intent))
    assert cards.shop.shown(order)["state"] == "paid"
    assert_everything_agrees(cards.shop)


def test_late_payment_is_paid_back_once_a_seat_is_gone(cards: CardShop) -> None:
    _guest, order, intent = cards.paid("A-1", "A-2")
    cards.app_server.advance(10 * MINUTE + 1)
    ending = [job for job in cards.app_server.parts.jobs if job.name == "checkout.expire"]
    with cards.app_server.database.writing() as session:
        ending[0].run(session, cards.app_server.context())  # type: ignore[arg-type]
    cards.shop.note(cards.shop.order(cards.shop.guest(), "A-1"))
    cards.tell(cards.succeeded(intent))
    kept = cards.shop.shown(order)
    assert (kept["state"], kept["paid_cents"], kept["due_cents"]) == ("expired", 10280, -10280)
    assert cards.facts("payment_returned") == ["payment_returned"]
    cards.shop.run_jobs()
    back = cards.shop.shown(order)
    assert (back["refunded_cents"], back["due_cents"]) == (10280, 0)
    assert [refund["amount"] for refund in cards.stripe.refunds(intent)] == [10280]
    cards.tell(cards.succeeded(intent))
    cards.shop.run_jobs()
    assert len(cards.stripe.refunds(intent)) == 1
    assert_everything_agrees(cards.shop)


def test_payment_for_a_cancelled_order_is_paid_back(cards: CardShop) -> None:
    guest, order, intent = cards.paid("A-1")
    assert guest.ask("DELETE", cards.shop.path(order)).status_code == 204
    cards.app_server.advance(MINUTE)
    for _ in range(2):
        cards.shop.run_jobs()
    back = cards.shop.shown(order)
    assert (back["state"], back["paid_cents"], back["refunded_cents"]) == ("cancelled", 5140, 5140)
    assert [refund["amount"] for refund in cards.stripe.refunds(intent)] == [5140]
    assert_everything_agrees(cards.shop)


def test_paid_at_the_box_office_and_by_card_it_is_paid_back_by_card(cards: CardShop) -> None:
    _guest, order, intent = cards.paid("A-1")
    cards.shop.note(order, "cash")
    cards.tell(cards.succeeded(intent))
    cards.shop.run_jobs()
    shown = cards.shop.shown(order)
    assert (shown["state"], shown["paid_cents"], shown["refunded_cents"]) == ("paid", 2 * 5140, 5140)
    assert [refund["amount"] for refund in cards.stripe.refunds(intent)] == [5140]
    assert_everything_agrees(cards.shop)


@pytest.mark.parametrize("lost", ["lost_requests", "lost_answers"])
def test_network_fails_while_a_payment_begins(cards: CardShop, lost: str) -> None:
    guest = cards.shop.guest()
    order = cards.shop.order(guest, "A-1")
    getattr(cards.stripe, lost)["/v1/payment_intents"] = 2
    path = f"{cards.shop.path(order)}/pay"
    assert guest.refused("POST", path, {"method": "stripe"}) == (503, "stripe_unreachable")
    cards.stripe.pay(cards.begin(guest, order))
    cards.shop.pay(guest, order, "stripe")
    assert cards.shop.shown(order)["state"] == "paid"
    assert len(cards.stripe.intents()) == 1, "whatever was lost, there is one payment"


def test_forged_old_and_foreign_webhooks_are_refused(cards: CardShop) -> None:
    _guest, order, intent = cards.paid("A-1")
    other = a_card_shop(cards.app_server, cards.stripe, "lantern")
    other.shop.api.patch("/api/organisation/checkout", {"stripe_webhook_secret": "whsec_lantern0000"})
    told = cards.succeeded(intent)
    for wrong in (
        {"secret": "whsec_guessed0000"},
        {"secret": "whsec_lantern0000"},
        {"at": cards.app_server.now - 6 * MINUTE},
        {"path": other.webhook_path},
    ):
        status, answer = cards.tell(told, **wrong)
        assert (status, answer["error"]["code"]) == (400, "bad_signature"), wrong
    assert other.tell(told, secret="whsec_lantern0000") == (200, {"handled": False}), "not its payment"
    client = cards.app_server.app.test_client()
    assert client.post(cards.webhook_path, json=told).status_code == 400
    assert client.post(cards.webhook_path, data=b"\xff", headers={"Stripe-Signature": "t=,v1=x"}).status_code == 400
    assert cards.shop.shown(order)["state"] == "pending"
    assert cards.tell({"type": "invoice.paid", "data": {"object": {}}}) == (200, {"handled": False})


def test_keys_are_checked_sealed_and_never_shown(cards: CardShop) -> None:
    path, api = "/api/organisation/checkout", cards.shop.api
    shown = api.get(path)
    assert (shown["stripe_key_ending"], shown["stripe_webhook_secret_set"]) == ("0000", True)
    assert "stripe" in shown["methods"]
    for name, value in KEYS.items():
        assert api.refused("PATCH", path, {name: "nonsense"}) == (400, "bad_stripe_key")
        if name != "stripe_publishable_key":
            assert value not in repr(shown)
    mixed = {"stripe_secret_key": "sk_live_0000000000", "stripe_publishable_key": "pk_test_0000000000"}
    assert api.refused("PATCH", path, mixed) == (400, "stripe_keys_differ")
    rows = cards.shop.sale.rows("SELECT * FROM checkout_settings") + cards.shop.sale.rows(
        "SELECT before, after FROM audit_lines"
    )
    assert not any(KEYS[name] in repr(rows) for name in ("stripe_secret_key", "stripe_webhook_secret"))
    api.patch(path, {"stripe_secret_key": ""})
    assert "stripe" not in api.get(path)["methods"]
    guest = cards.shop.guest()
    order = cards.shop.order(guest, "A-1")
    assert guest.refused("POST", f"{cards.shop.path(order)}/pay", {"method": "stripe"}) == (409, "no_stripe")


def test_another_amount_than_was_due_is_another_payment(cards: CardShop) -> None:
    guest = cards.shop.guest()
    order = cards.shop.order(guest, "A-1")
    first = cards.begin(guest, order)
    cards.shop.note(order, "cash", cents=5000)
    second = cards.begin(guest, order)
    assert (cards.stripe.intent(first)["amount"], cards.stripe.intent(second)["amount"]) == (5140, 140)
    cards.stripe.pay(first)
    cards.stripe.pay(second)
    cards.app_server.advance(MINUTE)
    for _ in range(2):
        cards.shop.run_jobs()
    shown = cards.shop.shown(order)
    assert (shown["state"], shown["paid_cents"] - shown["refunded_cents"], shown["due_cents"]) == ("paid", 5140, 0)
    assert_everything_agrees(cards.shop)
