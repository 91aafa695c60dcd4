"""The admin pages in a real browser: live counters, conflicts, alerts, enrolment and revocation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from hardware.devices import decode_image
from shared.wire import enrolment
from tests.browser.admin_scenario import EMAIL, AdminScenario, an_evening
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.builders import an_id
from tests.contracts.sync.gates import Gate
from tests.staff import PASSWORD


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[AdminScenario]:
    """The running scenario."""
    with an_evening(tmp_path) as scenario:
        yield scenario


def sign_in(page: Page, scenario: AdminScenario, *, password: str = PASSWORD) -> None:
    """Sign in on the form."""
    page.goto(f"{scenario.address}/admin/")
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_visitors_see_only_the_sign_in_form(browser_page: Page, scenario: AdminScenario) -> None:
    browser_page.goto(scenario.event_page)
    expect(browser_page.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(browser_page, scenario, password="not the password")
    expect(browser_page.get_by_role("alert")).to_contain_text("wrong")


def test_signing_in_returns_to_the_requested_page(browser_page: Page, scenario: AdminScenario) -> None:
    browser_page.goto(scenario.event_page)
    browser_page.get_by_label("E-mail address").fill(EMAIL)
    browser_page.get_by_label("Password").fill(PASSWORD)
    browser_page.get_by_role("button", name="Sign in", exact=True).click()
    expect(browser_page).to_have_url(scenario.event_page)
    browser_page.locator("details.me summary").click()
    browser_page.get_by_role("button", name="Sign out").click()
    expect(browser_page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_counters_follow_the_gates(browser_page: Page, scenario: AdminScenario) -> None:
    sign_in(browser_page, scenario)
    browser_page.goto(f"{scenario.address}/admin/events")
    browser_page.get_by_role("link", name=re.compile("Night Music 7")).click()
    inside = browser_page.locator("[data-number=inside]").first
    expect(inside).to_have_text("34")
    expect(browser_page.locator("[data-silence]")).to_contain_text("Gates offline: 1 of 3, last seen at 18:00")
    keep_screenshot(browser_page, "admin-event")
    scenario.west.admit(33)
    scenario.west.upload()
    expect(inside).to_have_text("35")


def test_a_conflict_is_resolved_with_a_note(browser_page: Page, scenario: AdminScenario) -> None:
    sign_in(browser_page, scenario)
    browser_page.goto(f"{scenario.event_page}/conflicts")
    headings = browser_page.get_by_role("heading", level=2).all_inner_texts()
    assert (headings[0], headings[-1]) == ("Never issued", "Wrongly refused")  # most severe first, information last
    assert sorted(headings[1:-1]) == ["Admitted twice", "Admitted with an invalid ticket"]
    twice = browser_page.get_by_role("article").filter(has_text="Admitted twice")
    expect(twice).to_contain_text("gate G1 · West door, lane 1")
    keep_screenshot(browser_page, "admin-conflicts")
    twice.get_by_label("What happened?").fill("A family with one ticket; they paid at the desk.")
    twice.get_by_role("button", name="Resolve").click()
    expect(browser_page.get_by_role("heading", level=2)).to_have_count(3)
    browser_page.get_by_role("link", name="Show resolved conflicts too").click()
    expect(browser_page.get_by_text("Resolved by Ines Owner")).to_contain_text("they paid at the desk")


def test_a_new_gate_enrols_with_the_code_on_the_screen(
    browser_page: Page, scenario: AdminScenario, tmp_path: Path
) -> None:
    sign_in(browser_page, scenario)
    browser_page.goto(f"{scenario.address}/admin/devices")
    browser_page.get_by_label("New device").fill("Balcony stairs")
    browser_page.get_by_role("button", name="Add").click()
    browser_page.get_by_label(re.compile("Night Music 7")).check()
    browser_page.get_by_role("button", name="Save assignments").click()
    expect(browser_page.get_by_text("Not ready. Night Music 7: no gate is chosen")).to_be_visible()
    browser_page.locator("select[name^=gate-]").select_option("2")
    browser_page.get_by_role("button", name="Save assignments").click()
    expect(browser_page.get_by_text("Not ready")).to_be_hidden()
    browser_page.get_by_role("button", name="Show an enrolment code").click()
    expect(browser_page.get_by_text("Waiting for the gate")).to_be_visible()
    keep_screenshot(browser_page, "admin-code")
    *_, address, shown = browser_page.locator("code.block").inner_text().split()
    browser_page.locator("figure.qr").screenshot(path=tmp_path / "shown.png")
    (read,) = decode_image(tmp_path / "shown.png").codes
    assert enrolment.offered(read) == enrolment.Offer(enrolment.parse(shown), address)
    enrolled = Gate(scenario.world, "Balcony").enrol(enrolment.parse(shown))
    expect(browser_page.locator(".check")).to_have_text(f"{enrolled.check[:3]} {enrolled.check[3:]}")
    assert [work.gate_code for work in enrolled.events] == ["G2"]


def test_a_lost_device_is_revoked(browser_page: Page, scenario: AdminScenario) -> None:
    sign_in(browser_page, scenario)
    browser_page.goto(f"{scenario.address}/admin/devices")
    keep_screenshot(browser_page, "admin-devices")
    browser_page.get_by_role("link", name=re.compile("West door, lane 1")).click()
    browser_page.get_by_role("link", name="Revoke this device").click()
    expect(browser_page.get_by_text("This cannot be undone")).to_be_visible()
    browser_page.get_by_label("Reason").fill("Left in a taxi")
    browser_page.get_by_role("button", name="Revoke West door, lane 1").click()
    expect(browser_page.get_by_text("Left in a taxi")).to_be_visible()
    assert scenario.west.hello().revoked


def test_lost_entries_are_shown_on_the_page_of_the_device(browser_page: Page, scenario: AdminScenario) -> None:
    scenario.lose_entries(3)
    sign_in(browser_page, scenario)
    browser_page.goto(f"{scenario.address}/admin/devices")
    west = browser_page.get_by_role("listitem").filter(has_text="West door, lane 1")
    expect(west).to_contain_text("3 entries lost at the gate")
    west.get_by_role("link").click()
    lost = browser_page.locator(".note.bad")
    expect(lost).to_contain_text("3 entries of what it recorded are lost")
    keep_screenshot(browser_page, "admin-device-lost")
    browser_page.set_viewport_size({"width": 390, "height": 844})
    assert_fits_width(browser_page, 390)
    keep_screenshot(browser_page, "admin-phone-device-lost")


def test_a_form_from_another_site_changes_nothing(browser_page: Page, scenario: AdminScenario) -> None:
    sign_in(browser_page, scenario)
    response = browser_page.request.post(f"{scenario.event_page}/walk", form={"target": "ended"})
    assert response.status == 403
    browser_page.goto(scenario.event_page)
    expect(browser_page.get_by_text("Live", exact=True).first).to_be_visible()


def test_alerts_say_what_to_do_and_link_to_the_event(browser_page: Page, scenario: AdminScenario) -> None:
    sign_in(browser_page, scenario)
    browser_page.goto(f"{scenario.address}/admin/alerts")
    expect(browser_page.get_by_role("heading", name="No alerts")).to_be_visible()
    scenario.raise_alerts(hours=40)
    browser_page.context.clear_cookies()
    sign_in(browser_page, scenario)
    browser_page.clock.install()
    browser_page.goto(f"{scenario.address}/admin/alerts")
    headings = browser_page.get_by_role("heading", level=2)
    expect(headings).to_have_text(
        [
            "Not open after its start",
            "Still live after its end",
            "Doors should be open, but no opening is planned",
        ]
    )
    keep_screenshot(browser_page, "admin-alerts")
    browser_page.set_viewport_size({"width": 390, "height": 844})
    assert_fits_width(browser_page, 390)
    keep_screenshot(browser_page, "admin-phone-alerts")
    scenario.call_off(an_id("event-8"))
    browser_page.clock.fast_forward(60_000)
    expect(headings).to_have_count(2)
    browser_page.get_by_role("link", name="Night Music 7").click()
    expect(browser_page).to_have_url(scenario.event_page)


@pytest.mark.parametrize("where", ["", "/scans", "/conflicts"])
def test_pages_fit_a_phone(browser_page: Page, scenario: AdminScenario, where: str) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    sign_in(browser_page, scenario)
    browser_page.goto(scenario.event_page + where)
    assert_fits_width(browser_page, 390)
    keep_screenshot(browser_page, f"admin-phone{where.replace('/', '-')}")
