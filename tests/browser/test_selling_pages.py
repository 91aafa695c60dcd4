"""The pages on which an organiser sells, in a real browser: curves, codes, the queue, the waiting list, orders."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final, Literal

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.browser.selling_season import Season, a_season
from tests.services import axe

WIDTHS = (320, 390, 1440)
SETTLED = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  .then(() => Promise.allSettled(document.getAnimations().map((each) => each.finished)))"""
SCHEMES: Final[tuple[Literal["dark", "light"], ...]] = ("dark", "light")


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


def looked_at(page: Page, name: str = "") -> None:
    """The page fits every width, and axe finds nothing, in the dark either; keep a picture of it, if it has a name."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844 if width < 1000 else 900})
        assert_fits_width(page, width)
        if name and width != WIDTHS[0]:
            keep_screenshot(page, f"desk-{name}-{'phone' if width < 1000 else 'desktop'}", whole=width > 1000)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.evaluate(SETTLED)
        assert axe.violations(page) == []


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
    expect(page.locator("[hx-get*='/admin/alerts'] #found")).to_be_attached()
    expect(page).to_have_title("Night Music 7 · Marquee")  # what is fetched into a page does not rename it


def test_codes_are_made_used_and_revoked(page: Page, season: Season) -> None:
    page.goto(season.page_of("/codes"))
    page.get_by_role("link", name="New discount").click()
    page.get_by_role("button", name="Make the codes").click()
    expect(page.get_by_role("alert")).to_be_visible()
    looked_at(page)
    page.get_by_label("For whom?").fill("Newsletter")
    page.get_by_label("How much less").fill("15")
    page.get_by_label("Regular").check()
    page.get_by_label("How many codes").fill("40")
    page.get_by_role("button", name="Make the codes").click()
    expect(page.get_by_text("15% off each ticket of Regular.")).to_be_visible()
    looked_at(page, "code-batch")
    code = page.locator(".code-list code").first.inner_text()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert download.value.path().read_text().splitlines()[:2] == ["code", code]
    season.buys_with(code)
    page.goto(season.page_of("/codes"))
    expect(page.get_by_role("row").filter(has_text="Newsletter")).to_contain_text("1 of 40")
    looked_at(page, "codes")
    page.get_by_role("link", name="Newsletter").click()
    page.get_by_role("link", name="Revoke").click()
    expect(page.get_by_text("uses that are lost")).to_be_visible()
    looked_at(page)
    page.get_by_role("button", name="Revoke 40 codes").click()
    expect(page.get_by_role("row").filter(has_text="Newsletter")).to_contain_text("Revoked")


def test_a_queue_is_given_looked_into_paused_and_goes_on(page: Page, season: Season) -> None:
    event = season.another("Queue Night")
    page.goto(f"{season.address}/admin/events/{event}/queue")
    expect(page.get_by_role("heading", name="No queue")).to_be_visible()
    looked_at(page)
    page.get_by_label("How many choose and pay at once").fill("2")
    page.get_by_role("button", name="Give the event a queue").click()
    season.queues(event, 5)
    page.reload()
    figures = page.locator("#inside .figure b")
    expect(figures.first).to_have_text("3")
    expect(figures.nth(1)).to_have_text("2")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status")).to_contain_text("Paused")
    page.get_by_label("How many choose and pay at once").fill("3")
    page.get_by_role("button", name="Save").click()
    season.server.run_worker()
    page.reload()
    expect(figures.nth(1)).to_have_text("2")  # nobody came in although there is room
    looked_at(page, "queue")
    page.get_by_role("button", name="Go on").click()
    expect(figures.nth(1)).to_have_text("3")
    page.get_by_role("link", name="Take the queue away").click()
    expect(page.get_by_role("button", name="Take it away from 2 guests who wait")).to_be_visible()
    looked_at(page)


def test_a_party_gets_an_offer_before_its_turn_and_another_is_taken_off(page: Page, season: Season) -> None:
    here = f"{season.address}/admin/events/{season.sold_out['id']}"
    page.goto(f"{here}/waiting-list")
    page.get_by_role("button", name="Open the list").click()
    season.waits(4, 2, 3)
    page.goto(f"{here}/waiting-list")
    row = page.get_by_role("row").filter(has_text="party1@example.org")
    row.get_by_role("link", name="Offer now").click()
    page.get_by_role("button", name="Offer it, and pass 1 party over").click()
    expect(page.get_by_role("alert")).to_contain_text("does not fit")
    season.api.patch(f"/api/events/{season.sold_out['id']}/ticket-types/1", {"quantity": 8})
    page.get_by_role("button", name="Offer it, and pass 1 party over").click()
    expect(row).to_contain_text("Offer until")
    expect(page.get_by_role("row").filter(has_text="party0@example.org")).to_contain_text("passed over once")
    expect(page.get_by_text("1: passed over by hand")).to_be_visible()
    looked_at(page, "waiting-list")
    page.get_by_role("row").filter(has_text="party2@example.org").get_by_role("link", name="Take off").click()
    looked_at(page)
    page.get_by_role("button", name="Take 3 people off the list").click()
    expect(page.get_by_text("party2@example.org")).to_have_count(0)


def test_an_event_gets_a_picture_and_a_series_that_the_calendar_shows(page: Page, season: Season) -> None:
    event = season.another("Matinee")
    page.goto(f"{season.address}/admin/events/{event}/covers")
    expect(page.get_by_text("no picture of its own")).to_be_visible()
    page.get_by_label("Picture").set_input_files({"name": "hall.png", "mimeType": "image/png", "buffer": a_picture()})
    expect(page.locator("#preview")).to_be_visible()
    page.get_by_label("What it shows").fill("The hall in red")
    page.get_by_role("button", name="Add the picture").click()
    expect(page.get_by_role("img", name="The hall in red")).to_be_visible()
    looked_at(page, "covers")
    page.goto(f"{season.address}/admin/events/{event}/copy")
    page.get_by_label("Sat").check()
    page.get_by_label("How often").fill("2")
    expect(page.get_by_role("heading", name="The series adds 2 drafts")).to_be_visible()
    looked_at(page)
    page.get_by_role("button", name="Make all drafts").click()
    expect(page.get_by_role("status")).to_contain_text("2 drafts of the series are made")
    expect(page.get_by_role("link", name="Matinee")).to_have_count(2)
    page.get_by_role("link", name="Calendar").click()
    expect(page.get_by_role("link", name="Night Music 7")).to_be_visible()
    looked_at(page, "calendar")
    page.get_by_role("link", name="August 2026").click()
    expect(page.get_by_role("link", name="Matinee")).to_have_count(3)


def a_picture() -> bytes:
    """A red picture, as a camera might write it."""
    drawn = BytesIO()
    Image.new("RGB", (1600, 900), (150, 20, 40)).save(drawn, "PNG")
    return drawn.getvalue()
