"""What orders say of their buyers is exported, and erased, while what was sold and paid stays."""

from __future__ import annotations

from sqlalchemy import select

from sync_server.archives.event_rows import event_tables
from sync_server.migrations.tables import metadata
from sync_server.plumbing.event_key import EventKey
from tests.contracts.checkout.shop_floor import Shop, assert_everything_agrees

BUYER = {"name": "Gail Guest", "email": "Gail@Guests.example"}


def places_of(shop: Shop, words: str) -> set[str]:
    """The columns in which these words stand."""
    with shop.app_server.database.reading() as session:
        return {
            f"{table.name}.{name}"
            for table in metadata().sorted_tables
            for row in session.execute(select(table)).mappings()
            for name, value in row.items()
            if words.casefold() in str(value).casefold()
        }


def test_buyer_is_exported_and_erased_by_the_address(shop: Shop) -> None:
    guest = shop.guest()
    holds = [{**shop.hold(guest, "A-1")[0], "holder_name": "Gail Guest"}]
    order = guest.post(shop.orders_path, {"holds": holds, "buyer": BUYER})
    shop.note(order, reference="7/1")
    found = shop.api.post("/api/people/export", {"email": "gail@guests.example"}, 200)["records"]
    assert [row["number"] for row in found["orders"]] == [order["number"]]
    assert [row["holder_name"] for row in found["order_lines"] + found["tickets"]] == ["Gail Guest"] * 2
    assert {row["kind"] for row in found["money_movements"]} == {"charge", "payment"}
    body = {"email": "GAIL@guests.example", "reason": "asked for"}
    erased = shop.api.post("/api/people/erase", body, 200)["erased"]
    assert (erased["orders"], erased["order_lines"], erased["tickets"]) == (1, 1, 1)
    assert places_of(shop, "gail") - {"idempotency_keys.body"} == set()
    kept = shop.shown(order)
    assert (kept["state"], kept["paid_cents"], kept["buyer"]["name"]) == ("paid", 5140, "")
    assert_everything_agrees(shop)


def test_buyer_is_in_no_line_of_the_event_that_is_put_away(shop: Shop) -> None:
    """Orders stay in their tables, where an erasure finds them: the sealed file of the event has no copy."""
    guest = shop.guest()
    holds = [{**shop.hold(guest, "A-1")[0], "holder_name": "Gail Guest"}]
    guest.post(shop.orders_path, {"holds": holds, "buyer": BUYER})
    event = EventKey(shop.sale.organisation_id, shop.sale.id)
    with shop.app_server.database.reading() as session:
        lines = {each.name: b"".join(each.lines(session, event)).lower() for each in event_tables()}
    assert lines["orders"] and lines["order_lines"]
    assert [name for name, content in lines.items() if b"gail" in content] == []
