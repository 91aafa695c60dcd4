"""The organiser's seat map in a real browser: drawn, walked by keys, and changed while somebody looks."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from werkzeug.serving import make_server

from tests.contracts.house_plan.house import House, a_house
from tests.contracts.seating.stage import a_layout, a_seat, floor, stalls, with_wheelchairs
from tests.office import PASSWORD, Office

PICTURES = os.environ.get("GATEHOUSE_TEST_PICTURES")  # a folder: keep what the page looks like


@pytest.fixture
def office(sqlite_url: str, tmp_path: Path) -> Iterator[Office]:
    """A server whose clock is set by hand."""
    made = Office(sqlite_url, tmp_path)
    yield made
    made.close()


@contextmanager
def served(office: Office) -> Iterator[str]:
    """The office on a port of this machine."""
    server = make_server("127.0.0.1", 0, office.app, threaded=True)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        office.parts.stop.set()
        server.shutdown()
        serving.join()
        server.server_close()


def open_map(page: Page, address: str, house: House) -> None:
    """Sign in, and look at the seats."""
    page.goto(f"{address}/admin/events/{house.id}/seats")
    page.get_by_label("E-mail address").fill("owner@marquee.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The map follows what is held and sold.")).to_be_visible()


def an_owner(office: Office) -> str:
    organisation = office.organisation("marquee")
    office.user("owner@marquee.example", organisation, "owner")
    return organisation


def keep_picture(page: Page, name: str) -> None:
    """For the documentation, where it is asked for."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/admin-{name}.png", full_page=True)


def test_map_shows_what_is_sold_and_follows_it(browser_page: Page, office: Office) -> None:
    mistakes: list[str] = []
    browser_page.on("console", lambda told: mistakes.append(told.text) if told.type == "error" else None)
    house = a_house(office, office.desk(an_owner(office)), with_wheelchairs())
    house.sell("B-1", "B-2")
    house.hold(7)
    office.work()
    with served(office) as address:
        open_map(browser_page, address, house)
        expect(browser_page.locator("[data-count='2']")).to_have_text("2")
        expect(browser_page.locator("[data-count='1']")).to_have_text("1")
        expect(browser_page.locator("[data-zones] tr").nth(1)).to_contain_text("Floor")
        seat = browser_page.locator("[data-seat='15']")
        expect(seat).to_have_attribute("data-state", "0")
        keep_picture(browser_page, "seats")
        house.sell("B-8")
        office.work()
        expect(seat).to_have_attribute("data-state", "2")
        expect(seat).to_have_attribute("href", "#seat-2")
        expect(browser_page.locator("[data-count='2']")).to_have_text("3")
        browser_page.get_by_role("img", name="Seats of").focus()
        for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
            browser_page.keyboard.press(key)
        expect(browser_page.locator("[data-told]")).to_have_text("Stalls, row B, seat 2: sold")
        browser_page.set_viewport_size({"width": 390, "height": 844})
        assert browser_page.evaluate("document.documentElement.scrollWidth") == 390
        keep_picture(browser_page, "phone-seats")
        browser_page.goto("about:blank")  # lets the stream go
    assert mistakes == [], "nothing is refused by the page's own policy"


def test_large_house_is_drawn_part_by_part(browser_page: Page, office: Office) -> None:
    rows = [f"{letter}{depth}" for letter in "AB" for depth in range(23)]
    seats = [
        a_seat(row, n, section=row[0], coordinates={"x": float(n), "y": float(depth)})
        for depth, row in enumerate(rows)
        for n in range(1, 101)
    ]
    house = a_house(office, office.desk(an_owner(office)), a_layout(zones=[stalls() | {"seats": seats}, floor()]))
    house.sell("B3-7")
    office.work()
    with served(office) as address:
        open_map(browser_page, address, house)
        expect(browser_page.locator("[data-count='0']")).to_have_text("4599")
        expect(browser_page.locator("[data-seat]")).to_have_count(2300)
        browser_page.get_by_label("Part of the house").select_option("Stalls, B")
        expect(browser_page.locator("[data-seat='2606']")).to_have_attribute("data-state", "2")
        browser_page.goto("about:blank")


def test_event_without_a_layout_says_so(browser_page: Page, office: Office) -> None:
    desk = office.desk(an_owner(office))
    house = a_house(office, desk, published=False)
    desk.ask("DELETE", house.stage.path)
    with served(office) as address:
        browser_page.goto(f"{address}/admin/events/{house.id}/seats")
        browser_page.get_by_label("E-mail address").fill("owner@marquee.example")
        browser_page.get_by_label("Password").fill(PASSWORD)
        browser_page.get_by_role("button", name="Sign in").click()
        expect(browser_page.get_by_text("This event has no layout")).to_be_visible()
