"""Orders that rest are filed: pages say the same of them as before, and read hardly more the more there are."""

from __future__ import annotations

import os
from random import Random
from typing import Any, Final

import pytest

from scripts.benchmarking.meters.rows_read import reads_of
from scripts.benchmarking.rows.bulk_rows import copy_rows
from scripts.benchmarking.rows.full_desk import another_order, rows_of_order
from sync_server.checkout.filing import filed
from sync_server.checkout.orders import noting
from sync_server.events import queries as events
from sync_server.events.signals import EventMoved
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.plumbing.signals import send
from tests.analysed import analyse
from tests.app_server import AppServer
from tests.builders import DAY, MINUTE
from tests.contracts.checkout.row_by_row import assert_figures_agree, filed_orders
from tests.contracts.checkout.shop_floor import Shop, assert_everything_agrees

FEW: Final = 700
MANY: Final = 2_800
"""More than are looked at one by one in both cases."""
MARGIN: Final = 1.3
ROWS_MORE, STEPS_MORE = 12, 1_000
SEASON: Final = 60 * DAY
PAGES: Final = {
    "start page": "/admin/",
    "sales": "/admin/events/{event}/sales",
    "another date": "/admin/events/{event}/new-date",
    "calling it off": "/admin/events/{event}/status?target=cancelled",
    "list of names": "/admin/events/{event}/names",
    "orders of the event": "/admin/events/{event}/orders",
    "orders of nobody at the event": "/admin/events/{event}/orders?q=nobody",
    "orders that were refunded": "/admin/orders?state=refunded",
    "orders of nobody": "/admin/orders?q=nobody",
    "search for nobody": "/admin/search?q=nobody",
    "search for an order": "/admin/search?q={number}",
    "exports of the event": "/admin/settings/exports?event={event}",
}


def rest(app_server: AppServer) -> None:
    """Nobody touches an order for a while, and the worker files them."""
    app_server.advance(11 * MINUTE)
    file_all(app_server)


def file_all(app_server: AppServer) -> None:
    more: object = MORE
    while more is MORE:
        with app_server.database.writing() as session:
            more = filed.job().run(session, ActionContext(SYSTEM, app_server.now, os.urandom))


def three_orders(shop: Shop) -> list[dict[str, Any]]:
    """Two that are paid and one that has run out."""
    orders = []
    for seat, name in (("A-1", "Zoë Müller"), ("A-8", "Ada Müller-Lund"), ("B-1", "Kofi Annor")):
        buyer = {"name": name, "email": f"{name.split()[0]}.77@guests.example".replace("ë", "e")}
        orders.append(shop.order(shop.guest(), seat, buyer=buyer))
    shop.note(orders[0])
    shop.note(orders[1])
    return orders


def test_an_order_rests_before_it_is_filed(shop: Shop) -> None:
    three_orders(shop)
    shop.app_server.advance(9 * MINUTE)
    file_all(shop.app_server)
    assert filed_orders(shop.app_server) == 0
    rest(shop.app_server)
    assert filed_orders(shop.app_server) == 2, "the one that waits is not decided"
    shop.run_jobs()
    rest(shop.app_server)
    assert filed_orders(shop.app_server) == 3
    assert_everything_agrees(shop)


def test_a_filed_order_changes_as_any_other(shop: Shop) -> None:
    both = shop.guest()
    order = both.post(shop.orders_path, {"holds": shop.hold(both, "B-1", "B-2")})
    shop.note(order)
    rest(shop.app_server)
    assert filed_orders(shop.app_server) == 1
    for change in (
        lambda: shop.refund(order, lines=[1]),
        lambda: shop.note(order, cents=100, reference="twice"),
        lambda: shop.api.post(f"/api/orders/{order['id']}/names", {"buyer_name": "Nomsa Dube"}, 200),
        lambda: shop.refund(order),
    ):
        change()
        assert filed_orders(shop.app_server) == 0
        assert_figures_agree(shop.sale)
        rest(shop.app_server)
        assert filed_orders(shop.app_server) == 1
        assert_everything_agrees(shop)


def test_nothing_is_taken_out_for_a_note(shop: Shop) -> None:
    order, *_ = three_orders(shop)
    rest(shop.app_server)
    with shop.app_server.database.writing() as session:
        noting.note(session, shop.sale.organisation_id, order["id"], "called twice", shop.app_server.context())
    assert filed_orders(shop.app_server) == 2


def test_an_order_that_is_refused_stays_filed(shop: Shop) -> None:
    order, *_ = three_orders(shop)
    rest(shop.app_server)
    assert shop.api.refused("POST", f"/api/orders/{order['id']}/cancel")[0] == 409
    assert filed_orders(shop.app_server) == 2
    assert_figures_agree(shop.sale)


def test_days_are_those_of_the_new_venue(shop: Shop) -> None:
    three_orders(shop)
    rest(shop.app_server)
    with shop.app_server.database.writing() as session:
        event = events.event(session, shop.sale.organisation_id, shop.sale.id, lock=True)
        event.timezone = "Asia/Kathmandu"
        send(session, EventMoved(event.organisation_id, event.id, shop.app_server.context()))
    assert filed_orders(shop.app_server) == 0
    assert_figures_agree(shop.sale)
    file_all(shop.app_server)
    assert filed_orders(shop.app_server) == 2
    assert_figures_agree(shop.sale)


@pytest.mark.parametrize("filed_first", [False, True])
def test_each_word_of_a_search_begins_a_word_of_the_order(shop: Shop, filed_first: bool) -> None:
    zoe, ada, kofi = (order["number"] for order in three_orders(shop))
    if filed_first:
        shop.run_jobs()
        rest(shop.app_server)

    def found(words: str) -> list[str]:
        return [each["number"] for each in shop.api.get(f"/api/orders?search={words}")["items"]]

    assert found("mull") == found("MÜLLER") == [ada, zoe]
    assert found("muller+zo") == found("zoe.77%40guests.example") == found(zoe) == found(zoe[-1]) == [zoe]
    assert found("lund") == found("ada-muller") == [ada]
    assert found("uller") == found("nobody") == found("muller+kofi") == found("%25") == found("zoe+%21+x") == []
    assert found("k") == [kofi] and found("guests") == [kofi, ada, zoe]


def test_a_buyer_who_is_erased_is_found_by_the_number_alone(shop: Shop) -> None:
    zoe, *_ = three_orders(shop)
    rest(shop.app_server)
    shop.api.post("/api/people/erase", {"email": "Zoe.77@guests.example", "reason": "asked for"}, 200)
    for _ in range(2):
        words = shop.sale.rows("SELECT word FROM order_words") + shop.sale.rows("SELECT search_text FROM orders")
        assert "zoe" not in str(words)
        assert shop.api.get("/api/orders?search=zoe")["items"] == []
        assert [each["id"] for each in shop.api.get(f"/api/orders?search={zoe['number']}")["items"]] == [zoe["id"]]
        assert_figures_agree(shop.sale)
        rest(shop.app_server)


def copy_orders(shop: Shop, order: str, numbers: range) -> None:
    """Many more orders like that one, made all through the season; then they rest."""
    database, now, dice = shop.app_server.database, shop.app_server.now, Random(7)
    patterns = rows_of_order(database, order)
    made = [now - SEASON + at * 7_919 * MINUTE % (SEASON - DAY) for at in numbers]
    rows = [another_order(patterns, at, shop.sale.id, when, dice) for at, when in zip(numbers, made, strict=True)]
    for table in patterns:
        copy_rows(database, table, (row for one in rows for row in one[table]))
    file_all(shop.app_server)
    analyse(database)


def reads(shop: Shop, number: str) -> dict[str, tuple[int, int]]:
    """Statements and rows of each page, when asked for a second time."""
    client, found = shop.api.client, {}
    for page, path in PAGES.items():
        for _ in range(2):
            with reads_of(shop.app_server.database) as counted:
                response = client.get(path.format(event=shop.sale.id, number=number), headers=shop.api.headers)
            assert response.status_code == 200, (page, response.get_data(as_text=True)[:300])
        found[page] = counted.statements, counted.rows
    return found


def test_pages_read_hardly_more_the_more_orders_there_are(shop: Shop) -> None:
    sold = shop.api.post(
        f"{shop.sale.path}/sales", {"places": [{"ticket_type": shop.floor, "count": 2}], "method": "cash"}
    )
    rest(shop.app_server)
    copy_orders(shop, sold["id"], range(FEW))
    before = reads(shop, sold["number"])
    copy_orders(shop, sold["id"], range(FEW, MANY))
    after = reads(shop, sold["number"])
    more = STEPS_MORE if shop.app_server.database.embedded else ROWS_MORE
    grown = {page: (before[page], after[page]) for page in PAGES if after[page][1] > MARGIN * before[page][1] + more}
    assert grown == {}
    assert {page: one[0] for page, one in after.items()} == {page: one[0] for page, one in before.items()}, "statements"
