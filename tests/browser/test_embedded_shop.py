"""The shop inside a page of another website, by one line, in a browser that gives foreign frames no cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from flask import Flask, Response
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.app_server import ApiClient, AppServer
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.contracts.checkout.shop_floor import ACCOUNT
from tests.contracts.storefront.conftest import REDUCED, STANDING, Evening, an_evening
from tests.documentation.blocks import blocks
from tests.served_app import listening, served

STYLE = (
    "body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 1.125rem/1.5 Georgia, serif; background: #fdf6ec }"
)


@dataclass
class Band:
    """A website of its own, which has one line from the documentation in its page."""

    evening: Evening
    shop: str
    website: str
    api: ApiClient


@pytest.fixture
def band(app_server: AppServer) -> Iterator[Band]:
    api = app_server.api(app_server.organisation("marquee"))
    api.patch("/api/organisation/checkout", ACCOUNT)
    evening = an_evening(app_server, api, STANDING, REDUCED)
    app_server.run_worker()
    website = Flask("website")
    with served(app_server) as shop, listening(website) as port:
        (line,) = (block.text for block in blocks() if (block.page, block.kind) == ("shop.md", "html"))
        line = line.replace("https://tickets.example/o/roxy", f"{shop}/o/marquee").replace("spring-gala", "night-music")

        @website.get("/")
        def page() -> Response:
            head = "<!doctype html><html lang=en><title>The band</title><link rel=stylesheet href=style.css>"
            text = f"{head}<h1>The band</h1>{line}"
            response = Response(text, content_type="text/html; charset=utf-8")
            # As strict as a website can be: one script, one frame, its own stylesheet.
            policy = f"default-src 'none'; style-src 'self'; script-src {shop}; frame-src {shop}"
            response.headers["Content-Security-Policy"] = policy
            return response

        @website.get("/style.css")
        def style() -> Response:
            return Response(STYLE, content_type="text/css")

        yield Band(evening, shop, f"http://localhost:{port}", api)


@pytest.fixture
def page(browser_page: Page) -> Page:
    """A browser that gives foreign frames no cookies."""
    tools = browser_page.context.new_cdp_session(browser_page)
    tools.send("Network.enable")
    blocked = {"enableThirdPartyCookieRestriction": True, "disableThirdPartyCookieMetadata": True}
    tools.send("Network.setCookieControls", blocked | {"disableThirdPartyCookieHeuristics": True})
    return browser_page


def bought(context: BrowserContext, page: Page) -> None:
    """From the frame to the order, which has a tab of its own."""
    frame = page.frame_locator("gatehouse-shop iframe")
    frame.get_by_role("button", name="One “Standing” more").click()
    assert context.cookies() == []  # whatever is in the frame needs none
    with context.expect_page() as opened:
        frame.get_by_role("button", name="Continue").click()
    shop = opened.value
    expect(shop.get_by_role("heading", name="Checkout")).to_be_visible()
    shop.get_by_label("Name", exact=True).fill("Ada Lovelace")
    shop.get_by_label("E-mail").fill("ada@lovelace.example")
    shop.get_by_role("button", name="Order and pay").click()
    expect(shop.get_by_role("heading", name="Please transfer the money")).to_be_visible()
    assert shop.evaluate("top === self")


def test_one_line_sells_tickets_on_another_website(band: Band, page: Page) -> None:
    band.api.patch("/api/organisation/ticket-design", {"embed_origins": [band.website]})
    page.goto(band.website)
    frame = page.frame_locator("gatehouse-shop iframe")
    expect(frame.get_by_role("heading", name="Night Music")).to_be_visible()
    shown = page.locator("gatehouse-shop iframe")
    expect(shown).to_have_attribute("title", re.compile("Night Music"))
    for width, height in ((320, 640), (390, 844), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        inside = page.frames[1]
        page.wait_for_function(
            "([frame, height]) => Math.abs(frame.clientHeight - height) < 2",
            arg=[shown.element_handle(), inside.evaluate("document.body.getBoundingClientRect().height")],
        )
        assert not inside.evaluate("document.documentElement.scrollHeight > innerHeight + 1")
        assert_fits_width(page, width)
        if width > 320:
            keep_screenshot(page, f"shop-embedded-{'phone' if width < 600 else 'desktop'}")
    bought(page.context, page)


def test_a_website_that_is_not_listed_shows_a_link(band: Band, browser: Browser) -> None:
    page = browser.new_page()  # the browser says in its console that it shows nothing
    page.goto(band.website)
    page.wait_for_function("document.querySelector('gatehouse-shop').frame")
    link = page.get_by_role("link", name="/o/marquee/events/night-music")
    expect(link).to_have_attribute("href", f"{band.shop}/o/marquee/events/night-music?lang=en")
    page.wait_for_load_state()
    assert page.locator("gatehouse-shop iframe").bounding_box()["height"] == 0  # type: ignore[index]  # it is there
    assert page.frames[1].url.startswith("chrome-error:")
    page.close()


def test_messages_of_others_change_nothing(band: Band, page: Page) -> None:
    band.api.patch("/api/organisation/ticket-design", {"embed_origins": [band.website]})
    page.goto(band.website)
    shown = page.locator("gatehouse-shop iframe")
    expect(shown).to_have_attribute("title", re.compile("Night Music"))
    before = shown.bounding_box()
    page.evaluate("postMessage({ gatehouse: 'page', page: 'x', height: 9000, title: 'Forged' }, '*')")
    page.frames[1].evaluate("parent.postMessage({ gatehouse: 'page', height: 'NaN', title: 'Forged' }, '*')")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert shown.bounding_box() == before
    expect(shown).not_to_have_attribute("title", "Forged")
