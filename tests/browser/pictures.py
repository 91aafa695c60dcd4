"""Screenshots for the documentation and for people who look, kept if requested."""

from __future__ import annotations

import os

from playwright.sync_api import Page

from tests.browser.page_width import assert_fits_width

SCREENSHOTS = os.environ.get("GATEHOUSE_TEST_PICTURES")  # a folder: keep screenshots there
WIDTHS = ((390, "phone"), (1280, "desktop"))


def keep_screenshot(page: Page, name: str, *, whole: bool = False) -> None:
    """Keep a screenshot of what is to be seen, or of the whole page."""
    if SCREENSHOTS:
        page.screenshot(path=f"{SCREENSHOTS}/{name}.png", full_page=whole)


def keep_screenshots(page: Page, name: str) -> None:
    """Check that the page fits both widths, and keep a screenshot of each."""
    for width, kind in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert_fits_width(page, width)
        keep_screenshot(page, f"{name}-{kind}")
