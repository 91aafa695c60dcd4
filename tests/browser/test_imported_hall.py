"""A hall that was drawn elsewhere: its file is imported on the desk and published, and a guest buys seats of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Page, expect

from tests.app_server import ApiClient, AppServer
from tests.browser.pictures import keep_screenshot
from tests.browser.selling_season import EMAIL, sign_in
from tests.browser.theatre import working
from tests.builders import DAY, HOUR, a_ticket_type, a_venue, an_event
from tests.contracts.checkout.shop_floor import ACCOUNT
from tests.served_app import served
from tests.services.axe import violations

ROWS, SEATS = "ABCDEF", 14


def a_file(folder: Path) -> Path:
    """The plan of a small playhouse in the open format of pretix: parquet and circle, and a stage in front."""
    stage = {
        "shape": "rectangle",
        "position": {"x": 60, "y": -80},
        "rectangle": {"width": 280, "height": 40},
        "text": {"text": "Stage", "position": {"x": 140, "y": 20}, "size": 16},
    }
    plan = {
        "name": "Kammerspiele",
        "size": {"width": 420, "height": 420},
        "categories": [{"name": "Parkett", "color": "#2563eb"}, {"name": "Rang", "color": "#d97706"}],
        "zones": [
            {"name": "Parkett", "position": {"x": 10, "y": 40}, "rows": rows("Parkett", ROWS), "areas": [stage]},
            {"name": "Rang", "position": {"x": 10, "y": 260}, "rows": rows("Rang", "GH")},
        ],
    }
    file = folder / "kammerspiele.json"
    file.write_bytes(orjson.dumps(plan))
    return file


def rows(zone: str, names: str) -> list[dict[str, Any]]:
    """Rows of a zone, one behind the other."""
    return [
        {
            "row_number": row,
            "position": {"x": 0, "y": 28 * depth},
            "seats": [
                {
                    "seat_guid": f"{zone}-{row}-{number}",
                    "seat_number": str(number),
                    "position": {"x": 26 * number, "y": 0},
                    "category": zone,
                }
                for number in range(1, SEATS + 1)
            ],
        }
        for depth, row in enumerate(names)
    ]


@dataclass
class House:
    """A venue without a seat map."""

    server: AppServer
    api: ApiClient
    venue: dict[str, Any]
    address: str

    def on_sale(self) -> tuple[str, str]:
        """An event in the hall that is published there: its id, and its page in the shop."""
        layouts = f"/api/venues/{self.venue['id']}/layouts"
        (layout,) = self.api.get(layouts)["items"]
        assert layout["status"] == "active"
        start = self.server.now + 8 * DAY
        event = self.api.post("/api/events", an_event(self.venue["id"], start_at=start, end_at=start + 3 * HOUR))
        path = f"/api/events/{event['id']}"
        self.api.put(f"{path}/layout", {"layout_id": layout["id"]})
        for zone in self.api.get(f"{path}/zones")["items"]:
            cents = 3_500 if zone["name"] == "Parkett" else 2_200
            self.api.post(
                f"{path}/ticket-types", a_ticket_type(name=zone["name"], zone=zone["number"], price_cents=cents)
            )
        self.api.post(f"{path}/publish", {}, 200)
        return event["id"], f"{self.address}/o/marquee/events/{event['slug']}"


@pytest.fixture
def house(app_server: AppServer, browser_page: Page) -> Iterator[House]:
    organisation = app_server.organisation("marquee")
    app_server.user(EMAIL, organisation, "owner")
    api = app_server.api(organisation)
    api.patch("/api/organisation/checkout", ACCOUNT)
    with served(app_server) as address, working(app_server):
        yield House(app_server, api, api.post("/api/venues", a_venue()), address)
        browser_page.goto("about:blank")  # closes the stream


def imports(page: Page, house: House, file: Path) -> None:
    """As staff do: from the page of the venue to the editor, and the file chosen there."""
    sign_in(page, house.address)
    page.goto(f"{house.address}/admin/venues/{house.venue['id']}/seat-maps")
    page.get_by_role("link", name="Draw a hall").click()
    expect(page.locator("#seat-map[data-ready]")).to_be_visible()
    page.get_by_label("Import a file").set_input_files(file)
    expect(page.locator("[data-fact=seats]")).to_have_text(str(8 * SEATS))


def test_an_imported_hall_is_published_and_sold(browser_page: Page, house: House, tmp_path: Path) -> None:
    page = browser_page
    page.set_viewport_size({"width": 1280, "height": 800})
    imports(page, house, a_file(tmp_path))
    assert violations(page) == []
    keep_screenshot(page, "admin-seat-map-imported")
    page.get_by_role("button", name="Publish …").click()
    page.get_by_role("button", name=re.compile(r"Publish version \d")).click()
    expect(page.locator("[data-saved]")).to_have_text(re.compile("is published"))
    event, shop = house.on_sale()
    page.goto(shop)
    page.get_by_role("link", name="Choose seats").click()
    expect(page.locator("#picker")).to_have_attribute("data-ready", "true")
    keep_screenshot(page, "shop-imported")
    page.get_by_role("button", name="Best for us").click()
    page.get_by_role("button", name="Show us").click()
    expect(page.locator(".best-seats")).to_contain_text("Parkett, row A, seats")
    page.get_by_role("button", name="Take these 2").click()
    page.get_by_role("link", name="Go to checkout").click()
    page.get_by_label("Name", exact=True).fill("Ada Winter")
    page.get_by_label("E-mail").fill("ada@example.org")
    page.get_by_role("radio", name="Bank transfer").check()
    page.get_by_role("button", name="Order and pay").click()
    expect(page.get_by_role("heading", name="Please transfer")).to_be_visible()
    (order,) = house.api.get(f"/api/orders?event={event}")["items"]
    house.api.post(f"/api/orders/{order['id']}/payments", {"method": "invoice"}, 200)
    page.reload()
    expect(page.get_by_role("heading", name="Your tickets are here")).to_be_visible()
    expect(page.get_by_text(re.compile("Parkett.*A")).first).to_be_visible()
    sold = house.api.get(f"/api/events/{event}/tickets")["items"]
    assert sorted(each["seat_id"] for each in sold) == ["Parkett-A-7", "Parkett-A-8"]
