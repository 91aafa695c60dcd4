"""The seat-map editor in a real browser: halls drawn by mouse and by keyboard, then sold; two editors; a reload."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.app_server import ApiClient, AppServer
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.builders import a_ticket_type, a_venue, an_event
from tests.contracts.seating.stage import a_layout, a_seat, floor, stalls
from tests.served_app import served
from tests.services import axe
from tests.staff import PASSWORD

SECOND_MS = 1_000
PLACE = """(n) => {
  const { x, y } = document.querySelector("#seat-map").page.board.map.columns;
  return [x[n], y[n]];
}"""
SEEN = """([x, y]) => {
  const at = document.querySelector("#seat-map").page.board.view.to(x, y);
  return [at.x, at.y];
}"""
FOCUSED = """() => {
  const { activeElement: focused } = document;
  const text = focused.innerText?.trim().replace(/\\s+/g, " ");
  return [text, focused.getAttribute("aria-label"), focused.name, "canvas" in focused.dataset ? "canvas" : ""];
}"""


@dataclass
class House:
    """A venue whose staff draw its seat map."""

    app_server: AppServer
    api: ApiClient
    venue: dict[str, Any]
    address: str

    @property
    def layouts(self) -> str:
        return f"/api/venues/{self.venue['id']}/layouts"

    def open(self, page: Page, layout: str = "new", who: str = "ines") -> Page:
        """Sign in, and wait until the editor shows the map."""
        page.goto(f"{self.address}/admin/venues/{self.venue['id']}/seat-maps/{layout}")
        page.get_by_label("E-mail address").fill(f"{who}@marquee.example")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.locator("#seat-map[data-ready]")).to_be_visible()
        return page

    def stored(self) -> dict[str, Any]:
        """The newest version that is stored."""
        newest = max(self.api.get(self.layouts)["items"], key=lambda each: each["version"])
        whole: dict[str, Any] = self.api.get(f"{self.layouts}/{newest['id']}")
        return whole

    def sell(self, seat: str) -> dict[str, Any]:
        """Sell a seat of the newest version at a new event."""
        event = self.api.post("/api/events", an_event(self.venue["id"], capacity=0))
        path = f"/api/events/{event['id']}"
        self.api.put(f"{path}/layout", {"layout_id": self.stored()["id"], "overrides": {}})
        self.api.post(f"{path}/ticket-types", a_ticket_type())
        sold: dict[str, Any] = self.api.post(
            f"{path}/tickets", {"ticket_type": 1, "seats": [{"seat_id": seat, "holder_name": "Ada"}]}
        )["items"][0]
        return sold


@pytest.fixture
def house(app_server: AppServer) -> Iterator[House]:
    """A venue for two thousand, and two members of staff."""
    organisation = app_server.organisation("marquee")
    for who in ("ines", "tomas"):
        app_server.user(f"{who}@marquee.example", organisation, "owner")
    api = app_server.api(organisation)
    with served(app_server) as address:
        yield House(app_server, api, api.post("/api/venues", a_venue()), address)


def form(page: Page, name: str) -> Locator:
    return page.locator(f"form[data-form={name}]")


def state(page: Page) -> Locator:
    """What the page says is saved."""
    return page.locator("[data-saved]")


def at(page: Page, seat: int) -> tuple[float, float]:
    """Where a seat is on the screen."""
    return seen(page, *page.evaluate(PLACE, seat))


def seen(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a place of the map is on the screen."""
    box = page.locator("[data-canvas]").bounding_box()
    assert box
    across, down = page.evaluate(SEEN, [x, y])
    return box["x"] + across, box["y"] + down


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()


def middle(page: Page, right: float, down: float) -> tuple[float, float]:
    """A point of the drawing, as shares of its width and height."""
    box = page.locator("[data-canvas]").bounding_box()
    assert box
    return box["x"] + box["width"] * right, box["y"] + box["height"] * down


def publish(page: Page) -> None:
    page.get_by_role("button", name="Publish …").click()
    page.get_by_role("button", name=re.compile(r"Publish version \d")).click()
    expect(state(page)).to_have_text(re.compile("is published"))


def draw_rows(page: Page) -> None:
    """Six curved rows of twelve, from the first start that an empty map offers."""
    page.get_by_role("button", name=re.compile("^Rows Hall")).click()
    rows = form(page, "rows")
    numbers = {"Rows": "6", "Seats in a row": "12", "Curve, degrees": "50", "Aisles after seats": "6"}
    for label, value in (numbers | {"Price category": "Standard"}).items():
        rows.get_by_label(label, exact=True).fill(value)
    expect(rows.locator("[data-sum]")).to_have_text("72 seats")
    keep_screenshot(page, "admin-seat-map-start")
    assert axe.violations(page) == []
    rows.get_by_role("button", name="Put them down").click()
    expect(page.get_by_role("heading", name="72 seats in 6 rows")).to_be_visible()
    page.keyboard.press("Escape")


def make_wheelchair_place(page: Page, seat: int) -> None:
    page.mouse.click(*at(page, seat))
    labels = form(page, "labels")
    expect(labels.get_by_label("Row", exact=True)).to_have_value("F")
    labels.get_by_label("Kind of seat").select_option("wheelchair")
    labels.get_by_role("button", name="Apply").click()
    expect(page.locator("[data-chosen-words]")).to_contain_text("1 paired")


def draw_standing_area(page: Page) -> None:
    page.get_by_role("button", name="Standing area").click()
    form(page, "area").get_by_label("People").fill("80")
    drag(page, middle(page, 0.03, 0.5), middle(page, 0.16, 0.75))
    expect(page.get_by_role("heading", name="Zone", exact=True)).to_be_visible()
    area = "() => document.querySelector('#seat-map').page.board.map.sheet.zones.at(-1).outline[0][0]"
    left = page.evaluate(area)
    drag(page, middle(page, 0.5, 0.99), middle(page, 0.5, 0.99))  # what is clicked beside it is not it
    box = page.evaluate("() => document.querySelector('#seat-map').page.board.map.sheet.zones.at(-1).outline")
    inside = seen(page, sum(x for x, _ in box) / 4, sum(y for _, y in box) / 4)
    page.mouse.click(*inside)
    drag(page, inside, (inside[0] + 12, inside[1]))
    assert page.evaluate(area) > left


def drag_row_and_undo(page: Page) -> None:
    before = at(page, 0)
    page.get_by_role("button", name="Select", exact=True).click()
    page.mouse.dblclick(*before)
    expect(page.get_by_role("heading", name="Row A: 12 seats")).to_be_visible()
    drag(page, before, (before[0], before[1] - 40))
    assert at(page, 0)[1] < before[1] - 20
    page.get_by_role("button", name="Undo").click()
    assert abs(at(page, 0)[1] - before[1]) < 1


def test_a_hall_is_drawn_with_the_mouse_and_sold(browser_page: Page, house: House) -> None:
    browser_page.set_viewport_size({"width": 1440, "height": 900})
    page = house.open(browser_page)
    keep_screenshot(page, "admin-seat-map-new")
    draw_rows(page)
    make_wheelchair_place(page, 60)  # the first seat of the last row
    draw_standing_area(page)
    drag_row_and_undo(page)
    page.locator("[data-canvas]").focus()
    page.keyboard.press("Escape")
    keep_screenshot(page, "admin-seat-map")
    assert axe.violations(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(state(page)).to_have_text("Saved as version 1.")
    publish(page)
    layout = house.stored()["layout"]
    assert [(zone["name"], zone["capacity"]) for zone in layout["zones"]] == [("Stalls", 72), ("Floor", 80)]
    wheelchair = next(seat for seat in layout["zones"][0]["seats"] if seat["category"] == "wheelchair")
    assert (wheelchair["seat_id"], wheelchair["companion_seat_id"]) == ("Stalls-F-1", "Stalls-F-2")
    assert sum(seat["aisle_after"] for seat in layout["zones"][0]["seats"]) == 6
    assert house.sell("Stalls-B-4")["seat_id"] == "Stalls-B-4"


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is on what has this name or id."""
    for _ in range(120):
        if name in page.evaluate(FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the focus never came to {name}")


def test_a_hall_is_drawn_with_the_keyboard_alone(browser_page: Page, house: House) -> None:
    page = house.open(browser_page)
    tab_to(page, "Tables Gala, cabaret, dinner")
    page.keyboard.press("Enter")
    page.keyboard.type("3")  # the first field has the focus, and what is in it is selected
    tab_to(page, "soldWhole")
    page.keyboard.press("Space")
    tab_to(page, "Put them down")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="24 seats in 3 rows")).to_be_visible()
    page.keyboard.press("Escape")
    tab_to(page, "canvas")
    page.keyboard.press("]")
    expect(page.get_by_role("heading", name=re.compile("Row T[123]: 8 seats"))).to_be_visible()
    x = page.evaluate("() => document.querySelector('#seat-map').page.board.chosenBox().left")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert page.evaluate("() => document.querySelector('#seat-map').page.board.chosenBox().left") < x
    page.keyboard.press("Enter")
    tab_to(page, "price")
    page.keyboard.type("Gala")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+s")
    expect(state(page)).to_have_text("Saved as version 1.")
    tab_to(page, "Publish …")
    page.keyboard.press("Enter")
    tab_to(page, "Publish version 1")
    page.keyboard.press("Enter")
    expect(state(page)).to_have_text("Version 1 is published.")
    layout = house.stored()["layout"]
    assert [group["sold_whole"] for group in layout["groups"]] == [True, True, True]
    assert sum(seat["price_category"] == "Gala" for seat in layout["zones"][0]["seats"]) == 8


def two_rows(**changed: Any) -> dict[str, Any]:
    """A draft with positions as the editor draws them."""
    seats = [a_seat(row, n, coordinates={"x": 25 * n, "y": 30 * "AB".index(row)}) for row in "AB" for n in range(1, 9)]
    return a_layout(zones=[stalls(seats=seats), floor()], focus={"x": 100, "y": -80}, **changed)


def rename_row(page: Page, row: str, name: str) -> None:
    """Through the list beside the drawing."""
    page.get_by_role("tab", name="List").click()
    page.get_by_role("checkbox", name=re.compile(f"^Row {row} ")).click()
    page.get_by_role("tab", name="Edit").click()
    form(page, "labels").get_by_label("Row", exact=True).fill(name)
    form(page, "labels").get_by_role("button", name="Apply").click()


def test_two_people_edit_one_draft_and_nothing_is_lost(browser: Browser, house: House) -> None:
    draft = house.api.post(house.layouts, two_rows())["id"]
    ines, tomas = (house.open(browser.new_context().new_page(), draft, who) for who in ("ines", "tomas"))
    house.app_server.advance(SECOND_MS)
    rename_row(tomas, "B", "Z")
    expect(state(tomas)).to_have_text("Saved as version 1.")
    rename_row(ines, "A", "Q")
    notice = ines.get_by_role("alert")
    expect(notice).to_contain_text("tomas saved this draft meanwhile")
    assert {seat["row"] for seat in house.stored()["layout"]["zones"][0]["seats"]} == {"A", "Z"}
    keep_screenshot(ines, "admin-seat-map-two-editors")
    notice.get_by_role("button", name="Save mine as version 2").click()
    expect(state(ines)).to_have_text("Saved as version 2.")
    assert {seat["row"] for seat in house.stored()["layout"]["zones"][0]["seats"]} == {"Q", "B"}
    ines.get_by_role("tab", name="Versions").click()
    expect(ines.locator("[data-number='1']")).to_contain_text("tomas")
    ines.locator("[data-number='1']").get_by_role("button", name="Restore as a new version").click()
    expect(state(ines)).to_have_text("Version 3, a draft. It is saved as you work.")
    assert {seat["row"] for seat in house.stored()["layout"]["zones"][0]["seats"]} == {"A", "Z"}
    for page in (ines, tomas):
        page.context.close()


def test_their_version_can_be_shown_and_mine_comes_back(browser: Browser, house: House) -> None:
    draft = house.api.post(house.layouts, two_rows())["id"]
    page = house.open(browser.new_context().new_page(), draft)
    house.app_server.advance(SECOND_MS)
    house.api.put(f"{house.layouts}/{draft}", two_rows(description="theirs"))
    rename_row(page, "A", "Q")
    page.get_by_role("button", name="Show theirs").click()
    expect(state(page)).to_have_text("This is their version. Undo brings yours back.")
    expect(form(page, "labels").get_by_label("Row", exact=True)).to_have_value("A")
    page.get_by_role("button", name="Undo").click()
    expect(form(page, "labels").get_by_label("Row", exact=True)).to_have_value("Q")
    page.context.close()


def test_a_reload_and_a_lost_network_lose_nothing(browser_page: Page, house: House) -> None:
    draft = house.api.post(house.layouts, two_rows())["id"]
    page = house.open(browser_page, draft)
    page.route("**/layouts/**", lambda route: route.abort() if route.request.method == "PUT" else route.fallback())
    rename_row(page, "A", "Q")
    expect(state(page)).to_contain_text("the server cannot be reached")
    page.reload()
    expect(state(page)).to_have_text(re.compile("^Your changes from before are back"))
    page.unroute("**/layouts/**")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(state(page)).to_have_text("Saved as version 1.")
    assert {seat["row"] for seat in house.stored()["layout"]["zones"][0]["seats"]} == {"Q", "B"}
    page.reload()
    expect(state(page)).to_have_text("Version 1, a draft. It is saved as you work.")


def test_findings_lead_to_their_seats_on_a_phone_too(browser_page: Page, house: House) -> None:
    draft = house.api.post(house.layouts, two_rows())["id"]
    browser_page.set_viewport_size({"width": 390, "height": 844})
    page = house.open(browser_page, draft)
    rename_row(page, "B", "A")  # its seats have the numbers of row A
    expect(state(page)).to_contain_text("8 things to put right")
    page.get_by_role("tab", name="Check").click()
    expect(page.locator("[data-checked]")).to_have_text("8 things prevent publishing.")
    assert_fits_width(page, 390)
    assert axe.violations(page) == []
    keep_screenshot(page, "admin-phone-seat-map-check", whole=True)
    page.get_by_role("button", name="Show Stalls, row A, seat 3").click()
    expect(page.get_by_role("heading", name="Row A: 1 seat")).to_be_visible()
    keep_screenshot(page, "admin-phone-seat-map", whole=True)
    page.get_by_role("button", name="Undo").click()
    expect(state(page)).to_have_text("Saved as version 1.")
