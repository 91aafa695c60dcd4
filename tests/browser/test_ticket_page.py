"""The page of an order's tickets, on a phone and on a large screen, as its buyer opens it by the link."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect

from hardware.vision.stills import decode_image
from sync_server.appearance.colours import Colour, readable
from tests.app_server import AppServer
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.contracts.checkout.shop_floor import Shop, a_shop
from tests.contracts.ticket_files.paper import Printed, members_of
from tests.served_app import served
from tests.services.axe import violations


def a_logo() -> bytes:
    """A wordmark on a clear ground, three times as wide as high."""
    picture = Image.new("RGBA", (480, 160), (0, 0, 0, 0))
    pen = ImageDraw.Draw(picture)
    pen.ellipse((8, 8, 152, 152), fill="#b45309")
    pen.rectangle((180, 40, 470, 72), fill="#111827")
    pen.rectangle((180, 92, 380, 116), fill="#111827")
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


BUYER = {"name": "Ada Lovelace", "email": "ada@lovelace.example", "locale": "de"}


def readable_on_white(colour: str) -> str:
    """As browsers write it."""
    found = readable(Colour.of(colour))
    return f"rgb({found.red}, {found.green}, {found.blue})"


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server with a manual clock."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


def dark_share(page: Page) -> float:
    """How much of the width of the screen the code itself takes, without the margin that readers need."""
    modules = page.locator(".code svg path").last.evaluate("path => path.getBoundingClientRect().width")
    return float(modules / page.evaluate("innerWidth"))


class Opened:
    """A paid order of two seats, and its link."""

    def __init__(self, app_server: AppServer, address: str) -> None:
        self.shop: Shop = a_shop(app_server, name="Nachtmusik am Hafen: Orchester und Chöre")
        terms = "Veranstalter: Marquee e.V., Hafenstraße 1, 10245 Berlin. Keine Aufnahmen."
        self.shop.api.patch("/api/organisation/ticket-design", {"colour": "#f59e0b", "terms": terms})
        picture = self.shop.api.client.put(
            "/api/organisation/ticket-design/logo", data=a_logo(), headers=self.shop.api.headers
        )
        assert picture.status_code == 200, picture.get_data(as_text=True)
        self.guest = self.shop.guest()
        order = self.shop.order(self.guest, "A-1", "A-2", buyer=BUYER)
        self.order: dict[str, Any] = self.shop.note(order)
        secret = self.guest.get(f"{self.shop.path(order)}/link")["secret"]
        self.path = f"{address}/o/{self.shop.sale.slug}/orders/{order['id']}"
        self.link = f"{self.path}#{secret}"


@pytest.fixture
def opened(app_server: AppServer, browser_page: Page) -> Iterator[Opened]:
    with served(app_server) as address:
        yield Opened(app_server, address)


@pytest.mark.parametrize(("width", "height"), [(320, 640), (360, 740), (1280, 900)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_gate_reads_the_code_on_every_screen(
    opened: Opened, browser_page: Page, tmp_path: Path, *, width: int, height: int, scheme: Any
) -> None:
    page = browser_page
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(opened.link)
    expect(page.locator(".ticket")).to_have_count(3)
    assert_fits_width(page, width)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    *single, together = page.locator(".ticket").all()
    *links, to_all = page.locator("#jump a").all()
    for link, ticket, line in zip(links, single, opened.order["lines"], strict=True):
        link.click()
        expect(ticket).to_contain_text(line["ticket"]["confirmation_code"])
        expect(ticket).to_contain_text("Reihe")
        path = tmp_path / "ticket.png"
        ticket.locator(".code").screenshot(path=str(path))
        code = opened.guest.get(f"{opened.shop.path(opened.order)}/tickets/{line['ticket']['id']}/code")["code"]
        assert decode_image(path).codes == (code,)
    expect(together).to_contain_text("Ein Scan für alle")
    to_all.click()
    together.locator(".code").screenshot(path=str(tmp_path / "all.png"))
    (party,) = decode_image(tmp_path / "all.png").codes
    assert members_of(party) == {int(line["ticket"]["id"], 16) for line in opened.order["lines"]}
    logo = page.locator(".logo").first
    assert logo.evaluate("each => each.complete && each.naturalWidth > 0") and logo.is_visible()
    colours = page.locator(".day").first.evaluate("each => getComputedStyle(each).color")
    assert colours == ("rgb(243, 244, 246)" if scheme == "dark" else readable_on_white("#f59e0b"))
    band = page.locator(".ticket header").first.evaluate("each => getComputedStyle(each).backgroundColor")
    assert band == "rgb(245, 158, 11)", "the band of the PDF"
    if width < 600:
        assert dark_share(page) >= 0.8, "the code is at least 80 % of the phone's width"
    keep_screenshot(page, f"ticket-{width}-{scheme}", whole=True)
    assert complaints == []


def test_nothing_comes_from_elsewhere_and_the_secret_never_leaves_the_browser_but_in_a_header(
    opened: Opened, browser_page: Page
) -> None:
    asked: list[Any] = []
    browser_page.on("request", lambda request: asked.append(request))
    browser_page.goto(opened.link)
    expect(browser_page.locator(".ticket")).to_have_count(3)
    secret = opened.link.partition("#")[2]
    origin = "/".join(opened.path.split("/")[:3])
    assert asked and all(each.url.startswith(origin) for each in asked)
    assert all(secret not in each.url.partition("#")[0] for each in asked)
    response = opened.guest.ask("GET", f"/o/{opened.shop.sale.slug}/orders/{opened.order['id']}")
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert opened.order["number"] not in response.text


def test_wrong_link_and_order_without_tickets_say_what_to_do(opened: Opened, browser_page: Page) -> None:
    browser_page.set_viewport_size({"width": 320, "height": 640})
    browser_page.goto(f"{opened.path}#{'0' * 64}")
    expect(browser_page.locator("#message")).to_contain_text("This link opens no order")
    opened.shop.refund(opened.order)
    browser_page.goto(f"{opened.path}?#{opened.link.partition('#')[2]}")
    expect(browser_page.locator("#message")).to_contain_text("no tickets")
    expect(browser_page.locator("#again")).to_be_visible()
    assert_fits_width(browser_page, 320)


def test_pdf_and_calendar_are_saved_and_the_print_has_a_page_for_each_ticket(
    opened: Opened, browser_page: Page, tmp_path: Path
) -> None:
    browser_page.goto(opened.link)
    expect(browser_page.locator(".ticket")).to_have_count(3)
    with browser_page.expect_download() as saved:
        browser_page.locator("#pdf").click()
    assert Path(saved.value.path()).read_bytes().startswith(b"%PDF")
    with browser_page.expect_download() as saved:
        browser_page.locator("#calendar").click()
    assert b"BEGIN:VEVENT" in Path(saved.value.path()).read_bytes()
    printed = Printed(browser_page.pdf(format="A4"), tmp_path)
    codes = [
        opened.guest.get(f"{opened.shop.path(opened.order)}/tickets/{line['ticket']['id']}/code")["code"]
        for line in opened.order["lines"]
    ]
    *single, (together,) = [page for page in printed.codes() if page]
    assert single == [(code,) for code in codes]
    assert members_of(together) == {int(line["ticket"]["id"], 16) for line in opened.order["lines"]}


def test_the_next_ticket_is_a_swipe_away_and_the_seat_stands_above_the_code(opened: Opened, browser_page: Page) -> None:
    page = browser_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(opened.link)
    expect(page.locator(".ticket")).to_have_count(3)
    first, _, last = page.locator("#jump a").all()
    expect(first).to_have_attribute("aria-current", "true")
    seat, code = page.locator(".seat").first.bounding_box(), page.locator(".code").first.bounding_box()
    assert seat and code and seat["y"] + seat["height"] <= code["y"] < 844 - 250, "without scrolling"
    page.locator("#tickets").evaluate("list => list.scrollTo({ left: list.scrollWidth, behavior: 'instant' })")
    expect(last).to_have_attribute("aria-current", "true")
    expect(first).not_to_have_attribute("aria-current", "true")
    expect(page.locator(".ticket").last.locator(".code")).to_be_in_viewport()
    assert violations(page) == []


def test_tickets_that_were_opened_once_are_there_without_a_network_for_whoever_has_the_link(
    opened: Opened, browser_page: Page
) -> None:
    page = browser_page
    page.goto(opened.link)
    expect(page.locator(".ticket")).to_have_count(3)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.context.set_offline(True)
    page.reload()
    expect(page.locator(".ticket")).to_have_count(3)
    expect(page.locator("#saved")).to_contain_text("No connection")
    expect(page.locator(".ticket").first).to_contain_text(opened.order["lines"][0]["ticket"]["confirmation_code"])
    stranger = page.context.new_page()
    stranger.goto(opened.path)
    expect(stranger.locator("#message")).to_contain_text("There is no connection")
    expect(stranger.locator(".ticket")).to_have_count(0)
    page.context.set_offline(False)
    opened.shop.refund(opened.order)
    page.reload()
    expect(page.locator("#message")).to_contain_text("no tickets")
    page.context.set_offline(True)
    page.reload()
    expect(page.locator("#message")).to_contain_text("There is no connection")
    expect(page.locator(".ticket")).to_have_count(0)
