"""The pages of the door in a real browser: who is inside, which gate needs whom, the wall, scans and conflicts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.admin_scenario import EMAIL, AdminScenario
from tests.browser.door_scenario import a_busy_door
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshots
from tests.services.axe import violations
from tests.staff import PASSWORD


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdminScenario]:
    with a_busy_door(tmp_path_factory.mktemp("door")) as evening:
        yield evening


@pytest.fixture
def page(browser_page: Page, evening: AdminScenario) -> Page:
    """Signed in."""
    browser_page.goto(f"{evening.address}/admin/")
    browser_page.get_by_label("E-mail address").fill(EMAIL)
    browser_page.get_by_label("Password").fill(PASSWORD)
    browser_page.get_by_role("button", name="Sign in", exact=True).click()
    expect(browser_page.get_by_role("heading", level=1)).to_be_visible()
    return browser_page


def look(page: Page, name: str) -> None:
    """The page fits every screen, by day and by night, and axe finds nothing; it is kept as a picture."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert_fits_width(page, 320)
    keep_screenshots(page, name)


def test_the_door_says_who_is_inside_and_which_gate_needs_somebody(page: Page, evening: AdminScenario) -> None:
    page.goto(f"{evening.event_page}/door")
    look(page, "admin-door")
    expect(page.get_by_text("Gate G2")).to_be_visible()
