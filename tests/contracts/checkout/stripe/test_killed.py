"""kill -9 between Stripe's answer and our commit: nothing is charged, and nothing paid back, a second time."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.contracts.checkout.stripe.card_shop import KEYS, WEBHOOK_SECRET
from tests.contracts.checkout.test_killed import TillKilled
from tests.services.stripe_server import StripeFront, wait_until


@pytest.fixture
def till(database_url: str, tmp_path: Path, stripe_front: StripeFront) -> Iterator[TillKilled]:
    """The demo event, whose organiser has keys of Stripe."""
    till = TillKilled(database_url, tmp_path, GATEHOUSE_STRIPE_URL=stripe_front.url)
    yield till
    till.close()


def start(till: TillKilled) -> None:
    till.start()
    if not till.runtime.parts.database.embedded and not till.worker.running:
        till.worker.start()


def ordered(till: TillKilled) -> dict[str, Any]:
    """An order of one seat, in the shop."""
    seat = till.rows(
        "SELECT id FROM layout_seats WHERE category = 'standard' AND number NOT IN (SELECT seat FROM event_seats) "
        "ORDER BY number"
    )[0][0]
    status, held = till.staff("POST", f"/api/events/{till.event}/seats/{seat}/reserve", {})
    assert status == 201, held
    body = {"holds": [{"hold_id": held["data"]["hold_id"]}]}
    status, order = till.staff("POST", f"/api/o/demo/events/{till.event}/orders", body)
    assert status == 201, order
    return dict(order)


@contextmanager
def killed_at(till: TillKilled, stripe: StripeFront, path: str) -> Iterator[None]:
    """Kill whoever asks Stripe for this, once it was carried out and before the answer arrives."""
    reached, released = threading.Event(), threading.Event()

    def stop_there(method: str, asked: str) -> None:
        if (method, asked) == ("POST", path) and not released.is_set():
            reached.set()
            released.wait(30)

    stripe.before_answer = stop_there
    try:
        yield
        assert reached.wait(30)
        till.server.kill()
        till.worker.kill()
    finally:
        released.set()


def ask_in_vain(till: TillKilled, path: str) -> None:
    with suppress(OSError, http.client.HTTPException):
        till.staff("POST", path, {"method": "stripe"})


def test_killed_between_call_and_commit(till: TillKilled, stripe_front: StripeFront) -> None:
    start(till)
    assert till.staff("PATCH", "/api/organisation/checkout", KEYS)[0] == 200
    order = ordered(till)
    path = f"/api/o/demo/orders/{order['id']}/pay"
    with killed_at(till, stripe_front, "/v1/payment_intents"):
        waiting = threading.Thread(target=ask_in_vain, args=(till, path))
        waiting.start()
    waiting.join()
    assert till.rows("SELECT state, intent FROM stripe_payments") == [("begun", None)]
    start(till)
    status, paying = till.staff("POST", path, {"method": "stripe"})
    assert (status, len(stripe_front.intents())) == (200, 1), "the payment that was begun, and no second"
    stripe_front.pay(paying["payment"]["client_secret"].partition("_secret_")[0])
    assert till.staff("POST", path, {"method": "stripe"})[1]["state"] == "paid"
    with killed_at(till, stripe_front, "/v1/refunds"):
        assert till.staff("POST", f"/api/orders/{order['id']}/refunds", {"method": "stripe"})[0] == 200
    assert len(stripe_front.refunds()) == 1
    assert till.rows("SELECT state, attempts FROM payouts") == [("waiting", 1)]
    stripe_front.forget_keys()
    start(till)
    with till.runtime.parts.database.writing() as session:
        session.execute(text("UPDATE payouts SET try_at = 0"))  # two minutes later
    wait_until(lambda: till.rows("SELECT state FROM payouts") == [("made",)])
    assert [refund["amount"] for refund in stripe_front.refunds()] == [order["total_cents"]]
    moved = till.rows("SELECT kind, COUNT(*) FROM money_movements WHERE method = 'stripe' GROUP BY kind ORDER BY kind")
    assert moved == [("payment", 1), ("payout", 1)]
    assert till.staff("GET", f"/api/orders/{order['id']}")[1]["due_cents"] == 0


def test_webhook_that_stripe_sends_and_signs_itself(till: TillKilled, stripe_front: StripeFront) -> None:
    start(till)
    assert till.staff("PATCH", "/api/organisation/checkout", KEYS)[0] == 200
    settings = till.staff("GET", "/api/organisation/checkout")[1]
    url = settings["stripe_webhook_url"].replace("http://localhost:8000", f"http://127.0.0.1:{till.port}")
    webhook = {"url": url, "secret": WEBHOOK_SECRET, "events": ["payment_intent.succeeded"]}
    config = f"http://127.0.0.1:{stripe_front.behind}/_config/webhooks/gatehouse"
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(config, json.dumps(webhook).encode(), headers), timeout=10).close()
    order = ordered(till)
    paying = till.staff("POST", f"/api/o/demo/orders/{order['id']}/pay", {"method": "stripe"})[1]
    stripe_front.pay(paying["payment"]["client_secret"].partition("_secret_")[0])
    wait_until(lambda: till.staff("GET", f"/api/orders/{order['id']}")[1]["state"] == "paid", seconds=20)
