"""Orders that are paid in the request that makes them, and how often a purchase asks the database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from shared.errors import Conflict
from sync_server.holds import ordering
from sync_server.holds.selling import inventory
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from tests.app_server import ApiClient, AppServer
from tests.contracts.checkout.shop_floor import ACCOUNT, Shop, a_shop, assert_everything_agrees
from tests.contracts.checkout.test_races import attempts
from tests.contracts.checkout.test_walk import BUYER
from tests.contracts.holds.at_once import guests

SEATS = ("A-1", "A-2", "A-3", "A-4")
FREE = {"method": "free"}
ASKED_AT_ONCE, ASKED_FOR_ORDER, ASKED_FOR_PAYMENT = 4, 7, 21
"""How often ordering and paying four seats may wait for PostgreSQL, in one request and in two, without BEGIN."""
ASKED_UNDER_LOCK = 3
"""How many of them, in one request, while others who buy at the event wait."""
STATEMENTS_AT_ONCE, STATEMENTS_OF_ORDER, STATEMENTS_OF_PAYMENT = 22, 16, 27
"""How many statements they are: some are sent together."""


def free_of_charge(shop: Shop) -> Shop:
    for number in (shop.stalls, shop.floor):
        shop.api.patch(f"{shop.sale.path}/ticket-types/{number}", {"price_cents": 0, "fee_cents": 0})
    return shop


def facts(shop: Shop) -> list[str]:
    """What was recorded about orders and tickets, in the order in which it is delivered."""
    shop.run_jobs()
    found = shop.sale.rows(
        "SELECT name FROM outbox WHERE name LIKE 'order%' OR name = 'tickets_issued' ORDER BY position"
    )
    return [name for (name,) in found]


def test_free_order_has_its_tickets_at_once_and_is_recorded_as_if_paid_afterwards(shop: Shop) -> None:
    free_of_charge(shop)
    guest = shop.guest()
    holds = [*shop.hold(guest, *SEATS), {"hold_id": shop.hold_places(guest, 2)}]
    body = {"holds": holds, "pay": FREE}
    bought = guest.post(shop.orders_path, body, **{"Idempotency-Key": "once"})
    assert guest.post(shop.orders_path, body, **{"Idempotency-Key": "once"}) == bought
    assert (bought["state"], bought["method"], bought["admissions"]) == ("paid", "free", 6)
    assert len({line["ticket"]["number"] for line in bought["lines"]}) == 6
    assert guest.get(shop.path(bought)) == bought, "what was answered is what was written"
    assert facts(shop) == ["order_created", "tickets_issued", "tickets_issued", "order_paid"]
    assert_everything_agrees(shop)
    afterwards = shop.guest()
    later = shop.pay(afterwards, shop.order(afterwards, "B-1", "B-2"), "free")
    assert {*later} == {*bought} and {*later["lines"][0]} == {*bought["lines"][0]}
    assert_everything_agrees(shop)


def test_order_that_is_not_free_is_not_made_where_it_cannot_be_paid_so(shop: Shop) -> None:
    guest = shop.guest()
    holds = shop.hold(guest, "A-1", "A-2")
    path = "POST", shop.orders_path
    assert guest.refused(*path, {"holds": holds, "pay": FREE}) == (409, "not_free")
    assert guest.refused(*path, {"holds": holds, "pay": {"method": "stripe"}})[0] == 400, "that takes two steps"
    assert shop.sale.rows("SELECT COUNT(*) FROM orders") == [(0,)]
    shop.api.patch("/api/organisation/checkout", ACCOUNT)
    waiting = guest.post(shop.orders_path, {"holds": holds, "buyer": BUYER, "pay": {"method": "invoice"}})
    assert (waiting["state"], waiting["payment"]["cents"]) == ("pending", 10_280), "the holds had stayed"
    assert_everything_agrees(shop)


def test_holds_that_two_requests_order_at_once_are_ordered_by_one(shop: Shop, nodes: list[AppServer]) -> None:
    free_of_charge(shop)
    guest = guests(shop.sale, nodes, 1)[0]
    holds = shop.hold(guest, *SEATS)
    twins = [same_browser(guest, node) for node in nodes * 2]
    works: list[tuple[ApiClient, str, object]] = [(twin, shop.orders_path, {"holds": holds}) for twin in twins[::2]]
    works += [(twin, shop.orders_path, {"holds": holds, "pay": FREE}) for twin in twins[1::2]]
    found = attempts(works)
    assert [status for status, _ in found].count(201) == 1, found
    assert {code for status, code in found if status != 201} <= {"hold_ordered", "hold_expired"}
    assert shop.sale.rows("SELECT COUNT(*) FROM orders") == [(1,)]
    assert_everything_agrees(shop)


@pytest.mark.parametrize("what", ["ordered", "sold"])
def test_holds_that_end_after_they_were_read_are_neither_ordered_nor_sold(shop: Shop, what: str) -> None:
    """They are read without a lock: the statement that changes them is the judge."""
    event = EventKey(str(shop.sale.organisation_id), str(shop.sale.id))
    guest = shop.guest()
    ids = [hold["hold_id"] for hold in shop.hold(guest, "A-1", "A-2")]
    context = ActionContext(SYSTEM, shop.app_server.now, os.urandom)
    with pytest.raises(Conflict) as refused, shop.app_server.database.writing() as session:
        held = ordering.find(session, event, ids)
        session.execute(text("UPDATE holds SET status = 'cancelled' WHERE seat IS NOT NULL"))
        if what == "ordered":
            ordering.give_to_order(session, held, ids[0], context, until=held[0].held_until)
        else:
            tickets = {hold.seat: number for number, hold in enumerate(held, start=1) if hold.seat is not None}
            inventory.sell(session, *event, tickets, context, holds=ids, held=held)
    assert refused.value.error_code == "hold_expired"
    assert set(shop.sale.states().values()) == {1}, "nothing of it was written"


def test_holds_that_another_order_has_got_since_they_were_read_are_not_sold(shop: Shop) -> None:
    event = EventKey(str(shop.sale.organisation_id), str(shop.sale.id))
    guest = shop.guest()
    ids = [hold["hold_id"] for hold in shop.hold(guest, "A-1", "A-2")]
    context = ActionContext(SYSTEM, shop.app_server.now, os.urandom)
    with pytest.raises(Conflict) as refused, shop.app_server.database.writing() as session:
        held = ordering.find(session, event, ids)
        session.execute(text("UPDATE holds SET order_id = id WHERE seat IS NOT NULL"))
        tickets = {hold.seat: number for number, hold in enumerate(held, start=1) if hold.seat is not None}
        inventory.sell(session, *event, tickets, context, holds=ids, held=held, for_order=ids[0])
    assert refused.value.error_code == "hold_expired"
    assert set(shop.sale.states().values()) == {1}, "nothing of it was written"


def same_browser(guest: ApiClient, node: AppServer) -> ApiClient:
    """The guest in another tab, at this server."""
    client = node.app.test_client()
    client._cookies = guest.client._cookies
    return ApiClient(client, guest.headers)


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """The statements that reach PostgreSQL's driver meanwhile, those that are sent together in one list."""
    sent: list[list[str]] = []
    pipeline = psycopg.Connection.pipeline

    def heard(name: str) -> Any:
        original = getattr(psycopg.Cursor, name)

        def execute(cursor: Any, query: Any, *values: Any, **options: Any) -> Any:
            if "pg_notify" not in str(query):  # said by another thread, for all transactions of a moment
                together = cursor.connection.pgconn.pipeline_status != psycopg.pq.PipelineStatus.OFF
                sent[-1].append(str(query)) if together else sent.append([str(query)])
            return original(cursor, query, *values, **options)

        return execute

    def begun(connection: Any) -> Any:
        sent.append([])
        return pipeline(connection)

    with monkeypatch.context() as patch:
        for name in ("execute", "executemany"):
            patch.setattr(psycopg.Cursor, name, heard(name))
        patch.setattr(psycopg.Connection, "pipeline", begun)
        yield sent


def test_purchase_asks_no_more_than_it_must(postgres_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = AppServer(postgres_url, tmp_path)
    try:
        shop = free_of_charge(a_shop(server))
        warm = shop.guest()
        shop.pay(warm, shop.order(warm, "B-1"), "free")  # the caches know the event
        guest = shop.guest()
        holds = shop.hold(guest, *SEATS)
        with counted(monkeypatch) as at_once:
            guest.post(shop.orders_path, {"holds": holds, "pay": FREE})
        other = shop.guest()
        more = shop.hold(other, "A-5", "A-6", "A-7", "A-8")
        with counted(monkeypatch) as ordering:
            order = other.post(shop.orders_path, {"holds": more})
        with counted(monkeypatch) as paying:
            shop.pay(other, order, "free")
    finally:
        server.close()
    locked = next(at for at, (sent, *_) in enumerate(at_once) if "FROM events" in sent and "FOR NO KEY UPDATE" in sent)
    assert len(at_once) - locked <= ASKED_UNDER_LOCK, at_once
    asked = len(at_once), len(ordering), len(paying)
    few = ASKED_AT_ONCE, ASKED_FOR_ORDER, ASKED_FOR_PAYMENT
    assert all(number <= most for number, most in zip(asked, few, strict=True)), (asked, at_once)
    found = tuple(sum(map(len, each)) for each in (at_once, ordering, paying))
    allowed = STATEMENTS_AT_ONCE, STATEMENTS_OF_ORDER, STATEMENTS_OF_PAYMENT
    assert all(number <= most for number, most in zip(found, allowed, strict=True)), (found, at_once)
