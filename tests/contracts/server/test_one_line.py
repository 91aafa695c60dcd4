"""Names are one line wherever they come from: a line break cuts a mail's subject in two, and an entry of a list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import a_ticket_type, a_venue, an_event
from tests.contracts.checkout.shop_floor import Shop, a_shop

BREAKS = ("Two\nlines", "Two\r\nlines", "Two\rlines", "Two\tlines")


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """Bodies are judged before any database is asked, so one kind is enough."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def shop(app_server: AppServer) -> Shop:
    return a_shop(app_server)


def problem(who: ApiClient, method: str, path: str, body: dict[str, Any]) -> str:
    """What is said of the one field that is wrong."""
    answer = who.ask(method, path, body)
    assert answer.status_code == 400 and answer.json is not None, answer.get_data(as_text=True)
    (field,) = answer.json["error"]["details"]["fields"]
    return f"{field['field']} {field['problem']}"


@pytest.mark.parametrize("name", BREAKS)
def test_names_of_events_venues_types_and_buyers_are_one_line(shop: Shop, name: str) -> None:
    guest, api, venue = shop.guest(), shop.api, shop.sale.event["venue_id"]
    said = "must be one line, without line breaks and tabs"
    assert problem(api, "POST", "/api/venues", a_venue(name=name)) == f"name {said}"
    assert problem(api, "POST", "/api/events", an_event(venue, name=name)) == f"name {said}"
    assert problem(api, "PATCH", shop.sale.path, {"name": name}) == f"name {said}"
    assert problem(api, "POST", f"{shop.sale.path}/ticket-types", a_ticket_type(name=name)) == f"name {said}"
    holds = [{**shop.hold(guest, "A-1")[0], "holder_name": name}]
    assert problem(guest, "POST", shop.orders_path, {"holds": holds}) == f"holds.0.holder_name {said}"
    order = {"holds": [{"hold_id": holds[0]["hold_id"]}], "buyer": {"name": name}}
    assert problem(guest, "POST", shop.orders_path, order) == f"buyer.name {said}"
    assert guest.get(f"/api/o/{shop.sale.slug}/orders")["items"] == []


def test_what_people_write_in_several_lines_stays_as_they_wrote_it(shop: Shop) -> None:
    words = "Doors at six.\n\n\tNo bottles."
    event = shop.api.patch(shop.sale.path, {"description": words})
    assert event["description"] == words
    assert shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.floor}", {"description": words})["description"] == words
    guest = shop.guest()
    paid = shop.note(shop.order(guest, "A-1"), note=words)
    assert shop.refund(paid, reason=words)["reason"] in {"", words}
    assert shop.api.patch("/api/organisation/ticket-design", {"terms": words})["terms"] == words


def test_blanks_around_a_name_are_cut_off_and_refuse_nothing(shop: Shop) -> None:
    made = shop.api.post("/api/venues", a_venue(name="\n Harbour Hall \t\n"))
    assert made["name"] == "Harbour Hall"
