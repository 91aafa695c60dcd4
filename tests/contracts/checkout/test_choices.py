"""How an order can be paid now and why not otherwise, and what an organiser is told before buyers find out."""

from __future__ import annotations

from typing import Any

import pytest

from sync_server.checkout import shop_checks
from tests.app_server import ApiClient
from tests.builders import DAY, MINUTE
from tests.contracts.checkout.shop_floor import ACCOUNT, Shop
from tests.contracts.checkout.stripe.card_shop import KEYS
from tests.contracts.checkout.test_walk import BUYER

SETTINGS = "/api/organisation/checkout"


def choices(order: dict[str, Any]) -> dict[str, str]:
    """Every method of the shop, and the code of the refusal that it would meet."""
    assert all(bool(each["code"]) == bool(each["message"]) == (not each["available"]) for each in order["methods"])
    return {each["method"]: each["code"] for each in order["methods"]}


def refusal(shop: Shop, guest: ApiClient, order: dict[str, Any], method: str) -> str:
    return guest.refused("POST", f"{shop.path(order)}/pay", {"method": method})[1]


def test_order_shows_what_paying_would_answer(shop: Shop) -> None:
    guest = shop.guest()
    order = shop.order(guest, "A-1")
    assert choices(order) == {"free": "not_free", "invoice": "no_invoices", "stripe": "no_stripe"}
    assert {method: refusal(shop, guest, order, method) for method in choices(order)} == choices(order)
    shop.api.patch(SETTINGS, ACCOUNT)
    assert choices(guest.get(shop.path(order)))["invoice"] == "buyer_required"
    shop.api.patch(SETTINGS, KEYS)
    named = shop.order(guest, "A-2", buyer=BUYER)
    assert choices(named) == {"free": "not_free", "invoice": "", "stripe": ""}
    waiting = shop.pay(guest, named, "invoice")
    assert choices(waiting)["stripe"] == "", "who waits to pay by transfer may still take a card"
    assert choices(shop.note(named, "invoice")) == {}


def test_choices_follow_the_time(shop: Shop) -> None:
    shop.api.patch(SETTINGS, ACCOUNT)
    guest = shop.guest()
    shop.app_server.advance(29 * DAY + MINUTE)
    guest = shop.guest()
    order = shop.order(guest, "A-1", buyer=BUYER)
    assert choices(order)["invoice"] == "too_late_for_invoice" == refusal(shop, guest, order, "invoice")
    shop.app_server.advance(10 * MINUTE)
    assert choices(guest.get(shop.path(order))) == {}, "it has run out, and waits to be swept"


def test_free_order_is_paid_in_no_other_way(shop: Shop) -> None:
    shop.api.patch(SETTINGS, ACCOUNT | KEYS)
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.floor}", {"price_cents": 0})
    guest = shop.guest()
    order = guest.post(shop.orders_path, {"holds": [{"hold_id": shop.hold_places(guest, 1)}], "buyer": BUYER})
    assert choices(order) == {"free": "", "invoice": "is_free", "stripe": "is_free"}
    assert refusal(shop, guest, order, "invoice") == "is_free"


@pytest.mark.parametrize("unsold", ["hidden", "free", "over"])
def test_shop_without_a_way_to_pay_is_told_so(shop: Shop, unsold: str) -> None:
    def warned() -> list[str]:
        told = [each["code"] for each in shop.api.get(SETTINGS)["warnings"]]
        seen = [code for code in told if code != "no_mail"]  # that is the server's
        found = shop_checks.all_warnings(shop.app_server.database).get(shop.sale.slug, [])
        assert [each.code for each in found] == seen
        return seen

    assert warned() == ["no_way_to_pay"]
    answered = [each["code"] for each in shop.api.patch(SETTINGS, ACCOUNT)["warnings"]]
    assert answered == ["only_invoices", "no_mail"] and warned() == ["only_invoices"]
    shop.api.patch(SETTINGS, KEYS)
    assert warned() == []
    shop.api.patch(SETTINGS, {"stripe_secret_key": "", "invoices": False})
    assert warned() == ["no_way_to_pay"]
    if unsold == "over":
        shop.api.post(f"{shop.sale.path}/cancel", {"reason": "storm"}, 200)
    else:
        change = {"hidden": True} if unsold == "hidden" else {"price_cents": 0, "fee_cents": 0}
        for number in (shop.stalls, shop.floor):
            shop.api.patch(f"{shop.sale.path}/ticket-types/{number}", change)
    assert warned() == []
