"""A telephone as a reader: a real gate, its own certificate, and Chromium with a camera that films a ticket."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from hardware.devices import decode_image
from tests.browser.pictures import keep_screenshot
from tests.gate_builders import a_code
from tests.journeys.test_gate_commands_while_running import line, typed
from tests.journeys.test_gate_killed import a_gate_of_tonight
from tests.journeys.test_gate_running import journal, presentations, wait_for_line
from tests.services.axe import violations
from tests.services.browser import launched
from tests.unit.hardware.images import code, held_up, room

TIMEOUT_S = 30.0
READERS = ("--reader", "phone", "--reader", "fake")
PHONE = {"width": 390, "height": 844}
FRAMES_OF_A_GUEST = 20
FITS = """() => {
  const verdict = document.getElementById("verdict");
  return verdict.scrollHeight <= verdict.clientHeight && verdict.clientHeight > 60;
}"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    gate = a_gate_of_tonight(tmp_path / "home", 6)
    gate.context.close()
    (gate.folder / "gate.toml").write_text("screen_secure_port = 0\n")
    return gate.folder


@contextmanager
def running(home: Path, *readers: str) -> Iterator[str]:
    """The address of a running gate's screen."""
    command = [sys.executable, "-m", "gate_app", "run", *readers, "--screen", "0", "--home", str(home)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        yield wait_for_line(process, "The gate's screen").split()[-1]
        process.terminate()
        assert process.wait(TIMEOUT_S) == 0


@pytest.fixture
def gate(home: Path) -> Iterator[str]:
    """A gate with a scanner, which telephones join."""
    with running(home, *READERS) as address:
        yield address


def film(file: Path, *tickets: int) -> Path:
    """What a telephone's camera sees, again and again: each ticket for two seconds, and in between an empty room."""
    empty = room(640, 480)
    with file.open("wb") as out:
        out.write(b"YUV4MPEG2 W640 H480 F10:1 Ip A1:1 C420jpeg\n")
        for number in tickets:
            seen = held_up(code(a_code(number), 4), empty, (40, 20))
            for picture in [seen] * FRAMES_OF_A_GUEST + [empty] * FRAMES_OF_A_GUEST:
                out.write(b"FRAME\n" + picture.tobytes() + b"\x80" * (picture.size // 2))
    return file


@pytest.fixture
def phone(browser: Browser) -> Iterator[Callable[..., Page]]:
    """A telephone's browser, whose camera shows these tickets; without any it has no camera."""
    opened: list[Browser] = []

    def telephone(film_of: Path | None = None) -> Page:
        eye = ["--use-fake-ui-for-media-stream"]
        if film_of:
            eye += ["--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={film_of}"]
        opened.append(launched(browser.browser_type, *eye))
        context: BrowserContext = opened[-1].new_context(
            viewport=PHONE, ignore_https_errors=True, reduced_motion="reduce", has_touch=True
        )
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_S * 1000)
        return page

    yield telephone
    for one in opened:
        one.close()


def paired(home: Path, *options: str) -> dict[str, Any]:
    """What the gate answers to a supervisor who wants a telephone to read."""
    return line(home, "pair", "reader", *options)


def live(page: Page, link: str) -> None:
    """The way over the encrypted page, as its owner goes."""
    page.goto(link)
    page.get_by_role("link", name="Go on to the encrypted page").click()
    page.get_by_role("button", name="Start reading").click()


def admitted_at(home: Path) -> list[tuple[str, str]]:
    return [(one["reader"], one["reason"]) for one in journal(home) if one["kind"] == "presentation"]


def test_a_telephone_reads_over_the_gates_own_certificate(
    home: Path, gate: str, phone: Callable[..., Page], tmp_path: Path
) -> None:
    answer = paired(home, "--name", "side door")
    page = phone(film(tmp_path / "door.y4m", 1, 2))
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.goto(answer["link"])
    expect(page.locator(".fingerprint")).to_have_text(answer["fingerprint"])
    assert violations(page) == []
    keep_screenshot(page, "gate-phone-pairing", whole=True)
    page.get_by_role("link", name="Go on to the encrypted page").click()
    expect(page.get_by_role("button", name="Start reading")).to_be_visible()
    assert page.url.startswith("https://")
    assert violations(page) == []
    keep_screenshot(page, "gate-phone-start")
    page.get_by_role("button", name="Start reading").click()
    expect(page.locator("#heading")).to_have_text("COME IN")
    expect(page.locator("#video")).to_be_visible()
    page.wait_for_function(FITS)
    keep_screenshot(page, "gate-phone-verdict")
    presentations(home, 2)
    assert admitted_at(home)[:2] == [("phone 1 side door", "admitted")] * 2
    secret = answer["link"].partition("#")[2]
    assert not any(secret in address for address in sent), "the link's secret is sent in no address"


def test_without_a_secure_page_it_takes_photographs(
    home: Path, gate: str, phone: Callable[..., Page], tmp_path: Path
) -> None:
    """No live camera is given over plain HTTP; the address of a box on its network is none that browsers trust."""
    page = phone()
    page.add_init_script("delete Navigator.prototype.mediaDevices")
    page.goto(paired(home)["link"])
    page.get_by_role("button", name="Take photographs").click()
    page.get_by_role("button", name="Start reading").click()
    expect(page.get_by_text("There is no live camera")).to_be_visible()
    page.wait_for_function(FITS)
    keep_screenshot(page, "gate-phone-photograph")
    assert violations(page) == []
    for number, said in ((1, "COME IN"), (6, "COME IN"), (1, "STOP")):
        picture = tmp_path / f"{number}.png"
        cv2.imwrite(str(picture), held_up(code(a_code(number), 8), room(2000, 1500), (400, 200)))
        page.set_input_files("#photograph", picture)
        expect(page.locator("#zone")).to_contain_text(f"NIGHT-00000{number}")
        expect(page.locator("#heading")).to_have_text(said)
        expect(page.locator("#photograph")).to_be_enabled()
    keep_screenshot(page, "gate-phone-stop")
    cv2.imwrite(str(tmp_path / "room.png"), room(2000, 1500))
    page.set_input_files("#photograph", tmp_path / "room.png")
    expect(page.locator("#eye-said")).to_contain_text("No code is seen", timeout=60_000)
    assert [reason for _, reason in admitted_at(home)] == ["admitted", "admitted", "already_used"]


def test_a_lost_telephone_is_ended_by_a_command(
    home: Path, gate: str, phone: Callable[..., Page], tmp_path: Path
) -> None:
    page = phone(film(tmp_path / "door.y4m", 1))
    live(page, paired(home)["link"])
    expect(page.locator("#heading")).to_have_text("COME IN")
    number = json.loads(typed(home, "screens").stdout.splitlines()[0])["id"]
    assert typed(home, "screens", "--remove", number).stdout == ""
    expect(page.get_by_text("This telephone is no reader of this gate")).to_be_visible()
    # Its camera films on and on: how often it read until now depends on the machine.
    before = admitted_at(home)
    with (home / "scanner").open("w") as scanner:
        scanner.write(f"{a_code(2)}\n")
    presentations(home, len(before) + 1)
    assert (before[0], admitted_at(home)) == (("phone 1", "admitted"), [*before, ("fake", "admitted")])


def test_a_telephone_that_vanishes_is_said_and_the_gate_goes_on(
    home: Path, gate: str, phone: Callable[..., Page], tmp_path: Path, browser_page: Page
) -> None:
    page = phone(film(tmp_path / "door.y4m", 1))
    live(page, paired(home)["link"])
    expect(page.locator("#heading")).to_have_text("COME IN")
    browser_page.goto(line(home, "pair", "steward")["link"])
    page.context.close()
    expect(browser_page.locator("#warnings")).to_contain_text("phone 1 is away")
    with (home / "scanner").open("w") as scanner:
        scanner.write(f"{a_code(2)}\n")
    expect(browser_page.locator("#heading")).to_have_text("COME IN")


def test_a_supervisors_screen_shows_the_code_and_ends_the_reader(
    home: Path, gate: str, phone: Callable[..., Page], tmp_path: Path, browser_page: Page
) -> None:
    browser_page.set_viewport_size(PHONE)
    browser_page.goto(line(home, "pair", "supervisor")["link"])
    browser_page.get_by_label("Name, such as side door").fill("side door")
    browser_page.get_by_role("button", name="A telephone as a reader").click()
    shown = browser_page.locator("#code")
    expect(shown).to_be_visible()
    browser_page.locator("#link").screenshot(path=tmp_path / "shown.png")
    (link,) = decode_image(tmp_path / "shown.png").codes
    fingerprint = browser_page.locator("#fingerprint").text_content()
    keep_screenshot(browser_page, "gate-desk-reader-phone")
    page = phone(film(tmp_path / "door.y4m", 1))
    page.goto(link)
    expect(page.locator(".fingerprint")).to_have_text(fingerprint or "missing")
    page.get_by_role("link", name="Go on to the encrypted page").click()
    page.get_by_role("button", name="Start reading").click()
    expect(page.locator("#heading")).to_have_text("COME IN")
    line_of_it = browser_page.locator("#screens li", has_text="phone 1 side door")
    line_of_it.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("This telephone is no reader of this gate")).to_be_visible()


PAIR_ONE = {
    "en": "Pair one on a supervisor's screen",
    "de": "Koppeln Sie eines am Bildschirm einer Aufsicht",
    "fr": "Associez-en un sur l’écran d’un superviseur",
    "af": "Koppel een op ’n toesighouer se skerm",
}


def test_a_gate_of_telephones_alone_is_not_ready_before_the_first(
    home: Path, phone: Callable[..., Page], browser_page: Page
) -> None:
    with running(home, "--reader", "phone") as kiosk:
        browser_page.set_viewport_size({"width": 480, "height": 320})
        browser_page.goto(kiosk)
        expect(browser_page.locator("h1")).to_have_text("Not ready")
        for language, words in PAIR_ONE.items():
            browser_page.goto(f"{kiosk}?lang={language}")
            expect(browser_page.locator("#message")).to_contain_text(words)
            expect(browser_page.locator("#message")).to_contain_text("gatehouse-gate pair reader")
            browser_page.wait_for_function(FITS)
            if language == "en":
                keep_screenshot(browser_page, "gate-phone-missing")
        browser_page.goto(f"{kiosk}?lang=en")
        page = phone()
        page.goto(paired(home)["link"])
        page.get_by_role("button", name="Take photographs").click()
        expect(browser_page.locator("h1")).to_have_text("Ready")
        number = json.loads(typed(home, "screens").stdout.splitlines()[0])["id"]
        typed(home, "screens", "--remove", number)
        expect(browser_page.locator("h1")).to_have_text("Not ready")


def test_quiet_mode_silences_the_telephone_and_outlasts_it(
    home: Path, gate: str, phone: Callable[..., Page], tmp_path: Path
) -> None:
    page = phone()
    page.goto(paired(home)["link"])
    page.get_by_role("button", name="Take photographs").click()
    page.get_by_role("button", name="Start reading").click()
    sounded = []
    for number, how in ((1, "--aloud"), (2, "--quiet"), (3, "--aloud")):
        line(home, "loudness", how)
        picture = tmp_path / f"{number}.png"
        cv2.imwrite(str(picture), held_up(code(a_code(number), 8), room(2000, 1500), (400, 200)))
        page.set_input_files("#photograph", picture)
        expect(page.locator("#zone")).to_contain_text(f"NIGHT-00000{number}")
        sounded.append(page.locator("body").get_attribute("data-sounded"))
    assert sounded == ["admit", "none", "admit"]


def test_a_scanner_types_into_the_gates_own_page(home: Path, gate: str, browser_page: Page) -> None:
    browser_page.goto(gate)
    expect(browser_page.locator("h1")).to_have_text("Ready")
    look = browser_page.locator("html").get_attribute("data-look")
    browser_page.locator("#look").focus()
    for number, end in ((1, ""), (2, "\n")):
        browser_page.keyboard.type(f"{a_code(number)}{end}")
        expect(browser_page.locator("h1")).to_have_text("COME IN")
        expect(browser_page.locator("#seat")).to_contain_text(f"Seat {number}")
    assert browser_page.locator("html").get_attribute("data-look") == look, "no Enter presses what has the focus"
    assert admitted_at(home) == [("screen", "admitted")] * 2
