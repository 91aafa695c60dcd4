"""The page of a queue in a real browser: waiting room, draw, turn, and what goes wrong on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app_server import AppServer
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshots
from tests.browser.theatre import a_theatre
from tests.builders import MINUTE
from tests.contracts.queueing.rush import OPENING, Rush
from tests.served_app import served
from tests.services.axe import violations


@pytest.fixture
def rush(app_server: AppServer) -> Rush:
    """A theatre whose sale begins in an hour, with a queue that lets two in at once."""
    made = Rush(app_server, a_theatre(app_server, sale_start_at=OPENING))
    made.let_in(2)
    made.sale.api.put(made.settings, {"room_minutes": 30})
    return made


@pytest.fixture
def page(app_server: AppServer, rush: Rush, browser_page: Page) -> Iterator[Page]:
    """The page of the queue, at the clock of the server."""
    browser_page.clock.install(time=rush.app_server.now / 1000)
    with served(app_server) as address:
        browser_page.goto(address_of(address, rush))
        yield browser_page
        browser_page.goto("about:blank")


def address_of(address: str, rush: Rush) -> str:
    return f"{address}/o/{rush.sale.slug}/events/{rush.sale.event['slug']}/queue"


def pass_time(page: Page, rush: Rush, until: int) -> None:
    """Both clocks go on to that moment, and the page asks."""
    gone = until - rush.app_server.now
    rush.until(until)
    page.clock.fast_forward(gone)
    page.clock.run_for(6_000)


def test_from_the_waiting_room_to_the_seats(page: Page, rush: Rush) -> None:
    expect(page.locator("[data-now]")).to_contain_text("The waiting room opens in")
    expect(page.get_by_role("timer")).to_have_text("30:00")
    expect(page.get_by_role("button", name="Join the queue")).to_be_hidden()
    pass_time(page, rush, OPENING - 20 * MINUTE)
    expect(page.locator("[data-now]")).to_contain_text("The sale opens in")
    page.get_by_role("button", name="Join the queue").click()
    expect(page.locator("[data-now]")).to_contain_text("You are in. Your place is drawn when the sale opens.")
    receipt = page.locator("[data-receipt]").inner_text()
    assert re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", receipt)
    assert violations(page) == []
    keep_screenshots(page, "shop-queue-before")
    others = [rush.join() for _ in range(6)]
    page.reload()
    expect(page.locator("[data-receipt]")).to_have_text(receipt)
    pass_time(page, rush, OPENING + 1000)
    expect(page.locator("[data-now]")).to_contain_text(re.compile("Your place in the queue|It is your turn"))
    while any(rush.place(other)["state"] == "admitted" for other in others):  # they go, until it is this guest's turn
        for other in others:
            if rush.place(other)["state"] == "admitted":
                other.ask("DELETE", rush.path)
        rush.app_server.advance(6_000)
    page.clock.run_for(6_000)
    expect(page.locator("[data-now]")).to_contain_text("It is your turn")
    page.clock.run_for(6_000)
    page.wait_for_url("**/seats")
    expect(page.locator("#picker")).to_have_attribute("data-ready", "true")
    page.get_by_role("button", name="Best for us").click()
    page.get_by_role("button", name="Show us").click()
    page.get_by_role("button", name="Take these 2").click()
    expect(page.locator("[data-bar-summary]")).to_have_text("2 reserved for you")


def test_the_draw_is_checked_on_the_page_with_the_receipt(page: Page, rush: Rush) -> None:
    pass_time(page, rush, OPENING - 20 * MINUTE)
    page.get_by_role("button", name="Join the queue").click()
    expect(page.locator("[data-receipt]")).not_to_be_empty()
    rush.let_in(1)
    for _ in range(9):
        rush.join()
    page.route("**/seats", lambda route: route.abort())
    pass_time(page, rush, OPENING + 1000)
    page.get_by_role("button", name="Check the draw").click()
    expect(page.locator("[data-verdict]")).to_have_text(
        re.compile(r"The draw is right: 10 took part, and your receipt was drawn at place \d+\.")
    )
    page.route(
        "**/draw/entries",
        lambda route: route.fulfill(body=_with_two_exchanged(route.fetch().text()), content_type="text/plain"),
    )
    page.get_by_role("button", name="Check the draw").click()
    expect(page.locator("[data-verdict]")).to_contain_text("has another order than the one drawn, at place")
    keep_screenshots(page, "shop-queue-checked")


def _with_two_exchanged(text: str) -> str:
    head, first, second, *rest = text.splitlines()
    return "\n".join([head, second, first, *rest])


def test_waiting_with_a_cut_connection_and_running_out(page: Page, rush: Rush, browser: Browser) -> None:
    rush.let_in(1)
    rush.until(OPENING + MINUTE)
    for _ in range(3):
        rush.place(rush.join())
    page.reload()
    page.clock.fast_forward(60 * MINUTE)
    page.get_by_role("button", name="Join the queue").click()
    expect(page.locator("[data-now]")).to_contain_text("Your place in the queue")
    expect(page.locator("[data-now]")).to_contain_text(re.compile("Probably between|The waiting time"))
    assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert_fits_width(page, 320)
    keep_screenshots(page, "shop-queue-waiting")
    page.context.set_offline(True)
    page.clock.run_for(6_000)
    expect(page.get_by_text("we try again every five seconds")).to_be_visible()
    expect(page.locator("[data-now]")).to_contain_text("Your place in the queue")
    page.context.set_offline(False)
    page.clock.run_for(6_000)
    expect(page.get_by_text("we try again every five seconds")).to_be_hidden()
    rush.app_server.advance(31 * MINUTE)
    page.clock.run_for(6_000)
    expect(page.locator("[data-now]")).to_contain_text("You can join again, at the end.")
    rush.place(rush.join())
    page.get_by_role("button", name="Join again").click()
    page.get_by_role("button", name="Leave the queue").click()
    page.get_by_role("dialog").get_by_role("button", name="Leave the queue").click()
    expect(page.locator("[data-now]")).to_contain_text("You can join again in")


def test_without_scripts_the_page_refreshes_itself(page: Page, rush: Rush) -> None:
    rush.open_room()
    plain = page.request.get(page.url).text()
    assert '<noscript><meta http-equiv="refresh" content="15"></noscript>' in plain
    joined = page.request.post(page.url, form={"lang": "en"}).text()
    assert "You are in. Your place is drawn when the sale opens." in joined
    rush.until(OPENING + 1000)
    assert "It is your turn" in page.request.get(page.url).text()
