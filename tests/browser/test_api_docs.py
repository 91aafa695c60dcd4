"""The page of the API: people read it, enter a token and try a request, under a policy without inline code."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from sync_server.plumbing.api import api_docs
from tests.app_server import AppServer, a_concert
from tests.browser.pictures import keep_screenshots
from tests.served_app import served


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
        keep_screenshots(browser_page, "api-start")
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
        keep_screenshots(browser_page, "api-answer")
        assert browser_page.evaluate("localStorage.length + sessionStorage.length") == 0
        assert token not in browser_page.url


def test_a_body_has_an_example_to_start_from(app_server: AppServer, browser_page: Page) -> None:
    with served(app_server) as address:
        browser_page.goto(f"{address}/docs")
        operation = opened(browser_page, "Webhooks", "webhooks_create")
        expect(operation.locator("textarea")).to_contain_text('"https://shop.example.org/gatehouse"')
        keep_screenshots(browser_page, "api-body")


def test_the_policy_allows_nothing_inline_and_nobody_else() -> None:
    """`browser_page` fails on every violation; that must not be because the policy allows it."""
    assert "unsafe" not in api_docs.POLICY and "http" not in api_docs.POLICY and "*" not in api_docs.POLICY
