"""Choosing seats in the shop in a real browser: by map, keyboard, touch and list; against others, and offline."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.app_server import AppServer
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.browser.theatre import a_theatre, open_seats, working
from tests.contracts.holds.seated_event import SeatedEvent
from tests.served_app import served
from tests.services.axe import violations

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1440, "height": 900}


@pytest.fixture
def theatre(app_server: AppServer) -> SeatedEvent:
    """A theatre on sale; some seats of the third row are sold."""
    made = a_theatre(app_server)
    made.sell("C-5", "C-6", "D-9", "D-10", "D-11", "E-1", "E-2")
    app_server.run_worker()
    return made


@pytest.fixture
def address(app_server: AppServer, theatre: SeatedEvent, browser_page: Page) -> Iterator[str]:
    """The server, with a worker, for as long as the page is open."""
    with served(app_server) as found, working(app_server):
        yield found
        browser_page.goto("about:blank")  # closes the stream


def button(page: Page, name: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("button", name=name)


def summary(page: Page) -> Locator:
    return page.locator("[data-bar-summary]")


def said(page: Page) -> Locator:
    """What screen readers are told."""
    return page.locator("[data-say]")


def note(page: Page) -> Locator:
    return page.get_by_role("alert")


def open_row(page: Page, zone: str, row: str) -> None:
    """By the names that screen readers say."""
    button(page, "List").click()
    place = page.locator(".list-zone", has=page.get_by_text(zone, exact=True)).first
    place.locator("summary").first.click()
    place.locator(".list-row summary", has_text=re.compile(rf"^Row {row}\b")).click()


def choose(page: Page, *names: str) -> None:
    for name in names:
        button(page, re.compile(rf"{name},")).click()


def left_edge(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box
    return box["x"]


def assert_accessible(page: Page) -> None:
    assert violations(page) == []


def test_the_best_for_us_then_others_then_held(browser_page: Page, address: str, theatre: SeatedEvent) -> None:
    page = browser_page
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    open_seats(page, address, theatre)
    assert_accessible(page)
    assert left_edge(page, ".shop-name") == left_edge(page, ".picker-back") == left_edge(page, ".languages")
    keep_screenshot(page, "shop-seats-desktop")
    button(page, "Best for us").click()
    button(page, "One person more").click()
    button(page, "Show us").click()
    shown = page.locator(".best-seats")
    expect(shown).to_contain_text("Stalls, row A, seats")
    expect(shown).to_contain_text("€195.00")
    first = shown.inner_text()
    assert theatre.states().keys() & {"A-7", "A-8", "A-9"} == set(), "a preview holds nothing"
    assert_accessible(page)
    keep_screenshot(page, "shop-seats-best-desktop")
    button(page, "Show others").click()
    expect(shown).not_to_have_text(first)
    button(page, "Take these 3").click()
    expect(summary(page)).to_have_text("3 reserved for you")
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"5:00|4:5\d"))
    expect(page.get_by_role("link", name="Go to checkout")).to_be_focused()
    assert len([each for each in theatre.states().values() if each == 1]) == 3
    keep_screenshot(page, "shop-seats-held-desktop")
    page.reload()
    expect(summary(page)).to_have_text("3 reserved for you")
    expect(page.get_by_role("link", name="Go to checkout")).to_have_attribute("href", re.compile("/checkout$"))


def test_a_choice_that_leaves_a_single_seat_is_explained_and_solved_with_one_tap(
    browser_page: Page, address: str, theatre: SeatedEvent
) -> None:
    page = browser_page
    open_seats(page, address, theatre)
    open_row(page, "Stalls", "B")
    choose(page, "row B, seat 2", "row B, seat 3")
    expect(summary(page)).to_have_text("2 chosen")
    button(page, "Reserve 2 for 5 minutes").click()
    expect(note(page)).to_contain_text("That would leave Stalls, row B, seat 1 alone between taken seats")
    expect(note(page)).to_contain_text("instead?")
    assert theatre.states().keys() & {"B-2", "B-3"} == set()
    button(page, "Map").click()
    keep_screenshot(page, "shop-seats-single-desktop")
    button(page, "Take these 2 instead").click()
    expect(summary(page)).to_have_text("2 reserved for you")
    assert sum(state == 1 for state in theatre.states().values()) == 2


def test_two_guests_race_for_the_same_seats(
    browser: Browser, browser_page: Page, address: str, theatre: SeatedEvent
) -> None:
    mine, other = browser_page, browser.new_context().new_page()
    for page in (mine, other):
        open_seats(page, address, theatre)
        open_row(page, "Stalls", "F")
    choose(mine, "row F, seat 3", "row F, seat 4", "row F, seat 5", "row F, seat 6")
    choose(other, "row F, seat 5", "row F, seat 6")
    button(other, "Reserve 2 for 5 minutes").click()
    expect(summary(other)).to_have_text("2 reserved for you")
    expect(note(mine)).to_contain_text("Somebody else has just taken Stalls, row F, seats 5 and 6.")
    expect(summary(mine)).to_have_text("2 chosen")
    expect(button(mine, re.compile("row F, seat 5,.*taken"))).to_be_visible()
    # Whoever has not heard of it is told by the refusal.
    mine.route("**/seatmap/changes**", lambda route: route.abort())
    mine.reload()
    expect(summary(mine)).to_have_text("2 chosen")
    theatre.reserve(theatre.api, "F-3", override=True)
    button(mine, "Reserve 2 for 5 minutes").click()
    expect(note(mine)).to_contain_text("Somebody else has just taken Stalls, row F, seat 3.")
    expect(summary(mine)).to_have_text("1 chosen")
    other.goto("about:blank")
    other.context.close()


def test_with_the_keyboard_alone(browser_page: Page, address: str, theatre: SeatedEvent) -> None:
    page = browser_page
    open_seats(page, address, theatre)
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "CANVAS":
            break
    page.keyboard.press("ArrowRight")
    expect(said(page)).to_have_text(re.compile("^Stalls, row A, seat 1, €65.00, wheelchair place, free"))
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    expect(said(page)).to_have_text("Stalls, row C, seat 1, €65.00, chosen")
    expect(summary(page)).to_have_text("2 chosen")
    page.keyboard.press("Escape")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('[data-bar-hold]')"):
            break
    page.keyboard.press("Enter")
    expect(summary(page)).to_have_text("2 reserved for you")
    expect(page.get_by_role("link", name="Go to checkout")).to_be_focused()
    assert {name for name, state in theatre.states().items() if state == 1} == {"C-1", "C-2"}


def test_by_the_names_that_screen_readers_say(browser_page: Page, address: str, theatre: SeatedEvent) -> None:
    page = browser_page
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    open_seats(page, address, theatre)
    open_row(page, "Stalls", "A")
    expect(button(page, "Stalls, row A, seat 2, €65.00, companion seat, not on sale")).to_be_visible()
    choose(page, "Stalls, row A, seat 1")
    expect(note(page)).to_contain_text("Stalls, row A, seat 2 beside it is kept for whoever comes with you.")
    button(page, "Add the companion seat").click()
    button(page, "One more in Standing").click()
    expect(summary(page)).to_have_text("3 chosen")
    assert_accessible(page)
    assert_fits_width(page, 390)
    keep_screenshot(page, "shop-seats-list-phone", whole=True)
    button(page, "Reserve 3 for 5 minutes").click()
    expect(summary(page)).to_have_text("3 reserved for you")
    expect(page.get_by_text("€150.00")).to_be_visible()
    button(page, re.compile("^Give back 1 . Standing$")).click()
    expect(summary(page)).to_have_text("2 reserved for you")
    page.set_viewport_size({"width": 320, "height": 640})
    assert_fits_width(page, 320)


def test_on_a_phone_with_fingers(browser_page: Page, address: str, theatre: SeatedEvent) -> None:
    page = browser_page
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="dark")
    open_seats(page, address, theatre)
    keep_screenshot(page, "shop-seats-phone-dark")
    canvas = page.locator("[data-canvas]")
    box = canvas.bounding_box()
    assert box
    touch = page.context.new_cdp_session(page)

    def fingers(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": id} for id, (x, y) in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = float(canvas.get_attribute("data-pixels") or 0)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    fingers("touchStart", (x - 30, y), (x + 30, y))
    for apart in range(30, 84, 6):
        fingers("touchMove", (x - apart, y), (x + apart, y))
    fingers("touchEnd")
    expect(canvas).not_to_have_attribute("data-pixels", f"{before:.2f}")
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-canvas]')].every(each => each.dataset.pixels > 19)"
    )
    # A finger that rests looks closely; lifting it chooses the seat under it.
    fingers("touchStart", (x - 60, y))
    page.wait_for_timeout(400)  # the time that a finger must rest
    keep_screenshot(page, "shop-seats-loupe-phone")
    fingers("touchEnd")
    expect(summary(page)).to_have_text("1 chosen")
    assert_accessible(page)


def test_a_cut_connection_loses_nothing(browser_page: Page, address: str, theatre: SeatedEvent) -> None:
    page = browser_page
    open_seats(page, address, theatre)
    open_row(page, "Balcony", "BB")
    choose(page, "row BB, seat 1", "row BB, seat 2")
    page.context.set_offline(True)
    button(page, "Reserve 2 for 5 minutes").click()
    expect(note(page)).to_contain_text("The connection is lost. Your choice is kept on this page.")
    page.context.set_offline(False)
    button(page, "Try again").click()
    expect(summary(page)).to_have_text("2 reserved for you")


def test_the_time_runs_out_and_is_extended_once(
    browser_page: Page, address: str, theatre: SeatedEvent, app_server: AppServer
) -> None:
    page = browser_page
    page.clock.install()
    open_seats(page, address, theatre)
    open_row(page, "Balcony", "BC")
    choose(page, "row BC, seat 1", "row BC, seat 2")
    page.clock.run_for(1000)
    button(page, "Reserve 2 for 5 minutes").click()
    expect(summary(page)).to_have_text("2 reserved for you")
    expect(button(page, "More time")).to_be_hidden()
    app_server.advance(275_000)
    page.clock.run_for(275_000)
    expect(said(page)).to_have_text(re.compile(r"\d+ seconds left\. Go to checkout, or ask for more time\."))
    expect(page.locator("[data-bar-warning]")).to_contain_text("seconds left. Go to checkout, or ask for more time.")
    button(page, "More time").click()
    page.clock.run_for(1000)
    expect(page.locator("[data-bar-warning]")).to_be_hidden()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"5:00|4:5\d"))
    app_server.advance(301_000)
    page.clock.run_for(301_000)
    expect(note(page)).to_contain_text("Your time has run out.")
    expect(summary(page)).to_have_text("2 chosen")
    button(page, "Reserve again").click()
    page.clock.run_for(1000)
    expect(summary(page)).to_have_text("2 reserved for you")


def test_the_page_in_every_language_and_without_scripts(browser_page: Page, address: str, theatre: SeatedEvent) -> None:
    for language, heading in (("de", "Plätze wählen"), ("fr", "Choisissez vos places"), ("af", "Kies u sitplekke")):
        open_seats(browser_page, address, theatre, f"?lang={language}")
        expect(browser_page.get_by_role("heading", name=heading)).to_be_visible()
        assert "picker." not in browser_page.locator("#picker").inner_text()
    plain = browser_page.request.get(f"{address}/o/{theatre.slug}/events/{theatre.event['slug']}/seats").text()
    without = plain[plain.index("<noscript>") : plain.index("</noscript>")]
    assert "The seating plan needs JavaScript." in without and "from €45.00" in without


def test_what_the_plan_draws_is_shown_and_a_zone_leads_to_its_places(
    address: str, theatre: SeatedEvent, browser_page: Page
) -> None:
    page = browser_page
    page.set_viewport_size(DESKTOP)
    open_seats(page, address, theatre)
    inside = """([x, y]) => {
      const { map } = document.querySelector("#picker").page, { drawn } = map.layout;
      const { x: px, y: py } = map.view.to((x - drawn.x) / drawn.unit, (y - drawn.y) / drawn.unit);
      map.draw();
      const dots = map.view.dots, pixel = map.ctx.getImageData(px * dots, py * dots, 1, 1).data;
      const ground = map.ctx.getImageData(2, 2, 1, 1).data;
      const box = map.canvas.getBoundingClientRect();
      return { at: [box.left + px, box.top + py], drawn: pixel.join() !== ground.join() };
    }"""
    bar, floor, between = (page.evaluate(inside, at) for at in ([-3.5, 1.5], [24, 7], [-1, -3]))
    assert (bar["drawn"], floor["drawn"], between["drawn"]) == (True, True, False)
    page.mouse.click(*floor["at"])
    expect(button(page, "One more in Standing")).to_be_focused()
    page.keyboard.press("Enter")
    expect(summary(page)).to_contain_text("1")
