"""Screenshots for the documentation and for people who look, kept if requested."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path

from PIL import Image
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


def keep_page(page: Page, part: str, address: str) -> None:
    """Keep small pictures of a page of the desk or the shop, at both widths, with its title beside them."""
    if not SCREENSHOTS:
        return
    folder = Path(SCREENSHOTS) / "pages"
    folder.mkdir(exist_ok=True)
    name = f"{part}-{re.sub(r'[^a-z]+', '-', re.sub(r'<(?:int:)?|(?:_id)?>|^/admin', '', address)).strip('-')}"
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    for width, kind in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert_fits_width(page, width)
        shot = Image.open(io.BytesIO(page.screenshot()))
        shot.convert("RGB").save(folder / f"{name}-{kind}.webp", quality=80, method=6)
    (folder / f"{name}.json").write_text(json.dumps({"address": address, "title": page.title()}) + "\n", "utf-8")
