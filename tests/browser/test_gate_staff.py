"""Stewards and supervisors at a running gate, in a real browser over a real journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gate_app.supervision.screens import Role
from shared.words.wording import LANGUAGES
from tests.browser.measured import faults
from tests.browser.pictures import keep_screenshot
from tests.browser.staffed_gate import NAME, StaffedGate
from tests.gate_builders import PIN
from tests.services.axe import violations

SIZES = ((390, 844), (320, 640), (480, 320), (800, 480), (1440, 900), (1920, 1080))


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[StaffedGate]:
    opened = StaffedGate(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def steward(browser_page: Page, gate: StaffedGate) -> Page:
    browser_page.emulate_media(reduced_motion="reduce")
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto(gate.link(Role.STEWARD))
    expect(browser_page.locator("h1")).to_have_text("Ready")
    return browser_page


@pytest.fixture
def supervisor(browser_page: Page, gate: StaffedGate) -> Page:
    browser_page.emulate_media(reduced_motion="reduce")
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto(gate.link(Role.SUPERVISOR))
    expect(browser_page.locator("#screens li")).to_have_count(1)
    return browser_page


def enter_pin(page: Page, pin: str = PIN, reason: str = "") -> None:
    """Fills in what the dialog asks for."""
    if reason:
        page.get_by_label("Reason").fill(reason)
    page.get_by_label("Supervisor's PIN").fill(pin)
    page.get_by_role("button", name="Do it").click()


def find(page: Page, query: str) -> None:
    """Searches as a steward does."""
    page.get_by_label("Number, code, seat or name").fill(query)
    page.keyboard.press("Enter")


def check_look(page: Page, name: str) -> None:
    """The page fits every screen by day and by night, and axe finds nothing; it is kept as a picture."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert violations(page) == []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        page.evaluate("scrollTo(0, 0)")
        if (width, height) in {(390, 844), (1440, 900)}:
            keep_screenshot(page, f"{name}-{'phone' if width == 390 else 'desktop'}", whole=True)
    page.set_viewport_size({"width": 390, "height": 844})


def test_a_guest_at_the_kiosk_sees_the_verdict_and_nothing_of_anybody(browser_page: Page, gate: StaffedGate) -> None:
    browser_page.emulate_media(reduced_motion="reduce")
    browser_page.goto(gate.server.address)
    expect(browser_page.locator("h1")).to_have_text("Ready")
    gate.scan(9)
    expect(browser_page.locator("h1")).to_have_text("COME IN")
    expect(browser_page.locator("#seat")).to_have_text("Row C · Seat 9")
    expect(browser_page.locator("aside, footer").first).to_be_hidden()
    sent = browser_page.evaluate("fetch('/view').then((answer) => answer.text())")
    assert not any(secret in sent for secret in (NAME, "guide dog", "NIGHT-000009"))
    keep_screenshot(browser_page, "gate-guests-kiosk")
    for page in ("desk", "steward"):
        assert browser_page.request.get(f"{gate.server.address}{page}").status == 403
    asked = browser_page.request.post(f"{gate.server.address}desk/latest", data={})
    assert asked.json()["error"]["code"] == "not_paired"


def test_a_steward_sees_each_scan_but_no_name(steward: Page, gate: StaffedGate) -> None:
    gate.scan(9)
    expect(steward.locator("#recent li")).to_have_count(1)
    expect(steward.get_by_text("NIGHT-000009")).to_be_visible()
    assert not any(secret in steward.content() for secret in (NAME, "guide dog"))
    keep_screenshot(steward, "gate-steward-phone")


def test_a_steward_finds_a_seat_looks_and_lets_the_guest_in(steward: Page, gate: StaffedGate) -> None:
    steward.get_by_role("link", name="Search and help").click()
    find(steward, "C 3")
    expect(steward.locator("#found li")).to_have_count(1)
    steward.get_by_role("button", name="Look", exact=True).click()
    expect(steward.locator("#card-title")).to_have_text("Would come in: Valid ticket")
    assert gate.home.entries() == []
    steward.get_by_role("button", name="Let in", exact=True).click()
    expect(steward.locator("#card-heading")).to_have_text("COME IN")
    expect(steward.locator("#strip")).to_contain_text("COME IN")
    expect(steward.locator("#last li")).to_contain_text("Row C · Seat 3")
    check_look(steward, "gate-desk-steward")


def test_names_need_a_supervisor_and_then_are_searched(steward: Page, gate: StaffedGate) -> None:
    steward.goto(f"{gate.server.address}desk")
    find(steward, "okonkwo")
    expect(steward.get_by_text("No ticket matches")).to_be_visible()
    steward.get_by_role("button", name="Show names").click()
    enter_pin(steward, "000000")
    expect(steward.get_by_text("The PIN is wrong")).to_be_visible()
    enter_pin(steward)
    expect(steward.get_by_text("Names are shown on this screen")).to_be_visible()
    find(steward, "okonkwo amelie")
    expect(steward.locator("#found")).to_contain_text(NAME)


def test_a_supervisor_overrides_on_the_stewards_telephone(steward: Page, gate: StaffedGate) -> None:
    steward.goto(f"{gate.server.address}desk")
    find(steward, "NIGHT-000008")
    steward.get_by_role("button", name="Let in", exact=True).click()
    expect(steward.locator("#card-heading")).to_have_text("STOP")
    steward.get_by_role("button", name="Let in all the same").click()
    assert violations(steward) == []
    keep_screenshot(steward, "gate-override-phone")
    enter_pin(steward)
    expect(steward.get_by_text("Write why")).to_be_visible()
    enter_pin(steward, reason="The box office confirmed it")
    expect(steward.locator("#card-heading")).to_have_text("COME IN")
    entry = gate.home.entries()[-1]
    assert (entry.reason, entry.override_reason) == ("admitted_override", "The box office confirmed it")


def test_who_turned_round_is_taken_back_from_the_list(steward: Page, gate: StaffedGate) -> None:
    gate.scan(1)
    steward.goto(f"{gate.server.address}desk")
    steward.get_by_role("button", name="Take back").click()
    enter_pin(steward, reason="Turned round")
    expect(steward.locator("#said")).to_have_text("Taken back: NIGHT-000001 (C 1), by Sam.")
    expect(steward.get_by_text("Nobody was admitted here yet")).to_be_visible()
    assert gate.scan(1, "right lane")["reason"] == "admitted"


def test_a_supervisor_trains_opens_the_doors_and_moves_the_gate(supervisor: Page, gate: StaffedGate) -> None:
    supervisor.get_by_role("button", name="Start training").click()
    enter_pin(supervisor)
    expect(supervisor.get_by_role("button", name="End training")).to_be_visible()
    assert gate.scan(1)["reason"] == "test_ok"
    supervisor.get_by_role("button", name="End training").click()
    enter_pin(supervisor)
    supervisor.get_by_role("button", name="Open the doors by hand").click()
    enter_pin(supervisor)
    expect(supervisor.locator("#said")).to_contain_text("are now open on this device, by Sam")
    supervisor.locator("#gates").select_option("B")
    supervisor.get_by_role("button", name="Stand at this gate").click()
    enter_pin(supervisor)
    expect(supervisor.locator("#said")).to_contain_text("stands at gate B now")
    assert gate.scan(2)["gate"] == "B"
    check_look(supervisor, "gate-desk-supervisor")


def test_a_supervisor_pairs_a_telephone_and_removes_it_when_it_is_lost(supervisor: Page, gate: StaffedGate) -> None:
    supervisor.get_by_role("button", name="New steward's screen").click()
    expect(supervisor.locator("#code path")).to_be_attached()
    link = supervisor.locator("#link-address").get_attribute("href")
    assert link is not None
    telephone = supervisor.context.browser.new_context().new_page()  # type: ignore[union-attr]
    telephone.goto(link)
    expect(telephone).to_have_url(f"{gate.server.address}steward")
    supervisor.evaluate("refresh()")
    expect(supervisor.locator("#screens li")).to_have_count(2)
    supervisor.evaluate("document.getElementById('screens').scrollIntoView({block: 'end'})")
    keep_screenshot(supervisor, "gate-screens-phone")
    supervisor.locator("#screens li", has_text="Steward").get_by_role("button", name="Remove").click()
    expect(telephone).to_have_url(gate.server.address)
    assert telephone.request.post(f"{gate.server.address}desk/latest", data={}).status == 403
    telephone.context.close()


FITTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""A page hears of its new size with the next frame, and fits its letters then."""


def test_the_pages_of_staff_are_whole_in_every_language(supervisor: Page, gate: StaffedGate) -> None:
    for number in (8, 9):
        gate.scan(number)
    wrong = {}
    for page, may_scroll in (("steward", False), ("desk", True)):
        for language in LANGUAGES:
            supervisor.goto(f"{gate.server.address}{page}?lang={language}")
            expect(supervisor.locator("#strip-heading, #heading").first).not_to_be_empty()
            for width, height in ((480, 320), (800, 480), (390, 844), (1920, 1080)):
                supervisor.set_viewport_size({"width": width, "height": height})
                supervisor.evaluate(FITTED)
                if found := faults(supervisor, may_scroll=may_scroll):
                    wrong[page, language, width] = found
    assert wrong == {}


def test_an_old_link_says_what_to_do(browser_page: Page, gate: StaffedGate) -> None:
    link = gate.link(Role.STEWARD)
    browser_page.goto(link)
    expect(browser_page).to_have_url(f"{gate.server.address}steward")
    other = browser_page.context.browser.new_context().new_page()  # type: ignore[union-attr]
    other.goto(link)
    expect(other.locator("#said")).to_contain_text("it works once")
    assert violations(other) == []
    other.context.close()


def test_a_supervisor_who_has_counted_corrects_the_count(supervisor: Page, gate: StaffedGate) -> None:
    supervisor.goto(f"{gate.server.address}desk")
    gate.scan(1)
    expect(supervisor.locator("#count-help")).to_contain_text("1 are inside")
    supervisor.get_by_label("Difference").fill("12")
    supervisor.get_by_role("button", name="Correct the count").click()
    expect(supervisor.locator("#ask-what")).to_have_text("Correct by +12")
    enter_pin(supervisor, reason="came in by the stage door")
    expect(supervisor.locator("#said")).to_contain_text("13 inside")
    expect(supervisor.locator("#count-help")).to_contain_text("13 are inside")
    assert gate.home.entries()[-1].details == {"change": 12}
    supervisor.locator("#count-form").scroll_into_view_if_needed()
    keep_screenshot(supervisor, "gate-count-phone")
    assert violations(supervisor) == []
