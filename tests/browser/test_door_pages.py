"""The pages of the door in a real browser: who is inside, which gate needs whom, the wall, scans and conflicts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.admin_scenario import EMAIL, AdminScenario
from tests.browser.door_scenario import a_busy_door
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot, keep_screenshots
from tests.served_app import listening
from tests.services.axe import violations
from tests.staff import PASSWORD

EVERY_MS = 6_000
"""More than the wall waits between two looks."""
_FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
_DIGITS = """() => {
  const style = getComputedStyle(document.querySelector("#wall .inside"));
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  return pen.measureText("0").actualBoundingBoxAscent;
}"""


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
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        for width in (390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            assert_fits_width(page, width)
        page.evaluate(_FRAME)  # colours of the other scheme are still on their way
        assert violations(page) == [], (name, scheme)
    keep_screenshots(page, name)


def test_the_door_says_who_is_inside_and_which_gate_needs_somebody(page: Page, evening: AdminScenario) -> None:
    page.goto(f"{evening.event_page}/door")
    expect(page.locator("[data-number=inside]").first).to_have_text("207")
    expect(page.locator("[data-bounds]")).to_have_text(re.compile(r"between 207\s+and\s+380"))
    needs = page.locator(".decision")
    expect(needs.first).to_contain_text("3 conflicts between scans wait for your decision")
    expect(needs.nth(1)).to_contain_text("Gate G2 has been silent since 18:07")
    expect(page.locator(".gate.silent")).to_contain_text("Quay side")
    look(page, "admin-door")


def test_the_door_follows_the_gates_while_somebody_looks(page: Page, evening: AdminScenario) -> None:
    page.goto(f"{evening.event_page}/door")
    inside = page.locator("[data-number=inside]").first
    before = int(inside.inner_text())
    evening.west.admit(34)
    evening.west.upload()
    expect(inside).to_have_text(str(before + 1))


def test_the_curve_of_entries_stands_on_the_page_of_the_event_too(page: Page, evening: AdminScenario) -> None:
    for address in (f"{evening.event_page}/door", evening.event_page):
        page.goto(address)
        drawn = page.locator("#entry time-chart")
        expect(drawn.locator("canvas")).to_be_visible()
        expect(page.locator("#entry .chart-legend li").first).to_have_text(re.compile(r"^Came in [1-9]\d*$"))


def test_scans_are_found_and_come_by_themselves(page: Page, evening: AdminScenario) -> None:
    page.goto(f"{evening.event_page}/scans")
    look(page, "admin-scans")
    page.get_by_role("link", name="Refused").click()
    refused = page.locator(".line")
    expect(refused).to_have_count(9)
    evening.west.refuse(35, "wrong_gate")
    evening.west.upload()
    expect(refused).to_have_count(10)
    page.get_by_text("More filters").click()
    page.get_by_label("Gate", exact=True).select_option("3")
    page.get_by_label("Reason").select_option("already_used")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(refused.first).to_contain_text("already used")
    expect(page.get_by_text(re.compile(r"^\d+ scans"))).to_be_visible()


def test_a_gate_in_trouble_is_marked_among_all_devices(page: Page, evening: AdminScenario) -> None:
    page.goto(f"{evening.address}/admin/devices")
    page.get_by_role("link", name="West door, lane 1").click()
    expect(page.get_by_role("heading", name="Machine")).to_be_visible()
    expect(page.get_by_text("camera: The picture is black.")).to_be_visible()
    look(page, "admin-device")
    page.goto(f"{evening.address}/admin/devices")
    expect(page.get_by_role("listitem").filter(has_text="West door, lane 1")).to_contain_text("Battery low")


class TestWall:
    """For a screen that hangs where nobody can reach it."""

    @pytest.fixture
    def link(self, page: Page, evening: AdminScenario) -> str:
        """The path of a link that the chief has made."""
        page.goto(f"{evening.event_page}/screens")
        page.get_by_label("Where the screen hangs").fill("Control room")
        page.get_by_role("button", name="Make a link").click()
        path = page.locator("code.block").inner_text()
        return path[path.index("/admin/wall#") :]

    def test_it_is_read_from_across_the_room(self, page: Page, evening: AdminScenario, link: str) -> None:
        page.context.clear_cookies()
        page.goto(evening.address + link)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.evaluate("document.fonts.ready")
        assert page.evaluate(_DIGITS) >= 0.2 * 900
        assert page.evaluate("document.documentElement.scrollHeight") <= 900
        expect(page.locator(".columns .silent")).to_contain_text("last heard 18:07")
        assert violations(page) == []
        keep_screenshots(page, "admin-wall")

    def test_it_says_when_it_has_no_news_and_goes_on_when_the_server_is_back(
        self, page: Page, evening: AdminScenario, link: str
    ) -> None:
        with listening(evening.world.app) as port:
            page.clock.install()
            page.goto(f"http://127.0.0.1:{port}{link}")
            inside = page.locator("#wall .inside")
            before = int(inside.inner_text())
            expect(page.locator("[data-stale]")).to_be_hidden()
        page.clock.run_for(EVERY_MS)
        expect(page.locator("[data-stale]")).to_contain_text("No news since 18:")
        expect(inside).to_have_text(str(before))  # what was known stays readable
        keep_screenshot(page, "admin-wall-no-news")
        evening.west.admit(36)
        evening.west.upload()
        with listening(evening.world.app, port):
            page.clock.run_for(EVERY_MS)
            expect(inside).to_have_text(str(before + 1))
            expect(page.locator("[data-stale]")).to_be_hidden()

    def test_an_ended_link_shows_nothing_any_more(self, page: Page, evening: AdminScenario, link: str) -> None:
        page.goto(f"{evening.event_page}/screens")
        look(page, "admin-screens")
        ends = page.get_by_role("button", name="End it")
        for left in reversed(range(ends.count())):
            ends.first.click()
            expect(ends).to_have_count(left)
        expect(page.get_by_role("heading", name="No screens yet")).to_be_visible()
        page.goto(evening.address + link)
        expect(page.get_by_text("Somebody has ended this link")).to_be_visible()
