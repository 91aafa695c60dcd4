"""Every mode of the gate's screen, measured in a real browser at four sizes and in four languages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from gate_app.screen.feed import Feed
from gate_app.screen.server import ScreenServer
from hardware.ports import Hint
from shared.words.wording import LANGUAGES
from tests.browser.gate_scenes import SCENES, a_scan, a_status, already_used, earlier_guests
from tests.browser.gate_verdicts import longest_verdicts
from tests.browser.measured import faults, measured

SIZES = {(480, 320): 17, (800, 480): 28, (390, 844): 20, (1920, 1080): 32}
"""The sizes of screens at doors, and how large the message is at least on them."""
FAMILIES = {
    "the gate": ("gate_not_ready", "cannot_record"),
    "the code": ("unreadable", "unknown_key", "bad_signature", "stale_proof", "wrong_organisation", "wrong_event"),
    "the event": ("event_not_live", "event_postponed", "event_cancelled", "event_ended"),
    "the place": ("gate_closed", "wrong_gate", "zone_full", "gate_full"),
    "the ticket": ("ticket_replaced", "ticket_cancelled", "ticket_unpaid", "not_in_snapshot"),
    "the time": ("not_valid_yet", "no_longer_valid", "not_valid_today", "membership_expired"),
    "used": ("already_used", "daily_limit_reached", "already_inside", "not_inside"),
}
"""The families of refusals; of each the one with the longest message is shown."""


def drawn(page: Page, feed: Feed) -> None:
    """Waits until the page has drawn what the feed shows now."""
    page.wait_for_function("wanted => drawnNumber >= wanted", arg=feed.view().number)


def longest_of(reasons: tuple[str, ...]) -> str:
    """The reason of a family that needs most room."""
    return max(reasons, key=lambda reason: len(longest_verdicts()[reason].message))


def refused(feed: Feed, reason: str) -> None:
    """A refusal with everything that a screen can show of it."""
    verdict = longest_verdicts()[reason]
    past = [{"at": "2026-07-04T17:12:44Z", "gate": "B", "direction": "entry"}]
    feed.status(a_status())
    feed.show(a_scan(verdict="deny", reason=reason, message=verdict.message, history=past))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_mode_fits_and_its_message_is_legible(
    browser_page: Page, feed: Feed, server: ScreenServer, size: tuple[int, int], language: str
) -> None:
    page, wrong = browser_page, {}
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{server.address}?lang={language}")
    shown = {scene.name: scene.show for scene in SCENES}
    shown |= {
        f"refused for {family}": lambda feed, family=family: refused(feed, longest_of(FAMILIES[family]))
        for family in FAMILIES
    }
    for name, show in shown.items():
        show(feed)
        drawn(page, feed)
        found = faults(page)
        message = measured(page)["message"]
        if message is not None and message < SIZES[size]:
            found["message"] = message
        if found:
            wrong[name] = found
        feed.fault("sound", None)
    assert wrong == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_is_legible_on_the_usual_kiosk(
    browser_page: Page, feed: Feed, server: ScreenServer, language: str
) -> None:
    """All reasons, at 800 x 480, where 28 pixels are what can be read in passing."""
    browser_page.emulate_media(reduced_motion="reduce")
    browser_page.set_viewport_size({"width": 800, "height": 480})
    browser_page.goto(f"{server.address}?lang={language}")
    sizes = {}
    for reason, verdict in longest_verdicts().items():
        admits = "admit" if verdict.admitted else "deny"
        feed.show(a_scan(verdict=admits, reason=reason, message=verdict.message, notices=list(verdict.notices)))
        drawn(browser_page, feed)
        found = measured(browser_page)
        sizes[reason] = (found["message"], found["cut"], found["covers"])
    assert {reason: each for reason, each in sizes.items() if each[0] < 28 or each[1] or each[2]} == {}
    assert len(sizes) > 30


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_without_contact_nothing_old_is_left_and_everything_fits(
    browser_page: Page, feed: Feed, server: ScreenServer, size: tuple[int, int]
) -> None:
    browser_page.set_viewport_size({"width": size[0], "height": size[1]})
    for language in LANGUAGES:
        earlier_guests(feed)
        browser_page.goto(f"{server.address}?lang={language}")
        drawn(browser_page, feed)
        browser_page.evaluate("listen = () => {}; stream.close(); showNoContact()")
        assert faults(browser_page) == {}, language
        for old in ("#seat", "#facts", "footer"):
            expect(browser_page.locator(old)).to_be_hidden()


def test_a_waiting_gate_says_what_it_knows_and_how_old_that_is(
    browser_page: Page, feed: Feed, server: ScreenServer
) -> None:
    feed.status(a_status(snapshot_age_s=12))
    browser_page.goto(server.address)
    for name, said in (("inside", "1482"), ("others", "12 seconds ago"), ("list", "12 seconds ago")):
        expect(browser_page.locator(f"#fact-{name}")).to_have_text(said)
    expect(browser_page.locator("#fact-network")).to_have_text("Online")
    expect(browser_page.locator("#zone")).to_have_text("Northern Lights Tour · Gate A")
    feed.status(a_status(online=False, snapshot_age_s=5_460))
    expect(browser_page.locator("#fact-list-cell.watch")).to_contain_text("91 minutes ago")
    expect(browser_page.locator("#fact-network-cell.watch")).to_contain_text("Offline")
    feed.show(a_scan())
    expect(browser_page.locator("#facts")).to_be_hidden()


def test_what_readers_of_screens_hear_is_the_verdict_and_not_the_seconds(
    browser_page: Page, feed: Feed, server: ScreenServer
) -> None:
    feed.status(a_status())
    browser_page.goto(server.address)
    expect(browser_page.locator("#verdict")).to_have_attribute("aria-live", "assertive")
    expect(browser_page.locator("#facts")).to_have_attribute("aria-live", "off")


class TestDayAndNight:
    """The look is chosen on the screen, by touch or by keys, and stays."""

    def test_it_changes_at_once_and_is_remembered(self, browser_page: Page, feed: Feed, server: ScreenServer) -> None:
        feed.status(a_status())
        browser_page.goto(server.address)
        look = browser_page.get_by_role("button", name="Day look")
        expect(look).to_have_attribute("aria-pressed", "false")
        night = ground(browser_page)
        look.focus()
        browser_page.keyboard.press("Enter")
        expect(look).to_have_attribute("aria-pressed", "true")
        assert ground(browser_page) == "rgb(255, 255, 255)" != night
        browser_page.reload()
        expect(look).to_have_attribute("aria-pressed", "true")
        assert ground(browser_page) == "rgb(255, 255, 255)"
        look.click()
        assert ground(browser_page) == night

    @pytest.mark.parametrize("look", ["day", "night"])
    def test_every_tone_has_enough_contrast_in_both(
        self, browser_page: Page, feed: Feed, server: ScreenServer, look: str
    ) -> None:
        browser_page.emulate_media(reduced_motion="reduce")
        browser_page.add_init_script(f"localStorage.setItem('gatehouse-look', '{look}')")
        browser_page.goto(server.address)
        grounds = {}
        for scene in SCENES:
            scene.show(feed)
            drawn(browser_page, feed)
            foreground, grounds[scene.name] = colours(browser_page)
            assert contrast(foreground, grounds[scene.name]) >= 7, scene.name
        assert contrast(grounds["admitted"], grounds["denied"]) >= 3
        # At night no surface is a lamp in the eyes of whoever stands in the dark: half as bright as white at most.
        assert look == "day" or max(map(luminance, grounds.values())) < 0.5


def test_a_telephone_shakes_differently_for_each_verdict_and_not_for_a_repeat(
    browser_page: Page, feed: Feed, server: ScreenServer
) -> None:
    browser_page.add_init_script("window.shakes = []; navigator.vibrate = (shake) => shakes.push(String(shake));")
    feed.status(a_status())
    browser_page.goto(server.address)
    drawn(browser_page, feed)
    shown = (a_scan(), a_scan(again=True), a_scan(notices=["check:photo ID"]), already_used(), a_scan(mode="test"))
    for scan in (*shown, a_scan(verdict="deny", reason="cannot_record")):
        feed.show(scan)
        drawn(browser_page, feed)
    shakes = browser_page.evaluate("shakes")
    assert len(shakes) == len(set(shakes)) == 5


def test_several_tickets_in_view_are_asked_for_one_at_a_time(
    browser_page: Page, feed: Feed, server: ScreenServer
) -> None:
    feed.status(a_status())
    browser_page.goto(server.address)
    drawn(browser_page, feed)
    feed.hint(Hint.ONE_AT_A_TIME)
    expect(browser_page.locator("#hint")).to_have_text("One ticket at a time, please")


def ground(page: Page) -> str:
    """The colour behind everything."""
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def colours(page: Page) -> tuple[list[float], list[float]]:
    """Text and background of the verdict."""
    foreground, background = page.locator(".verdict").evaluate(
        "node => ['color', 'backgroundColor'].map(name => getComputedStyle(node)[name].match(/[\\d.]+/g).map(Number))"
    )
    return foreground, background


def contrast(foreground: list[float], background: list[float]) -> float:
    """As WCAG defines it."""
    light, dark = sorted((luminance(foreground), luminance(background)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[float]) -> float:
    """As WCAG defines it, from 0 to 1."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in [c / 255 for c in colour[:3]]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
