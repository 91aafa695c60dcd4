"""The desk's page of badges in a real browser: seen, chosen, and on the page of an order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.admin_scenario import AdminScenario, an_evening
from tests.browser.pictures import keep_screenshots
from tests.browser.test_admin_pages import sign_in


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[AdminScenario]:
    with an_evening(tmp_path) as scenario:
        yield scenario


def see_all(page: Page, which: str) -> int:
    """Scroll to each of these pictures until it is there; how many there are."""
    pictures = page.locator(which).all()
    for picture in pictures:
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True, timeout=30_000)
        assert picture.evaluate("image => image.naturalWidth") > 300
    return len(pictures)


def test_an_organiser_sees_a_badge_before_choosing_it(browser_page: Page, scenario: AdminScenario) -> None:
    sign_in(browser_page, scenario)
    expect(browser_page.locator(".side, .places").first).to_be_visible()
    for name in ("Weekend pass", "Crew"):
        browser_page.goto(f"{scenario.event_page}/types/new")
        for field, value in (("name", name), ("price", "25.00"), ("quantity", "100")):
            browser_page.locator(f"[name={field}]").fill(value)
        browser_page.locator("main form .button.strong").first.click()
        expect(browser_page).to_have_url(f"{scenario.event_page}/types")
    browser_page.goto(f"{scenario.event_page}/door")
    browser_page.get_by_role("link", name="Badges and wristbands").click()
    expect(browser_page.get_by_role("heading", name="Badges and wristbands")).to_be_visible()
    assert see_all(browser_page, ".badge-layout img") == 5
    browser_page.locator("summary", has_text="A layout of your own").click()
    browser_page.get_by_label("The layout, as text").fill("width_mm = 5")
    browser_page.get_by_role("radio", name="A layout of your own").check()
    browser_page.get_by_role("button", name="Only show it").click()
    expect(browser_page.get_by_role("alert")).to_contain_text("width_mm must be 10 to 420")
    browser_page.goto(f"{scenario.event_page}/badges")
    with browser_page.expect_navigation():  # the page that comes looks the same
        browser_page.get_by_role("button", name="Use it from now on").click()
    browser_page.get_by_role("checkbox", name="Weekend pass").uncheck()
    browser_page.get_by_role("radio", name="Wristband").check()
    browser_page.get_by_role("button", name="Use it from now on").click()
    expect(browser_page.get_by_role("status")).to_contain_text("Saved")
    printed = browser_page.locator(".badge-types li")
    expect(printed.filter(has_text="Weekend pass")).to_contain_text("Badge, 86")
    expect(printed.filter(has_text="Crew")).to_contain_text("Wristband")
    browser_page.set_viewport_size({"width": 390, "height": 800})
    see_all(browser_page, "main img")
    browser_page.evaluate("scrollTo(0, 0)")
    keep_screenshots(browser_page, "admin-badges")
