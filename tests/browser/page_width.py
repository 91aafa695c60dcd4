"""Checks that a page fits the width of a screen."""

from __future__ import annotations

from playwright.sync_api import Page


def assert_fits_width(page: Page, width: int) -> None:
    """Wait until the page has this width without horizontal scrolling."""
    page.wait_for_function("width => innerWidth === width && document.documentElement.scrollWidth === width", arg=width)
