"""The gate's screen in a real browser: what people at the door see, at kiosk and phone width."""

import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from gate_app.screen.feed import Feed
from gate_app.screen.server import ScreenServer
from tests.browser.gate_scenes import (
    SCENES,
    Scene,
    a_scan,
    a_status,
    admitted,
    again,
    already_used,
    broken,
    denied,
    not_ready,
    offline,
    rehearsing,
)

KIOSK, PHONE = (1280, 800), (390, 844)


@pytest.fixture
def feed() -> Feed:
    return Feed(time.monotonic_ns)


@pytest.fixture
def server(feed: Feed) -> Iterator[ScreenServer]:
    opened = ScreenServer(feed, port=0).open()
    yield opened
    opened.close()


@pytest.fixture
def screen(browser_page: Page, server: ScreenServer) -> Page:
    browser_page.clock.install()
    browser_page.goto(server.address)
    expect(browser_page.locator("#admitted")).to_have_text("0")
    return browser_page


def tone(page: Page) -> str:
    return str(page.locator("body").get_attribute("data-tone"))


def see(page: Page, words: str) -> None:
    expect(page.get_by_text(words, exact=False).first).to_be_visible()


def test_a_gate_that_waits_says_what_to_do(screen: Page, feed: Feed) -> None:
    feed.status(a_status())
    see(screen, "Hold the ticket's code in front of the reader")
    see(screen, "Gate A")
    expect(screen.locator("#link-words")).to_have_text("Online")


def test_an_admitted_guest_is_sent_to_the_seat_and_staff_see_what_to_check(screen: Page, feed: Feed) -> None:
    admitted(feed)
    expect(screen.locator("h1")).to_have_text("COME IN")
    for words in ("Row C · Seat 14", "Wheelchair: step-free way", "Check: photo ID, 18 or over"):
        see(screen, words)
    expect(screen.locator(".for-admit")).to_be_visible()
    expect(screen.locator(".for-deny")).to_be_hidden()
    expect(screen.locator("#recent li")).to_have_count(10)


def test_a_refused_guest_is_told_why_and_the_shape_says_it_too(screen: Page, feed: Feed) -> None:
    denied(feed)
    expect(screen.locator("h1")).to_have_text("STOP")
    see(screen, "Already used")
    see(screen, "Came in at 19:12:44 through gate B")
    expect(screen.locator(".for-deny")).to_be_visible()
    expect(screen.locator(".for-admit")).to_be_hidden()


def test_a_repeat_says_again_and_nobody_else_comes_in(screen: Page, feed: Feed) -> None:
    again(feed)
    see(screen, "Again: the same ticket as a moment ago")
    feed.show(a_scan())
    expect(screen.locator("#again")).to_be_hidden()


def test_test_mode_cannot_be_taken_for_the_evening(screen: Page, feed: Feed) -> None:
    rehearsing(feed)
    see(screen, "TEST MODE")
    expect(screen.locator("h1")).to_have_text("TEST OK")
    feed.show(already_used(mode="test"))
    expect(screen.locator("#test-word")).to_be_visible()


def test_without_a_network_the_screen_says_so_and_goes_on(screen: Page, feed: Feed) -> None:
    offline(feed)
    for words in ("Offline, still scanning", "The last beep was not played", "COME IN"):
        see(screen, words)
    expect(screen.locator("#unsent")).to_have_text("214")
    expect(screen.locator("#snapshot")).to_have_text("1.5 h")


def test_a_broken_gate_does_not_blame_the_guest(screen: Page, feed: Feed) -> None:
    broken(feed)
    expect(screen.locator("h1")).to_have_text("GATE FAULT")
    see(screen, "The disk is full")


def test_a_gate_that_is_not_ready_invites_nobody(screen: Page, feed: Feed) -> None:
    not_ready(feed)
    expect(screen.locator("h1")).to_have_text("Not ready")
    see(screen, "This gate is not enrolled yet")
    feed.status(a_status())
    expect(screen.locator("h1")).to_have_text("Ready")


def test_a_verdict_leaves_the_screen_before_the_next_guest_can_borrow_it(screen: Page, feed: Feed) -> None:
    feed.show(a_scan())
    expect(screen.locator("h1")).to_have_text("COME IN")
    screen.clock.fast_forward(8_100)
    expect(screen.locator("h1")).to_have_text("Ready")
    expect(screen.locator("#seat")).to_be_hidden()


def test_a_screen_without_its_gate_shows_no_verdict(screen: Page, feed: Feed, server: ScreenServer) -> None:
    feed.show(a_scan())
    expect(screen.locator("h1")).to_have_text("COME IN")
    server.close()
    screen.wait_for_timeout(300)
    screen.clock.fast_forward(8_100)
    see(screen, "This screen has lost the gate")
    assert tone(screen) == "lost"


def test_a_gate_that_was_started_again_is_found_again(browser_page: Page, feed: Feed) -> None:
    first = ScreenServer(feed, port=0).open()
    browser_page.goto(first.address)
    expect(browser_page.locator("#admitted")).to_have_text("0")
    port = first.port
    first.close()
    second = ScreenServer(Feed(time.monotonic_ns, admitted=7), port=port).open()
    expect(browser_page.locator("#admitted")).to_have_text("7")
    second.close()


def test_a_code_that_is_hard_to_read_asks_the_guest_to_hold_still(screen: Page, feed: Feed) -> None:
    feed.glimpse()
    see(screen, "Hold still")
    screen.clock.fast_forward(2_000)
    expect(screen.locator("#hold-still")).to_be_hidden()


def test_words_from_a_ticket_are_shown_as_words(screen: Page, feed: Feed) -> None:
    feed.show(a_scan(message="<img src=x onerror=alert(1)>", notices=["check:<b>bag</b>"]))
    see(screen, "<img src=x onerror=alert(1)>")
    see(screen, "Check: <b>bag</b>")
    expect(screen.locator("main img")).to_have_count(0)


@pytest.mark.parametrize("size", [KIOSK, PHONE, (800, 480), (1920, 1080)], ids=str)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_everything_fits(
    browser_page: Page, feed: Feed, server: ScreenServer, scene: Scene, size: tuple[int, int]
) -> None:
    browser_page.set_viewport_size({"width": size[0], "height": size[1]})
    scene.bring_about(feed)
    browser_page.goto(server.address)
    expect(browser_page.locator("#gate")).to_have_text("Gate A")
    assert browser_page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert cut_off(browser_page) == []


def cut_off(page: Page) -> list[str]:
    """The words of a verdict that lie outside its panel, or behind the edge at the bottom."""
    found = page.evaluate(
        """() => {
            const panel = document.querySelector(".verdict").getBoundingClientRect();
            const parts = [...document.querySelectorAll(".verdict h1, .verdict p, .verdict li, .verdict svg")];
            const outside = (box) => box.left < panel.left - 1 || box.right > panel.right + 1
                || box.top < panel.top - 1 || box.bottom > panel.bottom + 1;
            const spills = (part) => part instanceof HTMLElement && part.scrollWidth > part.clientWidth + 1;
            return parts.filter((part) => part.getClientRects().length)
                .filter((part) => spills(part) || outside(part.getBoundingClientRect()))
                .map((part) => part.textContent || part.tagName);
        }"""
    )
    return list(found)


@pytest.mark.parametrize("bring_about", [admitted, denied, rehearsing, broken], ids=lambda scene: scene.__name__)
def test_every_verdict_can_be_read_without_colours(
    screen: Page, feed: Feed, bring_about: Callable[[Feed], None]
) -> None:
    """Contrast of words against their ground, as WCAG reckons it: 7 to 1 or better."""
    bring_about(feed)
    expect(screen.locator("body")).not_to_have_attribute("data-tone", "wait")
    assert contrast(*colours(screen, ".verdict")) >= 7


def colours(page: Page, selector: str) -> tuple[list[float], list[float]]:
    ink, ground = page.locator(selector).evaluate(
        "node => ['color', 'backgroundColor'].map(name => getComputedStyle(node)[name].match(/[\\d.]+/g).map(Number))"
    )
    return ink, ground


def contrast(ink: list[float], ground: list[float]) -> float:
    light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[float]) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in [c / 255 for c in colour[:3]]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_come_in_and_stop_differ_in_brightness_and_not_only_in_hue(screen: Page, feed: Feed) -> None:
    grounds = []
    for bring_about, words in ((admitted, "COME IN"), (denied, "STOP")):
        bring_about(feed)
        expect(screen.locator("h1")).to_have_text(words)
        grounds.append(colours(screen, ".verdict")[1])
    assert contrast(*grounds) >= 3
