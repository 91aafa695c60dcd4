"""The steps of an event's life in a real browser: each page says whom it touches and what they are told first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looks import look
from tests.browser.selling_season import Season, a_season
from tests.builders import DAY

ORDERS = 33
"""Of this month's concert, of two tickets each."""


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Season]:
    folder: Path = tmp_path_factory.mktemp("season")
    with a_season(f"sqlite:///{folder / 'season.db'}", folder) as season:
        yield season


@pytest.fixture
def page(browser_page: Page, season: Season) -> Page:
    """Signed in."""
    season.sign_in(browser_page)
    return browser_page


def moment(season: Season, days: int) -> str:
    """A time so many days from now, as a field takes it."""
    return f"{datetime.fromtimestamp((season.server.now + days * DAY) / 1000, UTC):%Y-%m-%dT%H:%M}"


def figures(page: Page) -> dict[str, str]:
    """The figures of the page, by what they count."""
    found = page.locator(".figure")
    return {one.locator("span").inner_text(): one.locator("b").inner_text() for one in found.all()}


@pytest.mark.parametrize("target", ["postponed", "cancelled", "live"])
def test_every_step_says_whom_it_touches(page: Page, season: Season, target: str) -> None:
    page.goto(season.page_of())
    station = page.locator(f".life a[href$='target={target}']")
    station.click()
    counted = figures(page)
    assert (counted["tickets issued"], counted["paid orders"]) == (str(2 * ORDERS), str(ORDERS))
    expect(page.locator("#told + ul li")).to_have_count(3)
    look(page, f"desk-step-{target}")


def test_publishing_lists_what_is_missing(page: Page, season: Season) -> None:
    start = season.server.now + 40 * DAY
    draft = season.api.post(
        "/api/events",
        {"venue_id": season.venue["id"], "name": "Late Show", "start_at": start, "end_at": start + DAY // 8},
    )
    page.goto(f"{season.address}/admin/events/{draft['id']}/status?target=published")
    missing = page.locator(".checks li:not(.good)")
    expect(missing.filter(has_text="There is no ticket type yet")).to_be_visible()
    expect(page.locator(".checks li")).to_have_count(6)  # how buyers pay is asked once something has a price
    look(page, "desk-step-published", keep=True)
    expect(missing.filter(has_text="Visitors find nothing")).to_contain_text("Needed")
    expect(page.get_by_role("button", name="Publish it")).to_have_count(0)
    missing.get_by_role("link", name="Write one").click()
    expect(page).to_have_url(f"{season.address}/admin/events/{draft['id']}/edit")
    season.api.patch(f"/api/events/{draft['id']}", {"description": "Strings after midnight."})
    page.goto(f"{season.address}/admin/events/{draft['id']}/status?target=published")
    page.get_by_role("button", name="Publish it").click()
    expect(page.locator(".life .now")).to_have_text("Published")


def test_an_event_that_is_postponed_gets_its_new_date(page: Page, season: Season) -> None:
    event = season.another("Moved Concert")
    sale = {"places": [{"ticket_type": 1, "count": 2}], "method": "cash", "buyer": {"name": "Ada Winter"}}
    season.api.post(f"/api/events/{event}/sales", sale)
    page.goto(f"{season.address}/admin/events/{event}/status?target=postponed")
    page.get_by_role("button", name="Postpone the event").click()
    expect(page.get_by_text("There is no new date yet")).to_be_visible()
    page.get_by_role("link", name="Give it a new date").click()
    page.get_by_label("New date and time").fill("2020-01-01T20:00")
    page.get_by_role("button", name="Set the new date").click()
    expect(page.get_by_role("alert")).to_contain_text("the new date is in the past")
    page.get_by_label("New date and time").fill(moment(season, 60))
    page.get_by_role("button", name="Set the new date").click()
    expect(page.get_by_text("The new date is")).to_be_visible()
    assert season.api.get(f"/api/events/{event}")["rescheduled_at"] is not None


def test_buyers_may_be_asked_whether_they_keep_their_tickets(page: Page, season: Season) -> None:
    event = season.another("Asked Concert")
    sale = {"places": [{"ticket_type": 1, "count": 2}], "method": "cash", "buyer": {"name": "Ada Winter"}}
    season.api.post(f"/api/events/{event}/sales", sale)
    page.goto(f"{season.address}/admin/events/{event}/status?target=cancelled")
    page.get_by_role("link", name="Another date").click()
    assert figures(page)["paid orders"] == "1"
    look(page, "desk-new-date", keep=True)
    page.get_by_label("New date and time").fill(moment(season, 60))
    page.get_by_text("They choose: keep the tickets, or money back").click()
    page.get_by_label("They choose until").fill(moment(season, 30))
    page.get_by_role("button", name="Set the new date").click()
    expect(page.locator(".life .now")).to_contain_text("Postponed")
    called_off = season.api.get(f"/api/events/{event}/cancellation")
    assert (called_off["choice"], called_off["orders"]) == ("another_date", 1)
