"""How a page must look: it fits a narrow phone by day and by night, and axe finds nothing."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshots
from tests.services.axe import violations


def look(page: Page, name: str, *, keep: bool = False) -> None:
    """It fits a narrow phone, by day and by night, and axe finds nothing."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size({"width": 320, "height": 800})
        assert_fits_width(page, 320)
        assert violations(page) == [], (name, scheme)
    if keep:
        keep_screenshots(page, name)
