"""Whether a page fits a screen, once the browser has laid it out for that screen."""

from __future__ import annotations

from playwright.sync_api import Page


def fits(page: Page, width: int) -> None:
    """No part of the page lies beyond the edge; a screen that has just turned is laid out a moment later."""
    page.wait_for_function("width => innerWidth === width && document.documentElement.scrollWidth === width", arg=width)
