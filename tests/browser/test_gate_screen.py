"""The gate's screen in a real browser, at kiosk and phone width."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gate_app.screen.feed import Feed
from gate_app.screen.live_pictures import LivePictures
from gate_app.screen.server import ScreenServer
from gate_app.words import TEXTS
from hardware.ports import Hint
from shared.words.wording import LANGUAGES, wording
from tests.browser.gate_camera import CameraAtTheDoor
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
    in_test_mode,
    not_ready,
    offline,
)

KIOSK, PHONE = (1280, 800), (390, 844)
PAGE = (Path(__file__).parents[2] / "docs" / "admission.md").read_text("utf-8")
MESSAGES = [
    line.strip("| ") for line in PAGE.split("## Every message")[1].split("\n## ")[0].splitlines() if "| `" in line
]


@pytest.fixture
def screen(browser_page: Page, server: ScreenServer) -> Page:
    browser_page.clock.install()
    browser_page.goto(server.address)
    expect(browser_page.locator("#admitted")).to_have_text("0")
    return browser_page


def expect_text(page: Page, text: str) -> None:
    expect(page.get_by_text(text, exact=False).first).to_be_visible()


def test_a_waiting_gate_says_what_to_do(screen: Page, feed: Feed) -> None:
    feed.status(a_status())
    expect_text(screen, "Hold the code up to the reader")
    expect_text(screen, "Gate A")
    expect(screen.locator("#link-words")).to_have_text("Online")


def test_an_admitted_guest_sees_the_seat_and_staff_see_what_to_check(screen: Page, feed: Feed) -> None:
    admitted(feed)
    expect(screen.locator("h1")).to_have_text("COME IN")
    for text in ("Row C · Seat 14", "Wheelchair: step-free route", "Check: photo ID, 18 or over"):
        expect_text(screen, text)
    expect(screen.locator(".for-admit")).to_be_visible()
    expect(screen.locator(".for-deny")).to_be_hidden()
    expect(screen.locator("#recent li")).to_have_count(10)


def test_a_refusal_shows_the_reason_and_another_shape(screen: Page, feed: Feed) -> None:
    denied(feed)
    expect(screen.locator("h1")).to_have_text("STOP")
    expect_text(screen, "Already used")
    expect(screen.locator("#spent")).to_have_text("18 minutes ago · gate B")
    expect_text(screen, "Came in at 19:12:44 through gate B")
    expect(screen.locator(".for-deny")).to_be_visible()
    expect(screen.locator(".for-admit")).to_be_hidden()


def test_a_repeated_scan_is_marked_as_such(screen: Page, feed: Feed) -> None:
    again(feed)
    expect_text(screen, "Again: same ticket as a moment ago")
    feed.show(a_scan())
    expect(screen.locator("#again")).to_be_hidden()


def test_test_mode_is_clearly_marked(screen: Page, feed: Feed) -> None:
    in_test_mode(feed)
    expect_text(screen, "TEST MODE")
    expect(screen.locator("h1")).to_have_text("TEST OK")
    feed.show(already_used(mode="test"))
    expect(screen.locator("#test-word")).to_be_visible()


WHOLE_WORDS = """() => {
  const text = document.getElementById("link-words").firstChild, lines = [];
  for (const word of text.data.matchAll(/\\S+/g)) {
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    lines.push(range.getClientRects().length);
  }
  return lines.every((count) => count === 1) && document.documentElement.scrollWidth <= innerWidth;
}"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_smallest_screen_breaks_no_word_of_the_network(screen: Page, feed: Feed, language: str) -> None:
    offline(feed)
    screen.set_viewport_size({"width": 320, "height": 568})
    screen.goto(f"{screen.url}?lang={language}")
    expect(screen.locator("#link-words")).to_have_text(wording(TEXTS, language)("screen.offline"))
    assert screen.evaluate(WHOLE_WORDS)


def test_a_gate_that_is_not_ready_is_not_said_to_scan_on(screen: Page, feed: Feed) -> None:
    feed.status({"ready": False, "not_ready": "This gate is not enrolled", "online": False})
    expect(screen.locator("#heading")).to_have_text("Not ready")
    expect(screen.locator("#link-words")).to_have_text("Offline")


def test_an_offline_gate_says_so_and_continues(screen: Page, feed: Feed) -> None:
    offline(feed)
    for text in ("Offline, still scanning", "The last beep was not played", "COME IN"):
        expect_text(screen, text)
    expect(screen.locator("#unsent")).to_have_text("214")
    expect(screen.locator("#snapshot")).to_have_text("1.5 h")


def test_a_fault_is_not_shown_as_a_refusal(screen: Page, feed: Feed) -> None:
    broken(feed)
    expect(screen.locator("h1")).to_have_text("GATE FAULT")
    expect_text(screen, "The disk is full")


def test_a_gate_that_is_not_ready_says_why(screen: Page, feed: Feed) -> None:
    not_ready(feed)
    expect(screen.locator("h1")).to_have_text("Not ready")
    expect(screen.locator("#message")).to_contain_text("Choose A or B")
    expect(screen.locator("#warnings li")).to_have_count(0)  # it is said once
    feed.status(a_status())
    expect(screen.locator("h1")).to_have_text("Ready")


def test_a_verdict_disappears_after_a_while(screen: Page, feed: Feed) -> None:
    feed.show(a_scan())
    expect(screen.locator("h1")).to_have_text("COME IN")
    screen.clock.fast_forward(8_100)
    expect(screen.locator("h1")).to_have_text("Ready")
    expect(screen.locator("#seat")).to_be_hidden()


def test_the_screen_reconnects_to_a_restarted_gate(browser_page: Page, feed: Feed) -> None:
    first = ScreenServer(feed, port=0).open()
    browser_page.goto(first.address)
    expect(browser_page.locator("#admitted")).to_have_text("0")
    port = first.port
    first.close()
    second = ScreenServer(Feed(time.monotonic_ns, admitted=7), port=port).open()
    expect(browser_page.locator("#admitted")).to_have_text("7")
    second.close()


def test_a_code_that_is_hard_to_read_asks_the_guest_to_hold_still(screen: Page, feed: Feed) -> None:
    feed.hint(Hint.HOLD_STILL)
    expect_text(screen, "Hold still")
    screen.clock.fast_forward(2_000)
    expect(screen.locator("#hint")).to_be_hidden()


def test_text_from_a_ticket_is_not_interpreted_as_html(screen: Page, feed: Feed) -> None:
    feed.show(a_scan(message="<img src=x onerror=alert(1)>", notices=["check:<b>bag</b>"]))
    expect_text(screen, "<img src=x onerror=alert(1)>")
    expect_text(screen, "Check: <b>bag</b>")
    expect(screen.locator("main img")).to_have_count(0)


def test_two_guests_with_the_same_verdict_do_not_look_alike(screen: Page, feed: Feed) -> None:
    screen.emulate_media(reduced_motion="reduce")
    looks = []
    for number, ticket in ((41, "NLT-204"), (42, "NLT-205")):
        feed.show(a_scan(seq=number, ticket={"type": "Balcony", "number": ticket}))
        expect(screen.locator("#guest")).to_contain_text(f"#{number}")
        expect_text(screen, ticket)
        looks.append(screen.locator("#verdict").get_attribute("data-side"))
    assert sorted(looks) == ["left", "right"]
    expect(screen.locator("#recent li").first).to_contain_text("#42")


def test_a_steward_switches_the_language_and_the_kiosk_remembers_it(screen: Page, feed: Feed) -> None:
    feed.status(a_status(not_ready=None))
    feed.show(already_used())
    expect(screen.locator("#title")).to_have_text("Already used")
    screen.locator(".languages summary").click()
    screen.get_by_role("link", name="Deutsch").click()
    expect(screen.locator("#title")).to_have_text("Schon benutzt")
    expect(screen.locator("h1")).to_have_text("STOPP")
    expect(screen.locator("#spent")).to_have_text("vor 18 Minuten · Gate B")
    expect_text(screen, "Abgewiesen")
    screen.goto(screen.url.partition("?")[0])
    expect(screen.locator("#title")).to_have_text("Schon benutzt")
    assert screen.evaluate("document.documentElement.lang") == "de"


LONGEST = max((line.split(" | ")[1] for line in MESSAGES), key=len)


@pytest.mark.parametrize(("size", "least"), [((480, 320), 17), ((800, 480), 28), (PHONE, 20), (KIOSK, 32)], ids=str)
def test_the_longest_reason_is_never_cut_and_always_legible(
    browser_page: Page, feed: Feed, server: ScreenServer, size: tuple[int, int], least: int
) -> None:
    browser_page.set_viewport_size({"width": size[0], "height": size[1]})
    feed.status(a_status())
    feed.show(already_used(message=LONGEST))
    browser_page.goto(server.address)
    expect(browser_page.locator("#message")).to_have_text(LONGEST)
    assert cut_off(browser_page) == []
    assert browser_page.evaluate("parseFloat(getComputedStyle(message).fontSize)") >= least


@pytest.mark.parametrize("size", [KIOSK, (320, 480)], ids=str)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_everything_fits(
    browser_page: Page, feed: Feed, server: ScreenServer, scene: Scene, size: tuple[int, int]
) -> None:
    browser_page.set_viewport_size({"width": size[0], "height": size[1]})
    scene.show(feed)
    browser_page.goto(server.address)
    expect(browser_page.locator("#gate")).to_have_text("Gate A")
    assert browser_page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert browser_page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "nobody scrolls at a door"
    assert cut_off(browser_page) == []


def cut_off(page: Page) -> list[str]:
    """Texts of a verdict that lie outside its panel or are cut off."""
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


class TestLivePicture:
    """What the camera sees, on the gate's own screen."""

    @pytest.fixture
    def camera(self) -> CameraAtTheDoor:
        return CameraAtTheDoor()

    @pytest.fixture
    def gate_page(self, browser_page: Page, feed: Feed, camera: CameraAtTheDoor) -> Iterator[Page]:
        server = ScreenServer(feed, port=0, pictures=LivePictures({"left lane": camera})).open()
        feed.status(a_status())
        browser_page.goto(server.address)
        yield browser_page
        server.close()

    def test_the_guest_sees_the_code_outlined(self, gate_page: Page) -> None:
        expect(gate_page.locator("#picture")).to_be_visible()
        green = gate_page.evaluate(
            """() => {
                const seen = document.getElementById("picture-image");
                const pixels = seen.getContext("2d").getImageData(0, 0, seen.width, seen.height).data;
                let count = 0;
                const green = (red, green, blue) => red < 130 && green > 180 && blue < 130;
                for (let at = 0; at < pixels.length; at += 4) count += green(...pixels.slice(at, at + 3));
                return count;
            }"""
        )
        assert green > 500

    @pytest.mark.parametrize("size", [KIOSK, PHONE, (480, 320), (320, 568)])
    def test_it_leaves_room_for_the_words(self, gate_page: Page, size: tuple[int, int]) -> None:
        gate_page.set_viewport_size({"width": size[0], "height": size[1]})
        expect(gate_page.locator("#picture")).to_be_visible()
        expect(gate_page.locator("#title")).to_be_in_viewport(ratio=1)
        expect(gate_page.locator("#picture")).to_be_in_viewport(ratio=1)

    @pytest.mark.parametrize("size", [PHONE, (480, 320)], ids=str)
    def test_the_words_make_room_again_when_it_comes_back_to_the_middle(
        self, gate_page: Page, feed: Feed, size: tuple[int, int]
    ) -> None:
        """After a verdict, or after the gate was away for a moment, which a busy machine takes for."""
        gate_page.set_viewport_size({"width": size[0], "height": size[1]})
        expect(gate_page.locator("#verdict #picture")).to_be_visible()
        # Asked as soon as observers have run: the next word from the gate puts it back, before a busy machine looks.
        left = "document.querySelectorAll('#verdict #picture').length"
        asked = f"async () => {{ showNoContact(); await Promise.resolve(); return {left}; }}"
        assert gate_page.evaluate(asked) == 0
        feed.status(a_status(unsent=1))
        expect(gate_page.locator("#verdict #picture")).to_be_visible()
        assert cut_off(gate_page) == []
        expect(gate_page.locator("#title")).to_be_in_viewport(ratio=1)

    def test_a_verdict_takes_its_place_and_ends_every_hint(self, gate_page: Page, feed: Feed) -> None:
        expect(gate_page.locator("#verdict #picture")).to_be_visible()
        feed.hint(Hint.COME_CLOSER)
        expect(gate_page.locator("#hint")).to_be_visible()
        feed.show(a_scan())
        expect(gate_page.locator("#hint")).to_be_hidden()
        expect(gate_page.locator("#verdict #picture")).to_be_hidden()
        expect(gate_page.locator("aside #picture")).to_be_visible()

    def test_a_gate_whose_camera_is_not_shown_here_looks_as_before(self, screen: Page, feed: Feed) -> None:
        feed.status(a_status())
        expect_text(screen, "Hold the code up to the reader")
        expect(screen.locator("#picture")).to_be_hidden()

    def test_a_screen_that_nobody_sees_asks_for_no_pictures(self, gate_page: Page, camera: CameraAtTheDoor) -> None:
        expect(gate_page.locator("#picture")).to_be_visible()
        gate_page.evaluate(
            """() => {
                Object.defineProperty(document, "hidden", { value: true });
                document.dispatchEvent(new Event("visibilitychange"));
            }"""
        )
        gate_page.wait_for_timeout(300)
        asked = camera.asked
        gate_page.wait_for_timeout(1_000)
        assert camera.asked == asked
