"""Whatever buyers, networks and webhooks do, in any order: the ledger, Stripe and the seats agree to the cent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sync_server.checkout.orders import links
from tests.app_server import AppServer
from tests.builders import MINUTE
from tests.contracts.checkout.shop_floor import assert_everything_agrees
from tests.contracts.checkout.stripe.card_shop import CardShop, a_card_shop
from tests.contracts.checkout.test_random_sales import SEATS, Evening
from tests.services.stripe_server import StripeFront

ORDER = st.integers(0, 5)
DISPUTES = ("warning_needs_response", "needs_response", "under_review", "won", "lost")
STEPS = st.one_of(
    st.tuples(st.just("order"), st.sampled_from(SEATS), st.integers(0, 2)),
    st.tuples(st.just("begin"), ORDER, st.none()),
    st.tuples(st.just("pay at stripe"), ORDER, st.booleans()),
    st.tuples(st.just("tell"), ORDER, st.integers(1, 2)),
    st.tuples(st.just("pay"), ORDER, st.sampled_from([None, 100])),
    st.tuples(st.just("refund"), ORDER, st.sampled_from([None, [1], [2], []])),
    st.tuples(st.just("refund by stripe"), ORDER, st.sampled_from([None, [1], [2], []])),
    st.tuples(st.just("refund at stripe"), ORDER, st.sampled_from([100, 5140])),
    st.tuples(st.just("dispute"), ORDER, st.tuples(st.sampled_from(DISPUTES), st.booleans(), st.booleans())),
    st.tuples(st.just("cancel"), ORDER, st.none()),
    st.tuples(st.just("lose"), st.sampled_from(["lost_requests", "lost_answers"]), st.integers(1, 3)),
    st.tuples(st.just("wait"), st.sampled_from([1, 6, 11]), st.booleans()),
)


@dataclass
class Payments(Evening):
    """One run, with buyers who pay at Stripe."""

    cards: CardShop = field(kw_only=True)

    def do(self, what: str, which: Any, how: Any) -> None:
        if what == "lose":
            getattr(self.cards.stripe, which)["/v1/"] = how
            return
        super().do(what, which, how)

    def intents(self, order: str) -> list[str]:
        """The payments of an order at Stripe."""
        made = self.cards.stripe.intents()
        return sorted(intent["id"] for intent in made if intent["metadata"].get("order") == order)

    def begin(self, order: str, _how: None) -> None:
        path = f"/api/o/{self.shop.sale.slug}/orders/{order}"
        response = self.shop.sale.guest().ask("POST", f"{path}/pay", {"method": "stripe"}, **self._link(order))
        assert response.status_code in {200, 409, 503}, response.get_data(as_text=True)[:500]

    def _link(self, order: str) -> dict[str, str]:
        sealer = self.cards.app_server.parts.sealer
        return {"X-Order-Secret": links.secret_of(sealer, self.shop.sale.organisation_id, order)}

    def pay_at_stripe(self, order: str, declined: bool) -> None:
        for intent in self.intents(order):
            found = self.cards.stripe.intent(intent)
            if found["status"] == "requires_payment_method" and not found["latest_charge"]:  # localstripe tries once
                self.cards.stripe.pay(intent, "pm_card_chargeCustomerFail" if declined else "pm_card_visa")

    def tell(self, order: str, times: int) -> None:
        """All that Stripe would tell of the order's payments, the latest first."""
        mine = set(self.intents(order))
        told = [*self.cards.stripe.told("payment_intent.succeeded"), *self._refunds_told(mine)]
        for each in reversed([one for one in told if self._intent_of(one) in mine] * times):
            status, _ = self.cards.tell(each)
            assert status in {200, 503}

    @staticmethod
    def _intent_of(told: Any) -> str:
        about = told["data"]["object"]
        return str(about.get("payment_intent") or about["id"])

    @staticmethod
    def _refunds_told(intents: set[str]) -> list[Any]:
        return [{"type": "charge.refunded", "data": {"object": {"payment_intent": each}}} for each in sorted(intents)]

    def refund_by_stripe(self, order: str, lines: list[int] | None) -> None:
        body = {"method": "stripe"} | ({} if lines is None else {"lines": lines})
        self._ask(self.shop.api, f"/api/orders/{order}/refunds", body)

    def refund_at_stripe(self, order: str, cents: int) -> None:
        """Somebody pays back in Stripe's dashboard what the order owes, and no more."""
        owed = -self.shop.api.get(f"/api/orders/{order}")["due_cents"]
        for intent in self.intents(order):
            found = self.cards.stripe.intent(intent)
            left = found["amount"] - sum(each["amount"] for each in self._refunds_of(found))
            if found["status"] == "succeeded" and min(owed, left) >= cents:
                self.cards.stripe.ask("POST", "/v1/refunds", payment_intent=intent, amount=str(cents))
                owed -= cents

    def dispute(self, order: str, how: tuple[str, bool, bool]) -> None:
        """A buyer's bank has come to something about a payment, all of it or a part, and Stripe may tell of it."""
        status, whole, told = how
        for intent in self.intents(order):
            found = self.cards.stripe.intent(intent)
            left = found["amount"] - sum(each["amount"] for each in self._refunds_of(found))
            cents = left if whole else min(left, 100)
            before = next(
                (each for each in self.cards.stripe.disputes.values() if each["payment_intent"] == intent), None
            )
            if found["status"] != "succeeded" or cents <= 0:
                continue
            cents = cents if before is None else before["amount"]
            gone = -sum(each["amount"] for each in before["balance_transactions"]) if before else 0
            due = 0 if status in {"warning_needs_response", "won"} else cents
            made = self.cards.stripe.dispute(intent, status, cents=cents, moved=gone - due)
            if told:
                self.tell_disputes([made])

    def tell_disputes(self, made: Iterable[Any]) -> None:
        for each in made:
            told = {"type": "charge.dispute.updated", "data": {"object": dict(each)}}
            assert self.cards.tell(told)[0] in {200, 503}

    def settle(self) -> None:
        """The network works again, and Stripe tells all that it had to tell."""
        self.cards.stripe.lost_requests.clear()
        self.cards.stripe.lost_answers.clear()
        for _ in range(4):
            self.cards.app_server.advance(35 * MINUTE)
            self.shop.run_jobs()
        for order in self.orders:
            self.tell(order, 1)
        mine = {intent for order in self.orders for intent in self.intents(order)}
        self.tell_disputes(each for each in self.cards.stripe.disputes.values() if each["payment_intent"] in mine)

    def assert_stripe_agrees(self) -> None:
        """What stands in the ledger for Stripe is what Stripe has, to the cent."""
        for order in self.orders:
            intents_of = self.intents(order)
            intents = [self.cards.stripe.intent(each) for each in intents_of]
            assert {each["status"] for each in intents} <= {"succeeded", "canceled"}, "nothing is left open"
            received = sum(each["amount"] for each in intents if each["status"] == "succeeded")
            returned = sum(each["amount"] for intent in intents for each in self._refunds_of(intent))
            here = "FROM money_movements WHERE order_id = :id AND method = 'stripe'"
            moved = dict(self.shop.sale.rows(f"SELECT kind, SUM(cents) {here} GROUP BY kind", id=order))
            assert moved.get("payment", 0) == received
            assert moved.get("payout", 0) - moved.get("return", 0) == returned <= received
            disputed = [each for each in self.cards.stripe.disputes.values() if each["payment_intent"] in intents_of]
            gone = -sum(part["amount"] for each in disputed for part in each["balance_transactions"])
            assert moved.get("withdrawal", 0) - moved.get("reinstated", 0) == gone
            fees = sum(part["fee"] for each in disputed for part in each["balance_transactions"])
            assert moved.get("fee", 0) - moved.get("fee_back", 0) == fees
            lost = sum(each["amount"] for each in disputed if each["status"] == "lost")
            assert moved.get("chargeback", 0) - moved.get("recovered", 0) == lost

    def _refunds_of(self, intent: Any) -> list[Any]:
        return self.cards.stripe.refunds(intent["id"]) if intent["status"] == "succeeded" else []


def test_stripe_and_the_ledger_agree_whatever_happens(
    database_url: str, tmp_path: Path, stripe_front: StripeFront
) -> None:
    app_server = AppServer(database_url, tmp_path, stripe_url=stripe_front.url)
    count = 0

    @settings(
        max_examples=12 if app_server.database.embedded else 5,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(STEPS, min_size=8, max_size=22))
    def run(steps: list[tuple[str, Any, Any]]) -> None:
        nonlocal count
        count += 1
        cards = a_card_shop(app_server, stripe_front, slug=f"shop-{count}")
        evening = Payments(cards.shop, cards=cards)
        for step in [("order", SEATS[0], 1), ("begin", 0, None), *steps]:
            evening.do(*step)
        evening.settle()
        evening.assert_stripe_agrees()
        assert_everything_agrees(cards.shop)

    run()
    app_server.close()
