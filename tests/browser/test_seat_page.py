"""The organiser's seat map in a real browser: drawn, walked by keys, and changed while somebody looks."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from werkzeug.serving import make_server

from sync_server.workers import Worker
from tests.browser.fitting import fits
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


@contextmanager
def working(office: Office) -> Iterator[None]:
    """The worker works, until the end."""
    stop = threading.Event()
    thread = threading.Thread(target=Worker(office.parts).run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


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


def keep_picture(page: Page, name: str, *, whole: bool = True) -> None:
    """For the documentation, where it is asked for."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/admin-{name}.png", full_page=whole)


def told(page: Page) -> Locator:
    """What is said of the seat that is picked."""
    return page.locator("[data-told]")


def act(page: Page, name: str) -> Locator:
    """Something that can be done to it."""
    return page.get_by_role("button", name=name)


def nearness(page: Page) -> float:
    """Pixels from seat to seat, once a picture is drawn."""
    canvas = page.locator("[data-canvas]")
    expect(canvas).to_have_attribute("data-pixels", re.compile(r"\d"))
    return float(canvas.get_attribute("data-pixels") or 0)


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
        browser_page.get_by_role("application", name="Map of all seats").focus()
        for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
            browser_page.keyboard.press(key)
        expect(told(browser_page)).to_have_text("Stalls, row B, seat 2: sold")
        browser_page.keyboard.press("ArrowRight")
        expect(told(browser_page)).to_have_text("Stalls, row B, seat 3: free")
        keep_picture(browser_page, "seats")
        house.sell("B-3")
        office.work()
        expect(told(browser_page)).to_have_text("Stalls, row B, seat 3: sold")
        expect(browser_page.locator("[data-count='2']")).to_have_text("3")
        expect(act(browser_page, "Block this seat")).to_be_hidden()
        browser_page.goto("about:blank")  # lets the stream go
    assert mistakes == [], "nothing is refused by the page's own policy"


def test_organiser_blocks_a_seat_and_gives_up_a_hold_without_a_mouse(browser_page: Page, office: Office) -> None:
    house = a_house(office, office.desk(an_owner(office)))
    house.hold(2)
    office.work()
    browser_page.on("dialog", lambda dialog: dialog.accept())
    with served(office) as address, working(office):
        open_map(browser_page, address, house)
        browser_page.get_by_role("application", name="Map of all seats").focus()
        for key in ("ArrowRight", "Enter", "Enter"):
            browser_page.keyboard.press(key)
        expect(told(browser_page)).to_have_text("Stalls, row A, seat 1: not for sale")
        assert house.stage.desk.get(house.stage.path)["blocked_seat_ids"] == ["A-1"]
        for key in ("Enter", "Enter"):
            browser_page.keyboard.press(key)
        expect(told(browser_page)).to_have_text("Stalls, row A, seat 1: free")
        for key in ("ArrowRight", "Enter", "Enter"):
            browser_page.keyboard.press(key)
        expect(told(browser_page)).to_have_text("Stalls, row A, seat 2: free")
        browser_page.keyboard.press("Escape")
        expect(told(browser_page)).to_have_text("No seat is picked.")
        browser_page.goto("about:blank")


def arena() -> dict[str, Any]:
    """Twelve blocks of four hundred seats around a pitch."""
    seats = []
    for block, depth, n in product(range(12), range(20), range(20)):
        angle, far = (block + (n + 0.5) / 22) * pi / 6, 42 + depth
        where = {"x": far * cos(angle), "y": far * sin(angle)}
        seats.append(a_seat(f"{block + 1}/{depth + 1}", n + 1, section=f"Block {block + 1}", coordinates=where))
    return a_layout(zones=[stalls() | {"seats": seats}, floor()])


def test_arena_under_a_thumb(browser_page: Page, office: Office) -> None:
    house = a_house(office, office.desk(an_owner(office)), arena())
    house.sell(*(f"3/{row}-{seat}" for row in range(1, 21) for seat in range(1, 5)))
    for seat in range(1, 120, 3):
        house.hold(seat)
    office.work()
    browser_page.set_viewport_size({"width": 390, "height": 844})
    with served(office) as address:
        open_map(browser_page, address, house)
        expect(browser_page.locator("[data-count='2']")).to_have_text("80")
        whole = nearness(browser_page)
        fits(browser_page, 390)
        keep_picture(browser_page, "phone-seats")
        fingers = Fingers(browser_page)
        fingers.apart(60, 240)
        expect(browser_page.locator("[data-canvas]")).not_to_have_attribute("data-pixels", f"{whole:.2f}")
        assert nearness(browser_page) > 2 * whole
        act(browser_page, "All").click()
        expect(browser_page.locator("[data-canvas]")).to_have_attribute("data-pixels", f"{whole:.2f}")
        browser_page.get_by_label("Part of the house").select_option("Stalls, Block 3")
        expect(browser_page.locator("[data-canvas]")).not_to_have_attribute("data-pixels", f"{whole:.2f}")
        while nearness(browser_page) < 10:
            before = nearness(browser_page)
            act(browser_page, "Nearer").click()
            expect(browser_page.locator("[data-canvas]")).not_to_have_attribute("data-pixels", f"{before:.2f}")
        fingers.tap()
        expect(told(browser_page)).to_have_text(re.compile(r"Stalls, Block 3, row 3/\d+, seat \d+: (sold|free)"))
        keep_picture(browser_page, "phone-seat-picked", whole=False)
        browser_page.goto("about:blank")


class Fingers:
    """Touches in the middle of the map, as a hand makes them."""

    def __init__(self, page: Page) -> None:
        canvas = page.locator("[data-canvas]")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box
        self._x, self._y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self._line = page.context.new_cdp_session(page)

    def tap(self) -> None:
        """One finger, for a moment."""
        self._touch("touchStart", [0])
        self._touch("touchEnd", [])

    def apart(self, first: int, last: int) -> None:
        """Two fingers, from so many pixels between them to so many."""
        self._touch("touchStart", [-first / 2, first / 2])
        for step in range(1, 11):
            half = (first + (last - first) * step / 10) / 2
            self._touch("touchMove", [-half, half])
        self._touch("touchEnd", [])

    def _touch(self, kind: str, places: list[float]) -> None:
        points = [{"x": self._x + place, "y": self._y, "id": id} for id, place in enumerate(places)]
        self._line.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


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
