"""kill -9 while a cancelled event is refunded: each buyer is refunded once and written to, and the books balance.

In the suite with 80 orders and 3 kills; GATEHOUSE_TEST_CANCELLED_ORDERS=10000 GATEHOUSE_TEST_KILLS=20, with
`--timeout=7200`, is the whole.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import text

from sync_server.checkout.orders import placing
from sync_server.checkout.orders.order_request import Buyer, Chosen, OrderRequest
from sync_server.checkout.payments import paying
from sync_server.checkout.payments.methods import METHODS
from sync_server.checkout.payments.paying import Arrived
from sync_server.checkout.rules import Channel
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from tests.builders import a_ticket_type, a_venue, an_event
from tests.contracts.checkout.stripe.card_shop import KEYS
from tests.contracts.checkout.test_killed import TillKilled
from tests.services.mail_server import MailBox
from tests.services.stripe_server import StripeFront, wait_until

ORDERS = int(os.environ.get("GATEHOUSE_TEST_CANCELLED_ORDERS", "80"))
KILLS = int(os.environ.get("GATEHOUSE_TEST_KILLS", "3"))
BY_CARD = 6
"""One order in so many was paid by Stripe; the others in cash."""
PATIENCE_S = 60 + ORDERS / 5


class Headers(list[Any]):
    """What is kept of mails that arrive: thousands of whole ones would fill the memory."""

    def append(self, mail: Any) -> None:
        super().append((str(mail["Message-ID"]), str(mail["To"]), str(mail["Subject"])))


class CalledOff(TillKilled):
    """An event whose every order is paid, behind processes that are killed."""

    def __init__(self, url: str, folder: Path, stripe: StripeFront) -> None:
        super().__init__(url, folder, GATEHOUSE_STRIPE_URL=stripe.url)
        self.stripe = stripe
        self.bought: dict[str, int] = {}  # cents by order

    def begin(self) -> None:
        """The server runs; on PostgreSQL the worker is another process."""
        self.start()
        if not self.runtime.parts.database.embedded:
            self.worker.start()

    def kill(self) -> None:
        self.server.kill()
        self.worker.kill()

    def prepare(self) -> str:
        """An event with room for everybody; its id."""
        assert self.staff("PATCH", "/api/organisation/checkout", KEYS)[0] == 200
        venue = self.staff("POST", "/api/venues", a_venue(name="Field"))[1]["id"]
        times = {"start_at": "2036-07-04T19:00:00Z", "end_at": "2036-07-05T00:00:00Z"}
        new = an_event(venue, capacity=ORDERS + 50, **times)
        status, event = self.staff("POST", "/api/events", new)
        assert status == 201, event
        kind = a_ticket_type(name="Standing", price_cents=2500, fee_cents=150, quantity=ORDERS + 50)
        assert self.staff("POST", f"/api/events/{event['id']}/ticket-types", kind)[0] == 201
        status, published = self.staff("POST", f"/api/events/{event['id']}/publish", {})
        assert status == 200, published
        return str(event["id"])

    def sell(self, event: str) -> None:
        """Every order is paid, some of them at Stripe."""
        parts = self.runtime.parts
        organisation = self.rows(f"SELECT organisation_id FROM events WHERE id = '{event}'")[0][0]
        bearer = self.rows("SELECT id FROM api_tokens")[0][0]
        who = ActionContext(SYSTEM, parts.clock(), parts.entropy)
        request = OrderRequest(
            str(organisation), event, Channel.BOX_OFFICE, "token", str(bearer), [Chosen(types={1: 1})]
        )
        paid = {number: self._paid_at_stripe(2650) for number in range(0, ORDERS, BY_CARD)}
        for first in range(0, ORDERS, 100):
            with parts.database.writing() as session:
                for number in range(first, min(first + 100, ORDERS)):
                    buyer = Buyer(email=address(number), locale="en")
                    wanted, now = replace(request, buyer=buyer), structs.replace(who, now=parts.clock())
                    placed = placing.place(session, parts.sealer, wanted, now)
                    order = placed.whole.order
                    method, reference = METHODS["stripe" if number in paid else "cash"], f"cash {number}"
                    payment = Arrived(method, order.total_cents, paid.get(number, reference))
                    paying.receive(session, parts.sealer, paying.key_of(order), payment, who)
                    self.bought[order.id] = order.total_cents

    def write_to_buyers(self, mail_box: MailBox) -> None:
        """From now on there is a mail server; of what was sold before nobody is told any more."""
        wait_until(lambda: self.rows(_UNTOLD) == [(0,)], PATIENCE_S)
        self.kill()
        more = {"GATEHOUSE_MAIL_URL": mail_box.url, "GATEHOUSE_BASE_URL": "https://tickets.example"}
        for child in (self.server, self.worker):
            child.environment = {**child.environment, **more}
        self.begin()

    def hurry(self) -> None:
        """The minutes pass after which another process takes over what a killed one had begun."""
        with self.runtime.parts.database.writing() as session:
            session.execute(text("UPDATE payouts SET try_at = 0 WHERE state = 'waiting'"))
            session.execute(text("UPDATE mails SET due_at = 0 WHERE state = 'waiting'"))

    def _paid_at_stripe(self, cents: int) -> str:
        made = self.stripe.ask("POST", "/v1/payment_intents", amount=str(cents), currency="eur")
        self.stripe.pay(made["id"])
        return str(made["id"])

    def refunded(self) -> int:
        return int(self.rows("SELECT COUNT(*) FROM orders WHERE state = 'refunded'")[0][0])


_UNTOLD = (
    "SELECT COUNT(*) FROM outbox WHERE name = 'order_paid' AND (position IS NULL OR position > COALESCE(("
    "SELECT position FROM outbox_cursors c WHERE reader = 'buyers' AND c.organisation_id = outbox.organisation_id), 0))"
)


_UNWRITTEN = "SELECT COUNT(*) FROM event_news WHERE done_at IS NULL"


def address(number: int) -> str:
    return f"buyer{number}@called.example"


@pytest.fixture
def till(database_url: str, tmp_path: Path, stripe_front: StripeFront) -> Iterator[CalledOff]:
    """An event that is about to be called off."""
    till = CalledOff(database_url, tmp_path, stripe_front)
    yield till
    till.close()


def test_everybody_is_refunded_once_whenever_it_is_killed(till: CalledOff, mail_box: MailBox) -> None:
    mail_box.arrived = Headers()
    till.begin()
    event = till.prepare()
    till.sell(event)
    till.write_to_buyers(mail_box)
    path = f"/api/events/{event}/cancellation"
    affected = till.staff("GET", f"{path}/affected")[1]
    assert (affected["orders"], affected["cents"]) == (ORDERS, 2650 * ORDERS)
    status, begun = till.staff("POST", path, {"choice": "refund", "orders": ORDERS, "reason": "storm"})
    assert status == 202, begun
    killed_at = []
    for kill in range(1, KILLS + 1):
        wait_until(lambda least=kill * ORDERS // (KILLS + 1): till.refunded() >= least, PATIENCE_S)  # type: ignore[misc]
        till.kill()
        killed_at.append(till.refunded())
        till.begin()
    assert min(killed_at) < ORDERS, "killed while it worked"
    wait_until(lambda: till.staff("GET", path)[1]["state"] == "done", PATIENCE_S)
    till.hurry()
    wait_until(lambda: till.staff("GET", path)[1]["waiting_cents"] == 0, PATIENCE_S)
    assert_each_refunded_once(till, event)
    wait_until(lambda: till.rows(_UNWRITTEN) == [(0,)], PATIENCE_S)
    till.hurry()
    wait_until(lambda: till.rows("SELECT COUNT(*) FROM mails WHERE state = 'waiting'") == [(0,)], PATIENCE_S)
    assert_each_written_to_once(till, mail_box)


def assert_each_written_to_once(till: CalledOff, mail_box: MailBox) -> None:
    """Each mail is posted once. Only one that was on its way at a kill may arrive again, under the same Message-ID."""
    by_card = range(0, ORDERS, BY_CARD)
    assert till.rows("SELECT state, COUNT(*) FROM mails GROUP BY state") == [("sent", ORDERS + len(by_card))]
    arrived = Counter(mail_box.arrived)
    told = Counter((to, subject.partition(":")[0].partition(" for ")[0]) for _id, to, subject in arrived)
    cancelled = {(address(number), "Cancelled") for number in range(ORDERS)}
    assert told == Counter(cancelled | {(address(number), "Refund") for number in by_card})
    again = sum(arrived.values()) - len(arrived)
    assert again <= KILLS * (1 if till.runtime.parts.database.embedded else 2), "what was on its way, of each process"
    print(f"{ORDERS} orders, {KILLS} kills: {len(arrived)} mails, {again} of them arrived twice")


def assert_each_refunded_once(till: CalledOff, event: str) -> None:
    """At Stripe, in the ledger, in the facts, at the gates and in the list of the box office."""
    by_card = len(range(0, ORDERS, BY_CARD))
    at_stripe = Counter(refund["payment_intent"] for refund in till.stripe.refunds())
    assert len(at_stripe) == by_card and set(at_stripe.values()) == {1}
    assert {refund["amount"] for refund in till.stripe.refunds()} == {2650}
    moved: Counter[tuple[str, str]] = Counter()
    counts: dict[str, Counter[str]] = {}
    for order, kind, cents in till.rows("SELECT order_id, kind, cents FROM money_movements"):
        moved[str(order), kind] += cents
        counts.setdefault(str(order), Counter())[kind] += 1
    for order, cents in till.bought.items():
        assert moved[order, "charge"] == moved[order, "payment"] == moved[order, "credit"] == cents
        assert counts[order]["credit"] == 2 and counts[order]["payout"] in {0, 1}, "tickets and fees, once"
    assert sum(moved[order, "payout"] for order in till.bought) == 2650 * by_card
    view: Any = till.staff("GET", f"/api/events/{event}/cancellation")[1]
    assert (view["done_orders"], view["failed_orders"], view["paid_back_cents"]) == (ORDERS, 0, 2650 * by_card)
    assert (view["owed_orders"], view["owed_cents"]) == (ORDERS - by_card, 2650 * (ORDERS - by_card))
    told = till.rows("SELECT COUNT(*), COUNT(DISTINCT subject_id) FROM audit_lines WHERE action = 'order_refunded'")
    assert told == [(ORDERS, ORDERS)]
    assert till.rows(f"SELECT COUNT(*) FROM tickets WHERE event_id = '{event}' AND state <> 1") == [(0,)]
