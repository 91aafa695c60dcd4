"""Whatever lists something of several events says beside it that one was called off."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sync_server.app import web_app
from sync_server.exports.tables import TABLES
from tests.app_server import ApiClient
from tests.contracts.cancellations.test_calling_off import call_off, sold_for_cash
from tests.contracts.checkout.stripe.card_shop import CardShop

NOT_OF_GUESTS: Final = {"/api/imports": "files that are read: they are of the plan, not of the evening"}
NAMES: Final = {"event_id", "event_name", "event"}


def lists_of_events(cards: CardShop) -> dict[str, dict[str, Any]]:
    """The fields of each list whose address names no event, and whose items name one."""
    document: Any = web_app(cards.app_server.runtime).spec
    schemas = document["components"]["schemas"]

    def resolved(schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = schemas[schema["$ref"].rpartition("/")[2]]
        return schema

    found = {}
    for path, operations in document["paths"].items():
        content = operations.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        answer = resolved(content.get("application/json", {}).get("schema", {}))
        items = resolved(answer.get("properties", {}).get("items", {})).get("items", {})
        fields = resolved(items).get("properties", {})
        if NAMES & fields.keys() and "{event_id}" not in path:
            found[path] = fields
    return found


def test_every_list_has_the_mark(cards: CardShop) -> None:
    lists = lists_of_events(cards)
    assert {"/api/orders", "/api/o/{slug}/my/orders", "/api/o/{slug}/my/tickets", "/api/archives"} <= lists.keys()
    without = {path for path, fields in lists.items() if not {"mark", "event_mark"} & fields.keys()}
    assert without == NOT_OF_GUESTS.keys()


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_export_has_the_mark(cards: CardShop, table: str) -> None:
    assert list(TABLES[table].columns[:2]) == ["event", "mark"]


def orders_of(who: ApiClient, path: str) -> set[str | None]:
    return {order["event_mark"] for order in who.get(path)["items"]}


def test_orders_of_a_cancelled_event_say_so(cards: CardShop) -> None:
    guest, order = sold_for_cash(cards, "A-1")
    mine = f"/api/o/{cards.shop.sale.slug}/orders"
    assert orders_of(cards.shop.api, "/api/orders") == orders_of(guest, mine) == {None}
    call_off(cards, "nothing")
    assert orders_of(cards.shop.api, "/api/orders") == orders_of(guest, mine) == {"cancelled"}
    assert cards.shop.shown(order)["event_mark"] == "cancelled"
