"""The checkout of an event: so many at once, one session each, ten minutes, and free again as soon as it may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.checkout.shop_floor import ACCOUNT, Shop, a_shop, assert_everything_agrees
from tests.contracts.holds.at_once import guests, together, tried
from tests.contracts.queueing.rush import OPENING, TAB, a_rush

BUYER = {"name": "Ada Lovelace", "email": "ada@lovelace.example", "locale": "en"}
OTHER_TAB = "0b" * 16


@pytest.fixture
def narrow(app_server: AppServer) -> Shop:
    """A shop in whose checkout two may be at once."""
    return a_shop(app_server, sessions=2)


@pytest.fixture
def nodes(app_server: AppServer, tmp_path: Path) -> Iterator[list[AppServer]]:
    """Three servers on one PostgreSQL; on SQLite only one."""
    if app_server.database.embedded:
        yield [app_server]
        return
    others = [AppServer(app_server.url, tmp_path, fresh=False) for _ in range(2)]
    yield [app_server, *others]
    for other in others:
        other.close()


def most_at_once(shop: Shop) -> int:
    """How many sessions of the event were ever open at the same time, as the table tells."""
    sessions = shop.sale.rows(
        "SELECT opened_at, COALESCE(ended_at, expires_at) FROM checkout_sessions WHERE event_id = :event",
        event=shop.sale.id,
    )
    return max((sum(a <= at < b for a, b in sessions) for at, _ in sessions), default=0)


def test_five_may_be_in_the_checkout_unless_the_organiser_says_otherwise(app_server: AppServer) -> None:
    shop = a_shop(app_server, sessions=5)
    shop.sale.rows("SELECT 1")
    with app_server.database.writing() as session:
        session.connection().exec_driver_sql("DELETE FROM checkout_limits")
    assert shop.api.get(f"{shop.sale.path}/checkout")["sessions"] == 5
    for _ in range(5):
        shop.guest().post(shop.checkout_path)
    assert shop.guest().refused("POST", shop.checkout_path) == (429, "checkout_full")
    changed = shop.api.put(f"{shop.sale.path}/checkout", {"sessions": 6})
    assert (changed["sessions"], changed["open"]) == (6, 5)
    shop.guest().post(shop.checkout_path)
    shop.api.put(f"{shop.sale.path}/checkout", {"sessions": 1})
    assert shop.guest().refused("POST", shop.checkout_path) == (429, "checkout_full")


def test_a_guest_who_lost_the_connection_goes_on_with_the_time_that_was_left(narrow: Shop) -> None:
    guest = narrow.guest()
    assert guest.refused("GET", narrow.checkout_path) == (404, "no_checkout_session")
    entered = guest.post(narrow.checkout_path)
    assert entered["remaining_seconds"] == 600
    narrow.app_server.advance(4 * MINUTE)
    again = guest.post(narrow.checkout_path, status=200)
    assert (again["id"], again["remaining_seconds"]) == (entered["id"], 360)
    assert guest.get(narrow.checkout_path) == again
    narrow.app_server.advance(6 * MINUTE)
    assert guest.refused("GET", narrow.checkout_path) == (404, "no_checkout_session")
    assert guest.post(narrow.checkout_path)["id"] != entered["id"]


def test_a_full_checkout_says_for_how_long_at_most(narrow: Shop) -> None:
    narrow.guest().post(narrow.checkout_path)
    narrow.app_server.advance(3 * MINUTE)
    narrow.guest().post(narrow.checkout_path)
    late = narrow.guest()
    answer = late.ask("POST", narrow.checkout_path)
    assert answer.status_code == 429 and answer.json is not None and answer.headers["Retry-After"] == "5"
    error = answer.json["error"]
    assert (error["code"], error["details"]["limit"], error["details"]["wait_seconds"]) == ("checkout_full", 2, 420)
    assert "7 minutes" in error["message"]
    narrow.app_server.advance(7 * MINUTE)
    late.post(narrow.checkout_path)


def test_an_order_needs_a_slot_and_what_is_held_stays_held_without_one(narrow: Shop) -> None:
    first, second, third = (narrow.guest() for _ in range(3))
    narrow.order(first, "A-1")
    second.post(narrow.checkout_path)
    body = {"holds": narrow.hold(third, "A-8")}
    assert third.refused("POST", narrow.orders_path, body) == (429, "checkout_full")
    box_office = {"seats": [{"seat_id": "B-1"}], "method": "cash"}
    narrow.api.post(f"{narrow.sale.path}/sales", box_office)  # does not stand in line
    assert second.ask("DELETE", narrow.checkout_path).status_code == 204
    third.post(narrow.orders_path, body)
    assert_everything_agrees(narrow)


def test_paying_and_an_invoice_free_the_slot(narrow: Shop) -> None:
    narrow.api.patch("/api/organisation/checkout", ACCOUNT)
    narrow.api.patch(f"{narrow.sale.path}/ticket-types/{narrow.floor}", {"price_cents": 0})
    payer, invoiced = narrow.guest(), narrow.guest()
    free = payer.post(narrow.orders_path, {"holds": [{"hold_id": narrow.hold_places(payer, 1)}]})
    waiting = narrow.order(invoiced, "A-1", buyer=BUYER)
    assert narrow.guest().refused("POST", narrow.checkout_path) == (429, "checkout_full")
    narrow.pay(payer, free, "free")
    narrow.pay(invoiced, waiting, "invoice")
    assert narrow.api.get(f"{narrow.sale.path}/checkout")["open"] == 0
    states = narrow.sale.rows("SELECT state FROM checkout_sessions")
    assert states == [("paid",), ("paid",)]


def test_cancelling_the_order_and_leaving_free_the_slot_and_the_seats(narrow: Shop) -> None:
    first, second = narrow.guest(), narrow.guest()
    order = narrow.order(first, "A-1")
    assert first.ask("DELETE", narrow.path(order)).status_code == 204
    left = narrow.order(second, "A-8")
    assert second.ask("DELETE", narrow.checkout_path).status_code == 204
    assert second.ask("DELETE", narrow.checkout_path).status_code == 204
    assert narrow.shown(left)["state"] == "cancelled"
    assert narrow.sale.states() == {"A-1": 0, "A-8": 0}
    assert narrow.api.get(f"{narrow.sale.path}/checkout")["open"] == 0
    assert_everything_agrees(narrow)


def test_an_order_made_in_time_is_paid_after_the_session_is_over(narrow: Shop) -> None:
    guest = narrow.guest()
    guest.post(narrow.checkout_path)
    narrow.app_server.advance(9 * MINUTE)
    order = narrow.order(guest, "A-1")
    narrow.app_server.advance(2 * MINUTE)
    narrow.run_jobs()
    assert narrow.note(order, "card")["state"] == "paid"


def test_no_more_than_the_limit_ever_are_in_the_checkout(narrow: Shop, nodes: list[AppServer]) -> None:
    visitors = guests(narrow.sale, nodes, 12)
    found: Counter[tuple[int, str]] = Counter()
    for _ in range(4):
        found.update(together([lambda one=one: tried(one, narrow.checkout_path, {}) for one in visitors]))  # type: ignore[misc]
        assert narrow.api.get(f"{narrow.sale.path}/checkout")["open"] == 2
        together([lambda one=one: one.ask("DELETE", narrow.checkout_path).status_code for one in visitors[:6]])  # type: ignore[misc]
        for node in nodes:
            node.advance(3 * MINUTE)
    assert set(found) <= {(201, ""), (200, ""), (429, "checkout_full")}
    assert most_at_once(narrow) <= 2


def test_one_guest_who_enters_many_times_at_once_is_in_it_once(narrow: Shop, nodes: list[AppServer]) -> None:
    guest = guests(narrow.sale, nodes, 1)[0]
    cookie = guest.client.get_cookie("gatehouse_guest_marquee")
    assert cookie is not None

    def enter(node: AppServer) -> int:
        client = node.app.test_client()
        client.set_cookie("gatehouse_guest_marquee", cookie.value)
        return ApiClient(client, guest.headers).ask("POST", narrow.checkout_path).status_code

    statuses = Counter(together([lambda node=node: enter(node) for node in (nodes * 6)[:6]]))  # type: ignore[misc]
    assert statuses == {201: 1, 200: 5}
    assert narrow.api.get(f"{narrow.sale.path}/checkout")["open"] == 1


def test_many_nodes_clean_up_at_once_and_once_more(narrow: Shop, nodes: list[AppServer]) -> None:
    for _ in range(2):
        narrow.guest().post(narrow.checkout_path)
    for node in nodes:
        node.advance(10 * MINUTE)
    together([node.run_worker for node in nodes])
    narrow.run_jobs()
    assert narrow.sale.rows("SELECT state, COUNT(*) FROM checkout_sessions GROUP BY state") == [("expired", 2)]
    counted = sum(
        node.parts.metrics.registry.get_sample_value("gatehouse_checkout_sessions_total", {"outcome": "expired"}) or 0
        for node in nodes
    )
    assert counted == 2


def test_metrics_show_sessions_and_orders(narrow: Shop) -> None:
    order = narrow.order(narrow.guest(), "A-1")
    narrow.guest().post(narrow.checkout_path)
    narrow.guest().ask("POST", narrow.checkout_path)
    shown = narrow.app_server.parts.metrics.text().decode()
    for line in (
        'gatehouse_checkout_sessions_total{outcome="opened"} 2.0',
        'gatehouse_checkout_sessions_total{outcome="full"} 1.0',
        'gatehouse_orders_total{fact="order_created"} 1.0',
        "gatehouse_checkout_sessions_open 2.0",
        "gatehouse_orders_pending 1.0",
    ):
        assert line in shown.splitlines(), line
    narrow.note(order, "card")
    assert 'gatehouse_orders_total{fact="order_paid"} 1.0' in narrow.app_server.parts.metrics.text().decode()


def test_a_foreign_shop_and_a_guest_without_a_session_do_not_enter(narrow: Shop) -> None:
    narrow.app_server.organisation("neighbour")
    client = narrow.app_server.app.test_client()
    client.post("/api/o/neighbour/session")
    assert client.post(narrow.checkout_path).status_code in {401, 403, 404}
    assert narrow.app_server.app.test_client().post(narrow.checkout_path).status_code == 401
    unknown = narrow.checkout_path.replace(narrow.sale.id, "019f0000-0000-7000-8000-000000000000")
    assert narrow.guest().refused("POST", unknown)[0] in {400, 404}


def test_the_queue_lets_in_as_many_as_the_checkout_takes(app_server: AppServer) -> None:
    rush = a_rush(app_server, slots=2)
    rush.until(OPENING)
    first, _, third = (rush.join() for _ in range(3))
    rush.take_pass(first)
    checkout = f"/api/o/{rush.sale.slug}/events/{rush.sale.id}/checkout"
    assert rush.place(third)["state"] == "waiting"
    assert third.refused("POST", checkout) == (403, "queue_not_your_turn")
    assert rush.sale.guest().refused("POST", checkout) == (403, "queue_required")
    assert first.ask("POST", checkout, {}, **{"X-Queue-Tab": OTHER_TAB}).status_code == 403
    first.post(checkout, **{"X-Queue-Tab": TAB})
    app_server.advance(1_001)
    assert rush.place(third)["state"] == "waiting", "who is in the checkout counts once, not twice, and not never"
    rush.let_in(3)
    app_server.advance(1_001)
    assert rush.place(third)["state"] == "admitted"


def test_who_is_in_the_checkout_takes_a_slot_after_the_pass_has_run_out(app_server: AppServer) -> None:
    rush = a_rush(app_server, slots=1, pass_minutes=2)
    rush.until(OPENING)
    first, second = rush.join(), rush.join()
    rush.take_pass(first)
    app_server.advance(MINUTE)
    checkout = f"/api/o/{rush.sale.slug}/events/{rush.sale.id}/checkout"
    first.post(checkout, **{"X-Queue-Tab": TAB})
    app_server.advance(2 * MINUTE)
    app_server.run_worker()
    assert rush.place(first)["state"] == "expired"
    assert rush.place(second)["state"] == "waiting"
    assert first.ask("DELETE", checkout).status_code == 204
    app_server.advance(1_001)
    assert rush.place(second)["state"] == "admitted"
