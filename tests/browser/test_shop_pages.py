"""The shop as its visitors meet it: on a phone, without JavaScript, with a keyboard alone, in German, in the dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from hardware.vision.stills import decode_image
from tests.app_server import ApiClient, AppServer
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.builders import DAY, EVENING, HOUR
from tests.contracts.checkout.shop_floor import ACCOUNT
from tests.contracts.storefront.conftest import REDUCED, STANDING, Evening, an_evening
from tests.served_app import served
from tests.services.axe import violations

FREE = {"name": "Members", "price_cents": 0}
TEXT = "Four choirs and a brass band play from three stages around the harbour basin.\n\nBring a warm coat."
SIZES = ((390, 844, "phone"), (1280, 800, "desktop"))


@dataclass
class Shop:
    """A shop with several events, served."""

    address: str
    evening: Evening
    free: Evening

    @property
    def feed(self) -> str:
        """Its first page."""
        return f"{self.address}/o/marquee"


@pytest.fixture
def shop(app_server: AppServer) -> Iterator[Shop]:
    api = app_server.api(app_server.organisation("marquee"))
    api.patch("/api/organisation/checkout", ACCOUNT)
    terms = "Organiser: Marquee e.V., Hafenstraße 1, 10245 Berlin."
    api.patch("/api/organisation/ticket-design", {"colour": "#0f766e", "terms": terms})
    evening = an_evening(app_server, api, STANDING, REDUCED, description=TEXT)
    free = an_evening(app_server, api, FREE, name="Chamber Music by the Canal", description=TEXT)
    sold_out(api)
    app_server.run_worker()
    with served(app_server) as address:
        yield Shop(address, evening, free)


def sold_out(api: ApiClient) -> None:
    """An event with a waiting list."""
    venue = api.get("/api/venues")["items"][0]["id"]
    times = {"start_at": "2026-08-20T18:00:00Z", "end_at": "2026-08-20T22:00:00Z"}
    body = {"venue_id": venue, "name": "Midnight Brass", "description": TEXT, "capacity": 2, **times}
    event = api.post("/api/events", body)
    api.post(f"/api/events/{event['id']}/ticket-types", FREE | {"quantity": 2})
    api.post(f"/api/events/{event['id']}/publish", {}, 200)
    api.post(f"/api/events/{event['id']}/sales", {"places": [{"ticket_type": 1, "count": 2}], "method": "free"})
    api.put(f"/api/events/{event['id']}/waiting-list", {"open": True})


def looked_at(page: Page, name: str) -> None:
    """The page fits every screen, by day and by night, and axe finds nothing; it is kept as a picture in two sizes."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        for width, height, kind in ((320, 640, ""), *SIZES):
            page.set_viewport_size({"width": width, "height": height})
            assert_fits_width(page, width)
            if kind and scheme == "light":
                keep_screenshot(page, f"shop-{name}-{kind}")
        assert violations(page) == [], (name, scheme)
    page.set_viewport_size({"width": 390, "height": 844})


def buy(page: Page, shop: Shop, *, watched: bool) -> None:
    """From the list of events to an invoice."""
    page.goto(shop.feed)
    if watched:
        looked_at(page, "feed")
    page.get_by_role("link", name=re.compile("Night Music")).click()
    if watched:
        looked_at(page, "event")
        page.get_by_role("button", name="One “Standing” more").click(click_count=2)
        expect(page.locator("output")).to_have_text("€73.00")
    else:
        page.get_by_label("How many “Standing”").fill("2")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Checkout")).to_be_visible()
    page.get_by_role("button", name="Order and pay").click()
    expect(page.get_by_text("Enter the name for the order")).to_be_visible()
    if watched:
        expect(page.get_by_label("Name", exact=True)).to_be_focused()
        looked_at(page, "checkout")
        page.reload()  # the form is not sent again: what was said is said once, what was typed stays
        expect(page.get_by_text("Enter the name for the order")).to_have_count(0)
        page.go_back()
        expect(page.get_by_role("heading", name="Checkout")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("Ada Lovelace")
    page.get_by_label("E-mail").fill("ada@lovelace.example")
    page.get_by_role("button", name="Order and pay").click()
    expect(page.get_by_role("heading", name="Please transfer the money")).to_be_visible()
    if watched:
        looked_at(page, "invoice")


def test_a_ticket_is_bought_on_a_phone(shop: Shop, browser_page: Page) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    buy(browser_page, shop, watched=True)
    browser_page.goto(f"{shop.feed}/events/midnight-brass")
    expect(browser_page.get_by_role("button", name="Join the waiting list")).to_be_visible()
    looked_at(browser_page, "sold-out")
    for path, name in (("/account", "account"), ("/sign-in", "sign-in"), ("/events/nothing", "not-found")):
        browser_page.goto(shop.feed + path)
        looked_at(browser_page, name)


def test_a_ticket_is_bought_without_javascript(shop: Shop, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    try:
        buy(context.new_page(), shop, watched=False)
    finally:
        context.close()


def test_days_of_a_festival_are_chosen_and_named(app_server: AppServer, browser_page: Page) -> None:
    api = app_server.api(app_server.organisation("marquee"))
    api.patch("/api/organisation/checkout", ACCOUNT)
    tuesday = {"name": "Tuesday ticket", "price_cents": 4000, "quantity": 3, "valid_days": [2]}
    days = {"start_at": EVENING + 30 * DAY, "end_at": EVENING + 32 * DAY + 2 * HOUR, "doors_at": None}
    festival = an_evening(app_server, api, STANDING | {"name": "Festival pass"}, tuesday, name="Harbour Days", **days)
    page = browser_page
    with served(app_server) as address:
        page.goto(f"{address}{festival.path}")
        choice = page.get_by_role("group", name="On which days do you use “Festival pass”?")
        expect(choice.get_by_role("checkbox", checked=True)).to_have_count(3)
        choice.get_by_label("Wed 5 Aug").uncheck()
        more = page.get_by_role("button", name="One “Tuesday ticket” more")
        more.click(click_count=3)
        expect(more).to_be_disabled()
        page.get_by_role("button", name="One “Festival pass” more").click()
        looked_at(page, "days")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("complementary", name="Your order")).to_contain_text(
            re.compile("Tuesday ticket *Tuesday, 4 August 2026")
        )


def test_with_a_keyboard_alone_and_in_german(shop: Shop, browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    try:
        page.goto(f"{shop.address}{shop.free.path}")
        expect(page.get_by_role("heading", name="Tickets", exact=True)).to_be_visible()
        keyboard(page, "Wie viele „Members“", "2")
        press(page, "Weiter")
        expect(page.get_by_role("heading", name="Kasse")).to_be_visible()
        keyboard(page, "Name", "Ada Lovelace")
        keyboard(page, "E-Mail", "ada@lovelace.example")
        press(page, "Tickets kostenlos bestellen")
        expect(page.get_by_role("heading", name="Ihre Tickets sind da")).to_be_visible()
        looked_at(page, "tickets")
        codes = page.locator(".shop-ticket-code")
        expect(codes).to_have_count(3)
        codes.first.screenshot(path=str(tmp_path / "code.png"))
        assert decode_image(tmp_path / "code.png").codes, "a gate reads it from the screen"
    finally:
        context.close()


def keyboard(page: Page, label: str, text: str) -> None:
    """Go to a field by Tab, and type."""
    reach(page, page.get_by_label(label, exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def press(page: Page, name: str) -> None:
    """Go to a button by Tab, and press it."""
    reach(page, page.get_by_role("button", name=name))
    page.keyboard.press("Enter")


def reach(page: Page, wanted: object) -> None:
    """Press Tab until this is in focus."""
    for _ in range(40):
        if wanted.evaluate("element => element === document.activeElement"):  # type: ignore[attr-defined]
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"not reached by Tab: {wanted}")


def test_the_countdown_warns_and_ends_by_the_clock_of_the_server(shop: Shop, browser_page: Page) -> None:
    page = browser_page
    page.clock.install()
    page.goto(f"{shop.address}{shop.free.path}")
    page.get_by_role("button", name="One “Members” more").click()
    page.context.set_offline(True)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("What you chose stays on this page")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("What you chose stays on this page")).to_be_hidden()
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".countdown")).to_contain_text("5:00")
    page.get_by_label("Name", exact=True).fill("Ada Lovelace")
    page.reload()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Ada Lovelace")
    lost = page.get_by_text("The connection is lost. What you chose stays yours")
    page.context.set_offline(True)
    expect(lost).to_be_visible()
    page.get_by_role("button", name="Get the tickets").click()
    expect(page.get_by_role("heading", name="Checkout")).to_be_visible()  # and no page of the browser's own
    page.context.set_offline(False)
    expect(lost).to_be_hidden()
    page.clock.run_for(4 * 60_000 + 35_000)
    expect(page.get_by_role("alert")).to_contain_text("Half a minute left")
    page.clock.run_for(40_000)
    expect(page.locator(".countdown")).to_contain_text("Your time is over")
    expect(page.get_by_role("button", name="Get the tickets")).to_be_disabled()
