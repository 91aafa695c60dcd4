"""The page of the API: people read it, enter a token and try a request, under a policy without inline code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from sync_server.plumbing.api import api_docs
from tests.app_server import AppServer, a_concert
from tests.browser.page_width import assert_fits_width
from tests.browser.test_seat_page import served

SCREENSHOTS = os.environ.get("GATEHOUSE_TEST_PICTURES")  # a folder: keep screenshots there


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server with a manual clock."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


def keep_screenshots(page: Page, name: str) -> None:
    """Check the page at both widths, and keep screenshots if requested."""
    for width, kind in ((390, "phone"), (1280, "desktop")):
        page.set_viewport_size({"width": width, "height": 800})
        assert_fits_width(page, width)
        if SCREENSHOTS:
            page.screenshot(path=f"{SCREENSHOTS}/api-{name}-{kind}.png")


def opened(page: Page, tag: str, operation: str) -> Locator:
    """One operation of the page, opened."""
    page.locator(f"#operations-tag-{tag}").click()
    found = page.locator(f"#operations-{tag}-{operation}")
    found.locator(".opblock-summary-control").click()
    return found


def authorise(page: Page, token: str) -> None:
    """Enter a token as people do."""
    page.get_by_role("button", name="Authorize").first.click()
    dialog = page.locator(".dialog-ux")
    dialog.locator("input").first.fill(token)
    dialog.get_by_role("button", name="Apply credentials").first.click()
    dialog.get_by_role("button", name="Close").last.click()


def test_a_request_is_tried_with_a_token_that_is_kept_nowhere(app_server: AppServer, browser_page: Page) -> None:
    organisation = app_server.organisation("marquee")
    event = a_concert(app_server.api(organisation), name="Choirs by night").event
    token = app_server.api(organisation, ["read"]).headers["Authorization"].removeprefix("Bearer ")
    with served(app_server) as address:
        browser_page.goto(f"{address}/docs")
        expect(browser_page.locator("#operations-tag-Venues")).to_be_visible()
        keep_screenshots(browser_page, "start")
        operation = opened(browser_page, "Events", "events_show")
        operation.locator("input[placeholder='event_id']").fill(event["id"])
        operation.get_by_role("button", name="Execute").click()
        answer = operation.locator(".live-responses-table .response")
        expect(answer.locator(".response-col_status")).to_contain_text("404")
        authorise(browser_page, token)
        operation.get_by_role("button", name="Execute").click()
        expect(answer.locator(".response-col_status")).to_contain_text("200")
        expect(answer).to_contain_text("Choirs by night")
        answer.scroll_into_view_if_needed()
        keep_screenshots(browser_page, "answer")
        assert browser_page.evaluate("localStorage.length + sessionStorage.length") == 0
        assert token not in browser_page.url


def test_a_body_has_an_example_to_start_from(app_server: AppServer, browser_page: Page) -> None:
    with served(app_server) as address:
        browser_page.goto(f"{address}/docs")
        operation = opened(browser_page, "Webhooks", "webhooks_create")
        expect(operation.locator("textarea")).to_contain_text('"https://shop.example.org/gatehouse"')
        keep_screenshots(browser_page, "body")


def test_the_policy_allows_nothing_inline_and_nobody_else() -> None:
    """`browser_page` fails on every violation; that must not be because the policy allows it."""
    assert "unsafe" not in api_docs.POLICY and "http" not in api_docs.POLICY and "*" not in api_docs.POLICY
