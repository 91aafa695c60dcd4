"""A figure is the same number wherever it stands: start page, events, the event, its door, wall, reports, exports."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field

from playwright.sync_api import Page, expect

from tests.app_server import AppServer
from tests.contracts.archives.evening import Evening, an_evening
from tests.served_app import served
from tests.staff import PASSWORD

EMAIL = "owner@marquee.example"
OF_ALL = "11 of 316 sold"
"""What the layout holds, which is less than the ticket types offer."""


def a_mixed_evening(app_server: AppServer) -> Evening:
    """Nine tickets by hand, one of them cancelled; four at the box office, one of them refunded; six guests came."""
    organisation = app_server.organisation("marquee")
    app_server.user(EMAIL, organisation, "owner")
    evening = an_evening(app_server, guests=9, api=app_server.api(organisation), ended=False)
    floor = next(
        each["number"] for each in evening.api.get(f"{evening.path}/ticket-types")["items"] if each["name"] == "Floor"
    )
    sale = {"places": [{"ticket_type": floor, "count": 4}], "method": "cash", "buyer": {"name": "Ada Winter"}}
    order = evening.api.post(f"{evening.path}/sales", sale)
    evening.api.post(f"/api/orders/{order['id']}/refunds", {"lines": [1], "method": "cash"}, 200)
    app_server.run_worker()
    return evening


def rows(evening: Evening, table: str) -> list[dict[str, str]]:
    response = evening.api.ask("GET", f"{evening.path}/exports/{table}?format=csv")
    return list(csv.DictReader(io.StringIO(response.get_data().decode("utf-8-sig"))))


def first_number(text: str) -> int:
    found = re.search(r"\d+", text)
    assert found is not None, text
    return int(found[0])


@dataclass
class Figures:
    """One number by each place where it stands."""

    sold: dict[str, int] = field(default_factory=dict)
    inside: dict[str, int] = field(default_factory=dict)


def on_the_lists(page: Page, address: str, found: Figures) -> None:
    page.goto(f"{address}/admin/")
    tile = page.locator(".tile").first
    expect(tile.locator(".bar-row span").first).to_have_text(OF_ALL)
    found.sold["start page"] = first_number(tile.locator(".bar-row span").first.inner_text())
    found.inside["start page"] = first_number(tile.locator(".bar-row span", has_text="inside").inner_text())
    page.goto(f"{address}/admin/events")
    expect(page.locator(".tile .bar-row span").first).to_have_text(OF_ALL)
    found.sold["events"] = first_number(page.locator(".tile .bar-row span").first.inner_text())


def on_the_pages_of_the_event(page: Page, here: str, found: Figures) -> None:
    page.goto(here)
    expect(page.locator("#board .figure").first).to_contain_text("sold of 316")
    found.sold["event"] = first_number(page.locator("[data-number=sold]").first.inner_text())
    found.sold["event, by type"] = sum(map(first_number, page.locator(".cols-2 .bar-row .quiet").all_inner_texts()))
    found.inside["event"] = first_number(page.locator("#board .figures [data-number=inside]").inner_text())
    for name, place in (("gate", "[data-gate] [data-number=inside]"), ("zone", "[data-zone] [data-inside]")):
        found.inside[f"event, by {name}"] = sum(map(int, page.locator(f"#board {place}").all_inner_texts()))
    page.goto(f"{here}/door")
    found.inside["door"] = first_number(page.locator(".heads [data-number=inside]").inner_text())
    page.goto(f"{here}/wall")
    found.inside["wall"] = first_number(page.locator(".inside[data-number=inside]").inner_text())
    page.goto(f"{here}/status?target=ended")
    found.sold["end of the event"] = first_number(page.locator(".figure b").first.inner_text())


def in_reports_and_exports(evening: Evening, found: Figures) -> None:
    counters = evening.api.get(f"{evening.path}/counters")
    found.sold["counters"], found.inside["counters"] = counters["sold"], counters["inside"]
    found.inside["report"] = evening.api.get(f"{evening.path}/funnel")["entered"]  # nobody has left
    attendees = rows(evening, "attendees")
    found.sold["export of attendees"] = len(attendees)
    found.inside["export of attendees"] = sum(row["entered_at"] != "" for row in attendees)
    found.sold["export of tickets"] = sum(row["state"] != "cancelled" for row in rows(evening, "tickets"))


def test_what_is_sold_and_who_is_inside_is_the_same_everywhere(browser_page: Page, app_server: AppServer) -> None:
    evening, found = a_mixed_evening(app_server), Figures()
    with served(app_server) as address:
        browser_page.goto(f"{address}/admin/")
        browser_page.get_by_label("E-mail address").fill(EMAIL)
        browser_page.get_by_label("Password").fill(PASSWORD)
        browser_page.get_by_role("button", name="Sign in", exact=True).click()
        browser_page.get_by_role("heading", level=1).wait_for()
        on_the_lists(browser_page, address, found)
        on_the_pages_of_the_event(browser_page, f"{address}/admin/events/{evening.concert.event['id']}", found)
        browser_page.goto("about:blank")
    in_reports_and_exports(evening, found)
    assert len(found.sold) == 8 and set(found.sold.values()) == {11}, found.sold
    assert len(found.inside) == 9 and set(found.inside.values()) == {6}, found.inside
