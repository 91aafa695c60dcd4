"""The same figure is the same number wherever it stands: start page, events, the event, its door, wall, reports, exports."""

from __future__ import annotations

import csv
import io
import re

from playwright.sync_api import Page

from tests.app_server import AppServer
from tests.contracts.archives.evening import Evening, an_evening
from tests.served_app import served
from tests.staff import PASSWORD

EMAIL = "owner@marquee.example"


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


def test_what_is_sold_and_who_is_inside_is_the_same_everywhere(browser_page: Page, app_server: AppServer) -> None:
    evening = a_mixed_evening(app_server)
    event = evening.concert.event["id"]
    sold: dict[str, int] = {}
    inside: dict[str, int] = {}
    with served(app_server) as address:
        browser_page.goto(f"{address}/admin/")
        browser_page.get_by_label("E-mail address").fill(EMAIL)
        browser_page.get_by_label("Password").fill(PASSWORD)
        browser_page.get_by_role("button", name="Sign in", exact=True).click()
        tile = browser_page.locator(".tile").first
        sold["start page"] = first_number(tile.locator(".bar-row span").first.inner_text())
        inside["start page"] = first_number(tile.locator(".bar-row span", has_text="inside").inner_text())
        browser_page.goto(f"{address}/admin/events")
        sold["events"] = first_number(browser_page.locator(".tile .bar-row span").first.inner_text())
        here = f"{address}/admin/events/{event}"
        browser_page.goto(here)
        sold["event"] = first_number(browser_page.locator("[data-number=sold]").first.inner_text())
        inside["event"] = first_number(browser_page.locator("#board .figures [data-number=inside]").inner_text())
        by_gate = browser_page.locator("#board [data-gate] [data-number=inside]").all_inner_texts()
        by_zone = browser_page.locator("#board [data-zone] [data-inside]").all_inner_texts()
        inside |= {"event, by gate": sum(map(int, by_gate)), "event, by zone": sum(map(int, by_zone))}
        types = browser_page.locator(".cols-2 .bar-row .quiet").all_inner_texts()
        sold["event, by type"] = sum(map(first_number, types))
        browser_page.goto(f"{here}/door")
        inside["door"] = first_number(browser_page.locator(".heads [data-number=inside]").inner_text())
        browser_page.goto(f"{here}/wall")
        inside["wall"] = first_number(browser_page.locator(".inside[data-number=inside]").inner_text())
        browser_page.goto(f"{here}/status?target=ended")
        sold["end of the event"] = first_number(browser_page.locator(".figure b").first.inner_text())
        browser_page.goto("about:blank")
    counters = evening.api.get(f"{evening.path}/counters")
    sold["counters"], inside["counters"] = counters["sold"], counters["inside"]
    funnel = evening.api.get(f"{evening.path}/funnel")
    inside["report"] = funnel["entered"]  # nobody has left
    attendees = rows(evening, "attendees")
    sold["export of attendees"] = len(attendees)
    sold["export of tickets"] = sum(row["state"] != "cancelled" for row in rows(evening, "tickets"))
    inside["export of attendees"] = sum(row["entered_at"] != "" for row in attendees)
    assert set(sold.values()) == {11}, sold
    assert set(inside.values()) == {6}, inside
