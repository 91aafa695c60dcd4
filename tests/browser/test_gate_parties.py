"""A party at a running gate, in a real browser: listed, chosen, and let through one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gate_app.supervision.screens import Role
from tests.browser.pictures import keep_screenshot
from tests.browser.staffed_gate import NAME, StaffedGate
from tests.services.axe import violations

SIZES = {
    "phone": (390, 844),
    "small": (320, 640),
    "little": (480, 320),
    "kiosk": (800, 480),
    "desktop": (1440, 900),
    "wall": (1920, 1080),
}


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[StaffedGate]:
    opened = StaffedGate(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def barred(tmp_path: Path) -> Iterator[StaffedGate]:
    opened = StaffedGate(tmp_path, turnstile=True)
    yield opened
    opened.close()


def opened(page: Page, address: str) -> Page:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 800, "height": 480})
    page.goto(address)
    expect(page.locator("h1")).to_have_text("Ready")
    return page


def admitted(gate: StaffedGate) -> int:
    return sum(entry.admitted for entry in gate.home.presentations())


def test_guests_choose_at_the_kiosk_and_see_nothing_of_anybody(browser_page: Page, gate: StaffedGate) -> None:
    page = opened(browser_page, gate.server.address)
    gate.scan(2)
    gate.scan_party(1, 2, 3, 8, 9)
    expect(page.locator("#party-heading")).to_have_text("A party of 5")
    expect(page.locator("#party-list input")).to_have_count(3)
    expect(page.locator("[data-standing=refused]").first).to_contain_text("Already used")
    assert not any(secret in page.content() for secret in (NAME, "guide dog", "NIGHT-000009"))
    assert violations(page) == []
    for name, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        # The buttons are in sight without scrolling, whatever the screen.
        box = page.locator("#party-all").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height
        if name == "kiosk":
            keep_screenshot(page, "gate-party-kiosk")
    page.get_by_label("Row C · Seat 1").uncheck()
    expect(page.locator("#party-n")).to_have_text("2")
    page.get_by_role("button", name="Those chosen").click()
    expect(page.locator("h1")).to_have_text("COME IN")
    expect(page.locator("#message")).to_have_text("2 of 5 of this party come in.")
    expect(page.locator("#party")).to_be_hidden()
    assert admitted(gate) == 1 + 2


def test_all_of_it_works_by_keyboard_alone(browser_page: Page, gate: StaffedGate) -> None:
    page = opened(browser_page, gate.server.address)
    gate.scan_party(3, 4)
    expect(page.locator("#party-heading")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("#party-n")).to_have_text("1")
    page.keyboard.press("Escape")
    expect(page.locator("#party")).to_be_hidden()
    assert admitted(gate) == 0
    gate.scan_party(3, 4)
    expect(page.locator("#party-heading")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("COME IN")
    assert admitted(gate) == 2


def test_each_goes_through_before_the_next_and_who_does_not_is_taken_back(
    browser_page: Page, barred: StaffedGate
) -> None:
    page = opened(browser_page, barred.link(Role.STEWARD))
    barred.scan_party(1, 3, 4)
    page.get_by_role("button", name="All").click()
    expect(page.locator("[data-standing=going]")).to_contain_text("Seat 1")
    assert barred.stile is not None
    barred.stile.turn()
    expect(page.locator("#party-progress")).to_have_text("1 of 3 are in")
    expect(page.locator("[data-standing=going]")).to_contain_text("Seat 3")
    keep_screenshot(page, "gate-party-turns")
    barred.nobody_goes()
    expect(page.locator("#party")).to_be_hidden()
    expect(page.locator("#recent")).to_contain_text("Taken back")
    expect(page.locator("#admitted")).to_have_text("1")


def test_a_screen_that_is_not_at_the_gate_sees_the_list_and_chooses_nobody(
    browser_page: Page, gate: StaffedGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gate_app.screen.party_routes.LOCAL", frozenset({"192.0.2.1"}))
    page = opened(browser_page, gate.server.address)
    gate.scan_party(1, 2)
    expect(page.locator("#party-ask")).to_contain_text("chosen at the gate itself")
    expect(page.locator("#party-list input")).to_have_count(0)
    sent = page.request.post(f"{gate.server.address}party/choose", data={"party": 1})
    assert sent.json()["error"]["code"] == "not_paired"
    assert admitted(gate) == 0
