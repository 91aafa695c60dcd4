"""Measures a page as it is drawn: what is cut off, what covers something else, and how small the letters are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_MEASURE = Path(__file__).with_name("measured.js").read_text("utf-8")


def measured(page: Page) -> dict[str, Any]:
    """What is wrong with the page as it is drawn now, and the sizes of its letters."""
    page.evaluate("document.fonts.ready.then(() => null)")  # letters of another font are of other widths
    found: dict[str, Any] = page.evaluate(_MEASURE)
    return found


def faults(page: Page, *, may_scroll: bool = False) -> dict[str, Any]:
    """Everything that is cut off, covered, too wide, too high, or smaller than 11 pixels; empty for a sound page."""
    found = measured(page)
    wrong = {name: found[name] for name in ("wide", "cut", "covers", "small") if found[name]}
    return wrong | ({"high": True} if found["high"] and not may_scroll else {})
