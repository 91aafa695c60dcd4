"""The pages on which an organiser sells, in a real browser: curves, codes, the queue, the waiting list, orders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.browser.selling_season import Season, a_season
from tests.services import axe

WIDTHS = (320, 390, 1440)


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Season]:
    """The running season; what one story changes the others do not read."""
    folder = tmp_path_factory.mktemp("season")
    with a_season(f"sqlite:///{folder / 'season.db'}", Path(folder)) as season:
        yield season


@pytest.fixture
def page(browser_page: Page, season: Season) -> Page:
    """A browser that is signed in."""
    season.sign_in(browser_page)
    return browser_page


def looked_at(page: Page, name: str) -> None:
    """The page fits every width, and axe finds nothing, in the dark either; keep a picture at both sizes."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844 if width < 1000 else 900})
        assert_fits_width(page, width)
        if width == WIDTHS[1]:
            assert axe.violations(page) == []
            page.emulate_media(color_scheme="dark")
            assert axe.violations(page) == []
            keep_screenshot(page, f"desk-{name}-dark")
            page.emulate_media(color_scheme="light")
        if width != WIDTHS[0]:
            keep_screenshot(page, f"desk-{name}-{'phone' if width < 1000 else 'desktop'}", whole=width > 1000)


def test_the_curve_stands_beside_the_last_concert(page: Page, season: Season) -> None:
    page.goto(season.page_of("/sales"))
    legend = page.locator(".chart-legend li")
    expect(page.locator("time-chart canvas")).to_be_visible()
    expect(legend.first).to_have_text("This event 66")
    expect(legend.nth(1)).to_contain_text("Night Music 6")
    expect(page.get_by_role("row").filter(has_text="66").first).to_be_visible()
    page.locator("time-chart .u-over").hover(position={"x": 3, "y": 60})
    expect(legend.first.locator("output")).to_have_text("0")
    looked_at(page, "sales")
    page.goto(season.page_of())
    expect(page.locator("time-chart canvas")).to_be_visible()
