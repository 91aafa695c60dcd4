"""An order is composed before its event is locked: what changes until it is locked counts all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sync_server.checkout.orders import drafting, rehearsing
from tests.app_server import ApiClient, AppServer
from tests.contracts.checkout.shop_floor import Shop, a_shop, assert_everything_agrees
from tests.contracts.checkout.test_bought_at_once import FREE, free_of_charge

SEATS = ("A-1", "A-2", "A-3", "A-4")


@pytest.fixture
def shop(postgres_url: str, tmp_path: Path) -> Iterator[Shop]:
    """On PostgreSQL: on SQLite nobody else writes while an order is made."""
    server = AppServer(postgres_url, tmp_path)
    try:
        yield a_shop(server)
    finally:
        server.close()


class Interrupted:
    """Lets something happen between the composing of the next order and its lock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.happens: list[Callable[[], object]] = []
        self.rehearsed: list[bool] = []
        monkeypatch.setattr(drafting, "rehearse", self._rehearse)

    def _rehearse(self, *given: Any) -> Any:
        found = rehearsing.rehearse(*given)
        self.rehearsed.append(found is not None)
        with ThreadPoolExecutor(1) as elsewhere:  # a request of its own
            while self.happens:
                elsewhere.submit(self.happens.pop()).result()
        return found


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Interrupted:
    return Interrupted(monkeypatch)


def held(shop: Shop) -> tuple[ApiClient, list[dict[str, Any]]]:
    """A guest with four seats."""
    guest = shop.guest()
    return guest, shop.hold(guest, *SEATS)


def test_order_that_nothing_interferes_with_is_composed_before_the_lock(shop: Shop, meanwhile: Interrupted) -> None:
    guest, holds = held(shop)
    order = guest.post(shop.orders_path, {"holds": holds})
    places = shop.guest()
    floor = places.post(shop.orders_path, {"holds": [{"hold_id": shop.hold_places(places, 3)}]})
    assert meanwhile.rehearsed == [True, True]
    assert (order["admissions"], floor["admissions"]) == (4, 3)
    assert_everything_agrees(shop)


def test_price_that_is_changed_before_the_lock_is_charged(shop: Shop, meanwhile: Interrupted) -> None:
    guest, holds = held(shop)
    changed = f"{shop.sale.path}/ticket-types/{shop.stalls}", {"price_cents": 7_700, "fee_cents": 0}
    meanwhile.happens.append(lambda: shop.api.patch(*changed))
    order = guest.post(shop.orders_path, {"holds": holds})
    assert meanwhile.rehearsed[-1]
    assert order["total_cents"] == 4 * 7_700
    assert_everything_agrees(shop)


def test_type_that_is_hidden_before_the_lock_is_not_sold(shop: Shop, meanwhile: Interrupted) -> None:
    guest, holds = held(shop)
    meanwhile.happens.append(lambda: shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", {"hidden": True}))
    assert guest.refused("POST", shop.orders_path, {"holds": holds}) == (409, "ticket_type_hidden")
    assert_everything_agrees(shop)


def test_sale_that_ends_before_the_lock_has_ended(shop: Shop, meanwhile: Interrupted) -> None:
    guest, holds = held(shop)
    over = {"sale_end_at": shop.app_server.now - 1}
    meanwhile.happens.append(lambda: shop.api.patch(shop.sale.path, over))
    status, code = guest.refused("POST", shop.orders_path, {"holds": holds})
    assert (status, code) == (400, "event_sales_closed")
    assert_everything_agrees(shop)


def test_hold_that_is_given_back_before_the_lock_is_not_sold(shop: Shop, meanwhile: Interrupted) -> None:
    guest, holds = held(shop)
    twin = ApiClient(shop.app_server.app.test_client(), guest.headers)
    twin.client._cookies = guest.client._cookies
    meanwhile.happens.append(lambda: twin.ask("DELETE", f"/api/holds/{holds[0]['hold_id']}", None))
    assert guest.refused("POST", shop.orders_path, {"holds": holds}) == (409, "hold_expired")
    assert shop.sale.rows("SELECT COUNT(*) FROM orders") == [(0,)]
    assert_everything_agrees(shop)


@pytest.mark.parametrize("pay", [{}, {"pay": FREE}])
def test_places_that_are_given_back_before_the_lock_are_not_sold(
    shop: Shop, meanwhile: Interrupted, pay: dict[str, Any]
) -> None:
    """They are not locked where they are not split: the statements that sell them, or give them away, are the judge."""
    free_of_charge(shop)
    guest, other = shop.guest(), shop.guest()
    mine, theirs = shop.hold_places(guest, 3), shop.hold_places(other, 3)
    twin = ApiClient(shop.app_server.app.test_client(), guest.headers)
    twin.client._cookies = guest.client._cookies
    meanwhile.happens.append(lambda: twin.ask("DELETE", f"/api/holds/{mine}", None))
    body = {"holds": [{"hold_id": mine}], **pay}
    assert guest.refused("POST", shop.orders_path, body) == (409, "hold_expired")
    assert meanwhile.rehearsed == [True]
    assert shop.sale.rows("SELECT held, sold FROM event_places WHERE held + sold > 0") == [(3, 0)], "the other's"
    assert other.post(shop.orders_path, {"holds": [{"hold_id": theirs}], **pay})["admissions"] == 3
    assert_everything_agrees(shop)


def test_name_of_the_event_that_is_changed_before_the_lock_is_read_anew(shop: Shop, meanwhile: Interrupted) -> None:
    """Whatever of the event is changed: it is composed again from the row as it is now."""
    guest, holds = held(shop)
    meanwhile.happens.append(lambda: shop.api.patch(shop.sale.path, {"name": "Another night"}))
    order = guest.post(shop.orders_path, {"holds": holds})
    assert order["admissions"] == 4
    assert_everything_agrees(shop)


def test_what_has_changed_since_the_last_order_is_charged(shop: Shop, meanwhile: Interrupted) -> None:
    """What an event and its types said is remembered; behind the lock it is found to be old, and forgotten."""
    guests = [shop.guest() for _ in range(3)]
    holds = [shop.hold(guest, f"A-{seat}", f"A-{seat + 1}") for guest, seat in zip(guests, (1, 3, 5), strict=True)]
    dear = guests[0].post(shop.orders_path, {"holds": holds[0]})
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", {"price_cents": 100, "fee_cents": 0})
    cheap = [guest.post(shop.orders_path, {"holds": mine}) for guest, mine in zip(guests[1:], holds[1:], strict=True)]
    assert dear["total_cents"] != 200 and [order["total_cents"] for order in cheap] == [200, 200]
    assert meanwhile.rehearsed == [True, True, True]
    assert_everything_agrees(shop)


def test_quantity_is_judged_by_what_is_left_now(shop: Shop, meanwhile: Interrupted) -> None:
    """Counters are not remembered."""
    first, second = shop.guest(), shop.guest()
    holds = [shop.hold(first, "A-1", "A-2"), shop.hold(second, "B-1", "B-2")]
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", {"quantity": 3})
    first.post(shop.orders_path, {"holds": holds[0]})
    assert second.refused("POST", shop.orders_path, {"holds": holds[1]}) == (409, "insufficient_inventory")
    assert meanwhile.rehearsed == [True, True]
    assert_everything_agrees(shop)
