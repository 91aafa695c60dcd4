"""What a shop must be able to do before anybody sells with it: a test for each point, and README.md says which."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import BigInteger, inspect

from sync_server.migrations import schema
from sync_server.migrations.tables import metadata
from tests.app_server import ApiClient, AppServer
from tests.builders import EVENING, HOUR, MINUTE, a_ticket_type, a_venue, an_event
from tests.contracts.checkout.shop_floor import Shop, a_shop, assert_everything_agrees
from tests.contracts.holds.at_once import guests, together, tried
from tests.contracts.listings.town import Town
from tests.contracts.queueing.rush import OPENING, a_rush

HERE = Path(__file__).resolve().parent
BUYERS = 10
ZONES = ("Europe/Berlin", "Africa/Johannesburg", "America/Argentina/Buenos_Aires", "Asia/Kathmandu", "UTC")
NO_ZONES = ("Mars/Olympus", "GMT+2 Berlin", "+02:00", "localtime", "")


def test_schema_is_created_as_declared(app_server: AppServer) -> None:
    assert schema.differences(app_server.database.engine) == []


def test_all_indexes_exist_and_no_two_have_the_same_name(app_server: AppServer) -> None:
    inspector = inspect(app_server.database.engine)
    names = Counter(index["name"] for table in inspector.get_table_names() for index in inspector.get_indexes(table))
    declared = {index.name for table in metadata().tables.values() for index in table.indexes}
    assert declared <= names.keys() and names.most_common(1)[0][1] == 1


def test_time_zones_of_venues_are_names_of_the_iana_database(api: ApiClient) -> None:
    for zone in ZONES:
        assert api.post("/api/venues", a_venue(name=f"Hall of {zone}", timezone=zone))["timezone"] == zone
    for zone in NO_ZONES:
        assert api.refused("POST", "/api/venues", a_venue(name="Nowhere", timezone=zone))[0] == 400


def test_an_event_keeps_what_its_venue_was_when_it_was_created(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())
    event = api.post("/api/events", an_event(venue["id"]))
    api.patch(f"/api/venues/{venue['id']}", {"name": "Renamed", "city": "Bremen", "timezone": "Europe/Lisbon"})
    kept = api.get(f"/api/events/{event['id']}")
    names = ("venue_name", "city", "address", "timezone")
    assert [kept[name] for name in names] == [event[name] for name in names]
    assert (kept["city"], kept["timezone"]) == ("Berlin", "Europe/Berlin")


def test_numbers_in_the_queue_are_given_once_each(app_server: AppServer, nodes: list[AppServer]) -> None:
    rush = a_rush(app_server)
    for node in nodes:
        node.now = OPENING
    visitors = guests(rush.sale, nodes, BUYERS)
    together([lambda guest=guest: guest.ask("POST", rush.path).status_code for guest in visitors])  # type: ignore[misc]
    assert sorted(rush.place(guest)["number"] for guest in visitors) == list(range(1, BUYERS + 1))


def test_many_purchases_at_once_never_sell_more_than_there_is(shop: Shop, nodes: list[AppServer]) -> None:
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.floor}", {"quantity": 7})
    buyers = guests(shop.sale, nodes, BUYERS)
    holds = [shop.hold_places(buyer, 2) for buyer in buyers]
    orders = [{"holds": [{"hold_id": hold}]} for hold in holds]
    works = list(zip(buyers, orders, strict=True))
    found = Counter(together([lambda work=work: tried(work[0], shop.orders_path, work[1]) for work in works]))  # type: ignore[misc]
    assert found == {(201, ""): 3, (409, "insufficient_inventory"): BUYERS - 3}
    assert_everything_agrees(shop)


def test_whoever_is_silent_for_thirty_minutes_loses_the_place_in_the_queue(app_server: AppServer) -> None:
    rush = a_rush(app_server, slots=1)
    rush.until(OPENING)
    first, second, third = (rush.join() for _ in range(3))
    assert [rush.place(guest)["state"] for guest in (first, second)] == ["admitted", "waiting"]
    app_server.advance(30 * MINUTE - 1)
    assert rush.place(second)["state"] == "admitted", "asked again in time, and is next"
    app_server.advance(1)
    assert rush.place(third)["state"] == "expired"


def test_whoever_left_the_queue_joins_again_after_an_hour_and_not_before(app_server: AppServer) -> None:
    rush = a_rush(app_server)
    rush.open_room()
    guest = rush.join()
    guest.ask("DELETE", rush.path)
    app_server.advance(HOUR - 1)
    assert guest.refused("POST", rush.path) == (429, "queue_cooldown")
    app_server.advance(1)
    rush.join(guest)


def test_no_more_are_in_the_checkout_than_the_event_allows(app_server: AppServer, nodes: list[AppServer]) -> None:
    shop = a_shop(app_server, sessions=5)
    visitors = guests(shop.sale, nodes, BUYERS)
    found = Counter(together([lambda guest=guest: tried(guest, shop.checkout_path, {}) for guest in visitors]))  # type: ignore[misc]
    assert found == {(201, ""): 5, (429, "checkout_full"): BUYERS - 5}


def test_search_finds_events_by_name_and_venue_and_no_others(app_server: AppServer) -> None:
    town = Town(app_server)
    town.publish("Jazz in the harbour")
    town.publish("Choirs by night", venue="Jazz Cellar", days=2)
    town.publish("Chess finals", venue="Town Hall")
    assert town.find(q="jazz") == ["Jazz in the harbour", "Choirs by night"]
    assert town.find(q="night jazz") == ["Choirs by night"]
    assert town.find(q="chess", city="Berlin") == ["Chess finals"]
    assert town.find(q="chess", city="Hamburg") == town.find(q="opera") == []


def test_moments_are_stored_as_milliseconds_of_utc(app_server: AppServer) -> None:
    moments = {
        f"{table.name}.{column.name}": column.type
        for table in metadata().tables.values()
        for column in table.columns
        if column.name.endswith(("_at", "_until"))
    }
    assert len(moments) > 50
    assert [name for name, kind in moments.items() if not isinstance(kind, BigInteger)] == []
    shop = a_shop(app_server, start_at=EVENING + HOUR)
    ((stored,),) = shop.sale.rows("SELECT start_at FROM events WHERE id = :event", event=shop.sale.id)
    assert stored == EVENING + HOUR


def test_the_same_event_is_not_created_twice(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    first = api.post("/api/events", an_event(venue))
    refused = api.ask("POST", "/api/events", an_event(venue, name="NIGHT  music"))
    assert refused.status_code == 409 and refused.json is not None
    assert refused.json["error"]["code"] == "duplicate_event"
    assert refused.json["error"]["details"]["event_id"] == first["id"]
    api.post("/api/events", an_event(venue, start_at=EVENING + 3 * HOUR))


def test_a_sale_begins_and_ends_by_its_window(app_server: AppServer) -> None:
    window = {"sale_start_at": EVENING + HOUR, "sale_end_at": EVENING + 2 * HOUR}
    shop = a_shop(app_server, **window)
    guest = shop.guest()
    assert shop.sale.refused(guest, "A-1") == (400, "event_sales_closed")
    app_server.now = window["sale_start_at"]
    shop.hold(guest, "A-1")
    app_server.now = window["sale_end_at"] + 1
    assert shop.sale.refused(guest, "A-2") == (400, "event_sales_closed")


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"price_cents": -1}, "price_cents"),
        ({"price_cents": 1_000_000}, "price_cents"),
        ({"price_cents": 35.0}, "price_cents"),
        ({"price_cents": "3500"}, "price_cents"),
        ({"price_cents": True}, "price_cents"),
        ({"quantity": 0}, "quantity"),
        ({"quantity": 1.5}, "quantity"),
        ({"quantity": 10**30}, "quantity"),
        ({"tax_rate": 10_001}, "tax_rate"),
        ({"kind": "V" * 31}, "kind"),
        ({"currency": "eur"}, "currency"),
        ({"currency": "JPY"}, "currency"),  # ¥35 on the page would be ¥3,500 at Stripe
        ({"currency": "KWD"}, "currency"),
        ({"currency": "X" * 3}, "currency"),  # by ISO 4217: no currency
        ({"min_per_order": 3, "max_per_order": 2}, "min_per_order"),
        ({"sale_start_at": EVENING + HOUR, "sale_end_at": EVENING + HOUR}, "sale_end_at"),
    ],
)
def test_a_ticket_type_that_cannot_be_is_refused_by_its_field(
    api: ApiClient, changed: dict[str, Any], field: str
) -> None:
    event = api.post("/api/events", an_event(api.post("/api/venues", a_venue())["id"]))
    answer = api.ask("POST", f"/api/events/{event['id']}/ticket-types", a_ticket_type(**changed))
    assert answer.status_code == 400 and answer.json is not None
    assert answer.json["error"]["message"].startswith(f"{field}: "), answer.json
    assert api.get(f"/api/events/{event['id']}/ticket-types")["items"] == []


def test_prices_go_from_nothing_to_a_cent_below_ten_thousand(api: ApiClient) -> None:
    event = api.post("/api/events", an_event(api.post("/api/venues", a_venue())["id"]))
    for kind, price in (("general", 0), ("vip", 999_999), ("early_bird", 1), ("Förderer", 3_500)):
        body = a_ticket_type(name=kind, kind=kind, price_cents=price, quantity=1)
        made = api.post(f"/api/events/{event['id']}/ticket-types", body)
        assert (made["kind"], made["price_cents"]) == (kind, price)


def test_ten_tickets_are_bought_at_once_at_most_also_across_types_and_holds(shop: Shop) -> None:
    more = a_ticket_type(name="Reduced", price_cents=1_000, zone=shop.types()["Floor"]["zone"])
    reduced = shop.api.post(f"{shop.sale.path}/ticket-types", more)["number"]
    guest, holds = shop.guest(), f"{shop.sale.path}/holds"
    wish = {"count": 11, "zone_id": shop.sale.zones["Floor"]}
    assert guest.refused("POST", holds, wish) == (400, "too_many_seats")
    hold = shop.hold_places(guest, 10)
    shop.app_server.advance(5 * MINUTE - 10_000)
    guest.post(f"/api/holds/{hold}/extend", {}, 200)
    shop.app_server.advance(20_000)  # what was taken before counts no more for the pace of this guest
    assert guest.refused("POST", holds, wish | {"count": 1}) == (400, "too_many_seats")
    types = [{"ticket_type": shop.floor, "count": 6}, {"ticket_type": reduced, "count": 4}]
    assert guest.post(shop.orders_path, {"holds": [{"hold_id": hold, "ticket_types": types}]})["admissions"] == 10


def test_ticket_types_together_are_at_most_the_capacity(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    event = api.post("/api/events", an_event(venue, capacity=100))
    types = f"/api/events/{event['id']}/ticket-types"
    api.post(types, a_ticket_type(quantity=60))
    assert api.refused("POST", types, a_ticket_type(name="More", quantity=41))[0] in {400, 409}
    api.post(types, a_ticket_type(name="Rest", quantity=40))


def test_a_ticket_type_is_never_sold_only_after_its_event(api: ApiClient) -> None:
    event = api.post("/api/events", an_event(api.post("/api/venues", a_venue())["id"]))
    types, ends = f"/api/events/{event['id']}/ticket-types", EVENING + 6 * HOUR
    event = api.patch(f"/api/events/{event['id']}", {"end_at": ends})
    assert api.refused("POST", types, a_ticket_type(sale_start_at=ends)) == (400, "invalid_times")
    assert api.refused("POST", types, a_ticket_type(sale_end_at=ends + 1)) == (400, "invalid_times")
    api.post(types, a_ticket_type(sale_start_at=ends - 1, sale_end_at=ends))


def test_every_point_names_a_test_that_there_is() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", (HERE / "README.md").read_text("utf-8"))
    assert len(named) > 30 and [name for name, count in Counter(named).items() if count > 1] == []
    root = HERE.parents[2]
    missing = [f"{path}::{name}" for path, name in named if f"\ndef {name}(" not in (root / path).read_text("utf-8")]
    assert missing == []
    mine = set(re.findall(r"^def (test_\w+)\(", Path(__file__).read_text("utf-8"), re.MULTILINE))
    listed = {name for path, name in named if (root / path) == Path(__file__)}
    assert mine - listed == {"test_every_point_names_a_test_that_there_is"}
