"""The organiser's pages in a real browser: an evening watched, a conflict settled, a device let in and shut out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from shared import enrolment
from tests.browser.admin_house import EMAIL, PASSWORD, AdminHouse, an_evening
from tests.browser.fitting import fits
from tests.contracts.sync.gates import Gate

PICTURES = os.environ.get("GATEHOUSE_TEST_PICTURES")  # a folder: keep what the pages look like


@pytest.fixture
def house(tmp_path: Path) -> Iterator[AdminHouse]:
    """An evening that is being served."""
    with an_evening(tmp_path) as house:
        yield house


def sign_in(page: Page, house: AdminHouse, *, password: str = PASSWORD) -> None:
    """Through the front door."""
    page.goto(f"{house.address}/admin/")
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def keep_picture(page: Page, name: str) -> None:
    """For the documentation, where it is asked for."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/admin-{name}.png")


def test_a_stranger_sees_nothing_but_the_door(browser_page: Page, house: AdminHouse) -> None:
    browser_page.goto(house.event_page)
    expect(browser_page.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(browser_page, house, password="not the password")
    expect(browser_page.get_by_role("alert")).to_contain_text("wrong")


def test_signing_in_goes_on_where_one_wanted_to_go(browser_page: Page, house: AdminHouse) -> None:
    browser_page.goto(house.event_page)
    browser_page.get_by_label("E-mail address").fill(EMAIL)
    browser_page.get_by_label("Password").fill(PASSWORD)
    browser_page.get_by_role("button", name="Sign in").click()
    expect(browser_page).to_have_url(house.event_page)
    browser_page.get_by_role("button", name="Sign out").click()
    expect(browser_page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_events_numbers_follow_the_doors(browser_page: Page, house: AdminHouse) -> None:
    sign_in(browser_page, house)
    browser_page.get_by_role("link", name=re.compile("Night Music 7")).click()
    inside = browser_page.locator("[data-number=inside]").first
    expect(inside).to_have_text("34")
    expect(browser_page.locator("[data-silence]")).to_contain_text("Gates not heard: 1 of 3, last at 18:00")
    keep_picture(browser_page, "event")
    house.west.admit(33)
    house.west.upload()
    expect(inside).to_have_text("35")


def test_a_conflict_is_settled_with_a_note(browser_page: Page, house: AdminHouse) -> None:
    sign_in(browser_page, house)
    browser_page.goto(f"{house.event_page}/conflicts")
    headings = browser_page.get_by_role("heading", level=2).all_inner_texts()
    assert (headings[0], headings[-1]) == ("Never issued", "Refused though right")  # gravest first, information last
    assert sorted(headings[1:-1]) == ["Admitted though not valid", "Admitted twice"]
    twice = browser_page.get_by_role("article").filter(has_text="Admitted twice")
    expect(twice).to_contain_text("gate G1 · West door, lane 1")
    keep_picture(browser_page, "conflicts")
    twice.get_by_label("What was it?").fill("A family with one ticket; they paid at the desk.")
    twice.get_by_role("button", name="Settle").click()
    expect(browser_page.get_by_role("heading", level=2)).to_have_count(3)
    browser_page.get_by_role("link", name="Show settled ones too").click()
    expect(browser_page.get_by_text("Settled by Ines Owner")).to_contain_text("they paid at the desk")


def test_a_new_gate_is_let_in_by_the_code_on_the_screen(browser_page: Page, house: AdminHouse) -> None:
    sign_in(browser_page, house)
    browser_page.goto(f"{house.address}/admin/devices")
    browser_page.get_by_label("New device").fill("Balcony stairs")
    browser_page.get_by_role("button", name="Add").click()
    browser_page.get_by_label(re.compile("Night Music 7")).check()
    browser_page.locator("select[name^=gate-]").select_option("2")
    browser_page.get_by_role("button", name="Save the work").click()
    browser_page.get_by_role("button", name="Show an enrolment code").click()
    expect(browser_page.get_by_text("Waiting for the gate")).to_be_visible()
    keep_picture(browser_page, "code")
    shown = browser_page.locator("code.block").inner_text().split()[-1]
    told = Gate(house.world, "Balcony").enrol(enrolment.parse(shown))
    expect(browser_page.locator(".check")).to_have_text(f"{told.check[:3]} {told.check[3:]}")
    assert [work.gate_code for work in told.events] == ["G2"]


def test_a_lost_device_is_shut_out(browser_page: Page, house: AdminHouse) -> None:
    sign_in(browser_page, house)
    browser_page.goto(f"{house.address}/admin/devices")
    keep_picture(browser_page, "devices")
    browser_page.get_by_role("link", name=re.compile("West door, lane 1")).click()
    browser_page.on("dialog", lambda dialog: dialog.accept())
    browser_page.get_by_label("Why").fill("Left in a taxi")
    browser_page.get_by_role("button", name="Revoke this device").click()
    expect(browser_page.get_by_text("Left in a taxi")).to_be_visible()
    assert house.west.hello().revoked


def test_what_a_gate_has_lost_stands_on_its_page(browser_page: Page, house: AdminHouse) -> None:
    house.lose_entries(3)
    sign_in(browser_page, house)
    browser_page.goto(f"{house.address}/admin/devices")
    west = browser_page.get_by_role("link", name=re.compile("West door, lane 1"))
    expect(west).to_contain_text("3 entries lost at the gate")
    west.click()
    lost = browser_page.locator(".note.bad")
    expect(lost).to_contain_text("3 entries of its journal are lost")
    keep_picture(browser_page, "device-lost")
    browser_page.set_viewport_size({"width": 390, "height": 844})
    fits(browser_page, 390)
    keep_picture(browser_page, "phone-device-lost")


def test_a_form_from_another_site_changes_nothing(browser_page: Page, house: AdminHouse) -> None:
    sign_in(browser_page, house)
    answer = browser_page.request.post(f"{house.event_page}/walk", form={"target": "ended"})
    assert answer.status == 403
    browser_page.goto(house.event_page)
    expect(browser_page.locator(".pill.live").first).to_be_visible()


def test_what_somebody_must_look_at_says_what_to_do_and_leads_there(browser_page: Page, house: AdminHouse) -> None:
    sign_in(browser_page, house)
    browser_page.goto(f"{house.address}/admin/alerts")
    expect(browser_page.get_by_text("Nothing asks for somebody to look.")).to_be_visible()
    house.troubles(hours=40)
    browser_page.context.clear_cookies()
    sign_in(browser_page, house)
    browser_page.clock.install()
    browser_page.goto(f"{house.address}/admin/alerts")
    headings = browser_page.get_by_role("heading", level=2)
    expect(headings).to_have_text(
        [
            "Not opened though it should have begun",
            "Live past its end",
            "Doors should be open, and no opening is planned",
        ]
    )
    keep_picture(browser_page, "alerts")
    browser_page.set_viewport_size({"width": 390, "height": 844})
    fits(browser_page, 390)
    keep_picture(browser_page, "phone-alerts")
    house.call_off("event-8")
    browser_page.clock.fast_forward(60_000)
    expect(headings).to_have_count(2)
    browser_page.get_by_role("link", name="Night Music 7").click()
    expect(browser_page).to_have_url(house.event_page)


@pytest.mark.parametrize("where", ["", "/scans", "/conflicts"])
def test_pages_fit_a_phone(browser_page: Page, house: AdminHouse, where: str) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    sign_in(browser_page, house)
    browser_page.goto(house.event_page + where)
    fits(browser_page, 390)
    keep_picture(browser_page, f"phone{where.replace('/', '-')}")
