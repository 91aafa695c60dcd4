"""The seat map of the admin pages in a real browser: drawing, keyboard, live changes and actions."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from math import cos, pi, sin
from typing import Any

from playwright.sync_api import Locator, Page, expect

from sync_server.workers import Worker
from tests.app_server import AppServer
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.contracts.seat_maps.mapped_event import MappedEvent, a_mapped_event
from tests.contracts.seating.stage import a_layout, a_seat, floor, stalls, with_wheelchairs
from tests.served_app import served
from tests.staff import PASSWORD


@contextmanager
def working(app_server: AppServer) -> Iterator[None]:
    """Run the worker in the background."""
    stop = threading.Event()
    thread = threading.Thread(target=Worker(app_server.parts).run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def open_map(page: Page, address: str, mapped: MappedEvent) -> None:
    """Sign in and open the seat map."""
    page.goto(f"{address}/admin/events/{mapped.id}/seats")
    page.get_by_label("E-mail address").fill("owner@marquee.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("The map is up to date and follows changes.")).to_be_visible()


def an_owner(app_server: AppServer) -> str:
    organisation = app_server.organisation("marquee")
    app_server.user("owner@marquee.example", organisation, "owner")
    return organisation


def selection(page: Page) -> Locator:
    """The text about the selected seat."""
    return page.locator("[data-told]")


def action(page: Page, name: str) -> Locator:
    """The button of an action."""
    return page.get_by_role("button", name=name)


def seat_distance(page: Page) -> float:
    """Pixels from seat to seat, once the map is drawn."""
    canvas = page.locator("[data-canvas]")
    expect(canvas).to_have_attribute("data-pixels", re.compile(r"\d"))
    return float(canvas.get_attribute("data-pixels") or 0)


def test_the_map_shows_sold_seats_and_follows_changes(browser_page: Page, app_server: AppServer) -> None:
    errors: list[str] = []
    browser_page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    mapped = a_mapped_event(app_server, app_server.api(an_owner(app_server)), with_wheelchairs())
    mapped.sell("B-1", "B-2")
    mapped.hold(7)
    app_server.run_worker()
    with served(app_server) as address:
        open_map(browser_page, address, mapped)
        expect(browser_page.locator("[data-count='2']")).to_have_text("2")
        expect(browser_page.locator("[data-count='1']")).to_have_text("1")
        expect(browser_page.locator("[data-zones] tr").nth(1)).to_contain_text("Floor")
        browser_page.get_by_role("application", name="Map of all seats").focus()
        for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
            browser_page.keyboard.press(key)
        expect(selection(browser_page)).to_have_text("Stalls, row B, seat 2: sold")
        browser_page.keyboard.press("ArrowRight")
        expect(selection(browser_page)).to_have_text("Stalls, row B, seat 3: free")
        keep_screenshot(browser_page, "admin-seats", whole=True)
        mapped.sell("B-3")
        app_server.run_worker()
        expect(selection(browser_page)).to_have_text("Stalls, row B, seat 3: sold")
        expect(browser_page.locator("[data-count='2']")).to_have_text("3")
        expect(action(browser_page, "Block this seat")).to_be_hidden()
        browser_page.goto("about:blank")  # closes the stream
    assert errors == [], "no console errors, such as violations of the content security policy"


def test_blocking_a_seat_and_releasing_a_hold_with_the_keyboard(browser_page: Page, app_server: AppServer) -> None:
    mapped = a_mapped_event(app_server, app_server.api(an_owner(app_server)))
    mapped.hold(2)
    app_server.run_worker()
    browser_page.on("dialog", lambda dialog: dialog.accept())
    with served(app_server) as address, working(app_server):
        open_map(browser_page, address, mapped)
        browser_page.get_by_role("application", name="Map of all seats").focus()
        for key in ("ArrowRight", "Enter", "Enter"):
            browser_page.keyboard.press(key)
        expect(selection(browser_page)).to_have_text("Stalls, row A, seat 1: not for sale")
        assert mapped.stage.api.get(mapped.stage.path)["blocked_seat_ids"] == ["A-1"]
        assert counts(browser_page) == ["14", "1", "0", "1"], "free, held, sold, not for sale"
        expect(browser_page.locator("[data-zones] tr", has_text="Stalls")).to_have_text(re.compile("Stalls14"))
        for key in ("Enter", "Enter"):
            browser_page.keyboard.press(key)
        expect(selection(browser_page)).to_have_text("Stalls, row A, seat 1: free")
        for key in ("ArrowRight", "Enter", "Enter"):
            browser_page.keyboard.press(key)
        expect(selection(browser_page)).to_have_text("Stalls, row A, seat 2: free")
        browser_page.keyboard.press("Escape")
        expect(selection(browser_page)).to_have_text("No seat selected.")
        browser_page.goto("about:blank")


def counts(page: Page) -> list[str]:
    """How many seats are in each state, as the legend counts them."""
    return [page.locator(f"[data-count='{state}']").inner_text() for state in range(4)]


def arena() -> dict[str, Any]:
    """Twelve blocks of four hundred seats around a pitch."""
    seats = []
    for block, depth, n in product(range(12), range(20), range(20)):
        angle, far = (block + (n + 0.5) / 22) * pi / 6, 42 + depth
        where = {"x": far * cos(angle), "y": far * sin(angle)}
        seats.append(a_seat(f"{block + 1}/{depth + 1}", n + 1, section=f"Block {block + 1}", coordinates=where))
    return a_layout(zones=[stalls() | {"seats": seats}, floor()])


def test_an_arena_on_a_phone(browser_page: Page, app_server: AppServer) -> None:
    mapped = a_mapped_event(app_server, app_server.api(an_owner(app_server)), arena())
    mapped.sell(*(f"3/{row}-{seat}" for row in range(1, 21) for seat in range(1, 5)))
    for seat in range(1, 120, 3):
        mapped.hold(seat)
    app_server.run_worker()
    browser_page.set_viewport_size({"width": 390, "height": 844})
    with served(app_server) as address:
        open_map(browser_page, address, mapped)
        expect(browser_page.locator("[data-count='2']")).to_have_text("80")
        whole = seat_distance(browser_page)
        assert_fits_width(browser_page, 390)
        keep_screenshot(browser_page, "admin-phone-seats", whole=True)
        fingers = Fingers(browser_page)
        fingers.pinch(60, 240)
        expect(browser_page.locator("[data-canvas]")).not_to_have_attribute("data-pixels", f"{whole:.2f}")
        assert seat_distance(browser_page) > 2 * whole
        action(browser_page, "All").click()
        expect(browser_page.locator("[data-canvas]")).to_have_attribute("data-pixels", f"{whole:.2f}")
        browser_page.get_by_label("Section").select_option("Stalls, Block 3")
        expect(browser_page.locator("[data-canvas]")).not_to_have_attribute("data-pixels", f"{whole:.2f}")
        while seat_distance(browser_page) < 10:
            before = seat_distance(browser_page)
            action(browser_page, "Zoom in").click()
            expect(browser_page.locator("[data-canvas]")).not_to_have_attribute("data-pixels", f"{before:.2f}")
        fingers.tap()
        expect(selection(browser_page)).to_have_text(re.compile(r"Stalls, Block 3, row 3/\d+, seat \d+: (sold|free)"))
        keep_screenshot(browser_page, "admin-phone-seat-picked")
        browser_page.goto("about:blank")


class Fingers:
    """Touch gestures in the middle of the map."""

    def __init__(self, page: Page) -> None:
        canvas = page.locator("[data-canvas]")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box
        self._x, self._y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self._cdp = page.context.new_cdp_session(page)

    def tap(self) -> None:
        """Tap with one finger."""
        self._touch("touchStart", [0])
        self._touch("touchEnd", [])

    def pinch(self, first: int, last: int) -> None:
        """Move two fingers apart, from one distance in pixels to another."""
        self._touch("touchStart", [-first / 2, first / 2])
        for step in range(1, 11):
            half = (first + (last - first) * step / 10) / 2
            self._touch("touchMove", [-half, half])
        self._touch("touchEnd", [])

    def _touch(self, kind: str, places: list[float]) -> None:
        points = [{"x": self._x + place, "y": self._y, "id": id} for id, place in enumerate(places)]
        self._cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_an_event_without_a_layout(browser_page: Page, app_server: AppServer) -> None:
    api = app_server.api(an_owner(app_server))
    mapped = a_mapped_event(app_server, api, published=False)
    api.ask("DELETE", mapped.stage.path)
    with served(app_server) as address:
        browser_page.goto(f"{address}/admin/events/{mapped.id}/seats")
        browser_page.get_by_label("E-mail address").fill("owner@marquee.example")
        browser_page.get_by_label("Password").fill(PASSWORD)
        browser_page.get_by_role("button", name="Sign in", exact=True).click()
        expect(browser_page.get_by_text("No numbered seats")).to_be_visible()
