"""What owners do in the settings, in a real browser: people, programs, receivers, records, looks and policies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.admin_scenario import EMAIL, AdminScenario, an_evening
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.services import axe
from tests.staff import PASSWORD

WIDTHS = {320: "narrow", 390: "phone", 1440: "desktop"}

COLOURS_ARRIVED = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
    Promise.allSettled(document.getAnimations().map((each) => each.finished)).then(() => done()))))"""
"""Otherwise axe would measure colours on their way to others."""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdminScenario]:
    """One evening for all: what one test leaves stands in nobody's way."""
    with an_evening(tmp_path_factory.mktemp("settings")) as scenario:
        yield scenario


@pytest.fixture
def desk(browser_page: Page, scenario: AdminScenario) -> Page:
    """The settings, as the owner sees them."""
    browser_page.goto(f"{scenario.address}/admin/login?after=/admin/settings")
    browser_page.get_by_label("E-mail address").fill(EMAIL)
    browser_page.get_by_label("Password").fill(PASSWORD)
    browser_page.get_by_role("button", name="Sign in", exact=True).click()
    expect(browser_page.get_by_role("heading", name="Settings")).to_be_visible()
    return browser_page


def fits(page: Page, picture: str = "") -> None:
    """The page fits every width, by day and by night, and axe finds nothing; a picture is kept if it has a name."""
    for width, kind in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 900})
        assert_fits_width(page, width)
        if picture.endswith(f"-{kind}"):
            keep_screenshot(page, picture)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(COLOURS_ARRIVED)
            assert axe.violations(page) == []
    page.emulate_media(color_scheme="light")


def opens(page: Page, section: str) -> None:
    """Go to a section from the start of the settings."""
    page.get_by_role("link", name="Settings").first.click()
    page.get_by_role("heading", name=section, exact=True).get_by_role("link").click()
    expect(page.get_by_role("heading", name=section, level=1)).to_be_visible()


def test_the_own_login_says_how_well_it_is_kept(desk: Page) -> None:
    desk.locator("details.me summary").click()
    desk.locator("details.me").get_by_role("link", name="Your sign-in").click()
    expect(desk.get_by_text("Only a password protects this login")).to_be_visible()
    fits(desk, "settings-sign-in-phone")
    desk.get_by_role("link", name="Set up an authenticator app").click()
    desk.get_by_label("Your password").fill("not the password")
    desk.get_by_role("button", name="Continue").click()
    expect(desk.get_by_role("alert")).to_contain_text("This is not your password")
    desk.get_by_label("Your password").fill(PASSWORD)
    desk.get_by_role("button", name="Continue").click()
    desk.get_by_label("Code of the app").fill("000000")
    desk.get_by_role("button", name="Turn it on").click()
    expect(desk.get_by_role("alert")).to_contain_text("This code is wrong")
    fits(desk)


def test_without_mail_the_operator_hands_the_link_over_and_the_invitation_is_withdrawn(desk: Page) -> None:
    fits(desk)
    opens(desk, "Members")
    desk.get_by_label("E-mail address").fill("no address")
    desk.get_by_label("E-mail address").evaluate("field => field.type = 'text'")
    desk.get_by_role("button", name="Invite", exact=True).click()
    expect(desk.locator(".error")).to_contain_text("This is not an e-mail address")
    desk.get_by_label("E-mail address").fill("nora@marquee.example")
    desk.get_by_role("radio", name=re.compile("Admin")).check()
    desk.get_by_role("button", name="Invite", exact=True).click()
    expect(desk.get_by_role("status")).to_contain_text("gatehouse-server invite nora@marquee.example")
    expect(desk.get_by_text("/admin/invitation")).to_have_count(0)
    expect(desk.get_by_role("row", name=re.compile("nora@marquee.example"))).to_contain_text("Admin")
    fits(desk, "settings-members-desktop")
    desk.get_by_role("button", name="Withdraw nora@marquee.example").click()
    expect(desk.get_by_role("status")).to_contain_text("withdrawn")
    expect(desk.get_by_text("nora@marquee.example")).to_have_count(0)


def test_the_only_owner_cannot_leave_or_become_less(desk: Page) -> None:
    opens(desk, "Members")
    desk.get_by_role("link", name="Ines Owner").click()
    desk.get_by_role("radio", name=re.compile("Staff")).check()
    desk.get_by_role("button", name="Save").click()
    expect(desk.get_by_role("alert")).to_contain_text("at least one owner")
    desk.get_by_role("link", name="Remove from the organisation").click()
    expect(desk.get_by_text("signed in here now")).to_be_visible()
    fits(desk)
    desk.get_by_role("button", name="Remove Ines Owner").click()
    expect(desk.get_by_text("at least one owner")).to_be_visible()


def test_a_token_is_made_works_and_is_ended(desk: Page, scenario: AdminScenario) -> None:
    opens(desk, "API tokens")
    desk.get_by_role("link", name="New token").click()
    desk.get_by_label("What it is for").fill("Spreadsheet")
    desk.get_by_label("see orders and who bought").check()
    fits(desk)
    desk.get_by_role("button", name="Make the token").click()
    token = desk.locator("code.secret").inner_text()
    bearer = {"Authorization": f"Bearer {token}"}
    asked = desk.request.get(f"{scenario.address}/api/session", headers=bearer)
    assert asked.json()["name"] == "Spreadsheet"
    desk.get_by_role("link", name="I have stored it").click()
    fits(desk)
    assert token not in desk.content(), "shown once"
    desk.get_by_role("link", name="End Spreadsheet").click()
    desk.get_by_role("button", name="End Spreadsheet").click()
    expect(desk.get_by_role("status")).to_contain_text("no longer works")
    assert desk.request.get(f"{scenario.address}/api/session", headers=bearer).status == 401


def test_a_webhook_is_chosen_in_plain_words_tested_and_paused(desk: Page) -> None:
    opens(desk, "Webhooks")
    desk.get_by_role("link", name="New webhook").click()
    desk.get_by_label("Address", exact=True).fill("https://crm.marquee.example/hook")
    desk.get_by_label("What it is for").fill("Newsletter")
    desk.get_by_label("Everything").uncheck()
    desk.get_by_role("button", name="Make the webhook").click()
    expect(desk.locator(".error")).to_be_visible()
    desk.get_by_label("Events: published, changed").check()
    fits(desk)
    desk.get_by_role("button", name="Make the webhook").click()
    expect(desk.locator("code.secret")).to_contain_text("whsec_")
    desk.get_by_role("link", name="I have stored it").click()
    expect(desk.get_by_text("Events: published, changed, called off, over")).to_be_visible()
    desk.get_by_role("button", name="Send a test").click()
    expect(desk.get_by_text("There is no such host.")).to_be_visible()
    fits(desk)
    desk.get_by_role("link", name="Newsletter").click()
    fits(desk)
    desk.get_by_role("button", name="Pause").click()
    expect(desk.get_by_text("1 message waits for it.")).to_be_visible()
    desk.get_by_role("link", name="Delete this webhook").click()
    fits(desk)
    desk.get_by_role("button", name="Delete the webhook and its log").click()
    expect(desk.get_by_role("heading", name="No webhooks")).to_be_visible()


def test_the_audit_log_is_read_by_person_and_its_seals_are_checked(desk: Page, scenario: AdminScenario) -> None:
    opens(desk, "Audit log")
    desk.get_by_label("Who").select_option(label="Ines Owner")
    desk.get_by_role("button", name="Show", exact=True).click()
    lines = desk.locator(".log li")
    expect(lines.first).to_contain_text("Ines Owner")
    expect(lines.filter(has_text="A gate device")).to_have_count(0)
    fits(desk, "settings-audit-desktop")
    desk.get_by_role("button", name="Check the seals").click()
    expect(desk.get_by_role("heading", name="The audit log is intact")).to_be_visible()
    fits(desk)


def test_a_table_is_taken_away_with_what_has_arrived(desk: Page) -> None:
    opens(desk, "Exports")
    desk.get_by_role("link", name=re.compile("Night Music 7")).click()
    desk.wait_for_load_state("domcontentloaded")  # until its script is there the file comes without progress
    with desk.expect_download() as got:
        desk.get_by_role("link", name=re.compile("CSV ?: Scans")).click()
    expect(desk.get_by_text("Done: the file is among your downloads.")).to_be_visible()
    assert got.value.suggested_filename.endswith("-scans.csv")
    assert len(Path(got.value.path()).read_text("utf-8-sig").splitlines()) > 30
    fits(desk)


def test_a_person_is_shown_taken_away_and_erased(desk: Page) -> None:
    opens(desk, "Personal data")
    desk.get_by_label("The address, or the id").fill(EMAIL)
    desk.get_by_role("button", name="Show what is stored").click()
    expect(desk.get_by_text("What stays, and why")).to_be_visible()
    fits(desk)
    with desk.expect_download() as got:
        desk.get_by_role("button", name="Download everything").click()
    assert EMAIL in json.dumps(json.loads(Path(got.value.path()).read_text("utf-8")))
    desk.get_by_label("Why").fill("asked for on 4 July")
    desk.get_by_role("button", name=f"Erase what is stored about {EMAIL}").click()
    expect(desk.get_by_role("status")).to_contain_text("Erased")


def test_a_colour_is_tried_before_it_is_kept(desk: Page, scenario: AdminScenario) -> None:
    opens(desk, "Branding")
    fits(desk)
    desk.get_by_label("Colour").fill("#ffe066")
    desk.get_by_role("button", name="Look at it first").click()
    expect(desk.get_by_text("too bright: links use")).to_be_visible()
    fits(desk)
    shop = desk.request.get(f"{scenario.address}/o/marquee").text()
    assert "ffe066" not in shop
    desk.get_by_role("button", name="Save this").click()
    expect(desk.get_by_role("status")).to_contain_text("Saved")
    expect(desk.get_by_label("Colour")).to_have_value("#ffe066")


def test_a_website_is_listed_and_its_line_is_copied(desk: Page) -> None:
    opens(desk, "Branding")
    place = desk.get_by_role("region", name="The shop on your own website")
    expect(place).to_contain_text("Enter your website above")
    desk.get_by_label("Websites that may show the shop").fill("band.example")
    desk.get_by_role("button", name="Save this").click()
    expect(desk.get_by_label("Websites that may show the shop")).to_have_value("band.example")
    expect(place).to_contain_text("Enter your website above")
    desk.get_by_label("Websites that may show the shop").fill("https://band.example\nhttps://www.band.example")
    desk.get_by_role("button", name="Save this").click()
    expect(place).to_contain_text("a page of https://band.example, https://www.band.example")
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    place.get_by_role("button", name="Copy").click()
    expect(place.get_by_role("status")).to_have_text("Copied. Paste it into your page.")
    copied = desk.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(
        r'<script src="http.*/o/marquee/embed[.]js" async></script>\n<gatehouse-shop></gatehouse-shop>', copied
    )
    fits(desk)


def test_payments_say_what_they_need_and_never_show_a_key(desk: Page) -> None:
    opens(desk, "Payments")
    fits(desk)
    desk.get_by_label("Offer bank transfers").check()
    desk.get_by_role("button", name="Save bank transfers").click()
    expect(desk.get_by_role("alert")).to_contain_text("Invoices need an account")
    desk.get_by_label("Account holder").fill("Marquee Concerts")
    desk.get_by_label("IBAN").fill("DE02120300000000202051")
    desk.get_by_role("button", name="Save bank transfers").click()
    expect(desk.get_by_role("status")).to_contain_text("Saved")
    key = "sk_test_" + "abcdefgh1234"
    desk.get_by_label("Secret key").fill(key)
    desk.get_by_role("button", name="Save the keys").click()
    expect(desk.get_by_text("One is stored, ending in 1234")).to_be_visible()
    assert key not in desk.content()


def test_policies_are_changed_and_limits_are_said_beside_their_fields(desk: Page) -> None:
    opens(desk, "Policies")
    fits(desk, "settings-policies-phone")
    desk.get_by_label("cancel and postpone events").check()
    desk.get_by_role("button", name="Save what staff may do").click()
    expect(desk.get_by_label("cancel and postpone events")).to_be_checked()
    desk.get_by_label("Minutes that a seat is held").fill("600")
    desk.get_by_role("button", name="Save seats and holds").click()
    expect(desk.get_by_label("Minutes that a seat is held")).to_have_attribute("aria-invalid", "true")
    desk.get_by_label("Minutes that a seat is held").fill("8")
    desk.get_by_label("Addresses without that limit").fill("203.0.113.0/24")
    desk.get_by_role("button", name="Save seats and holds").click()
    expect(desk.get_by_role("status")).to_contain_text("Saved")
    expect(desk.get_by_label("Addresses without that limit")).to_have_value("203.0.113.0/24")


def test_mails_are_read_in_every_language(desk: Page) -> None:
    opens(desk, "Mails")
    desk.get_by_label("Language").select_option(label="German")
    desk.get_by_role("button", name="Show", exact=True).click()
    expect(desk.locator(".letter")).to_have_attribute("lang", "de")
    expect(desk.locator(".letter")).to_contain_text("Night Music 7")
    fits(desk)


def test_the_organisation_gets_another_name_and_keeps_records_shorter(desk: Page) -> None:
    opens(desk, "General")
    fits(desk)
    desk.get_by_label("Name of the organisation").fill("Marquee Concerts")
    desk.get_by_role("button", name="Save").click()
    expect(desk.locator("details.me")).to_contain_text("Marquee Concerts")
    opens(desk, "Retention")
    desk.get_by_role("group", name="Holds that have ended").get_by_label("days").fill("0")
    desk.get_by_role("button", name="Save").click()
    expect(desk.locator(".error")).to_be_visible()
    desk.get_by_role("group", name="Holds that have ended").get_by_label("days").fill("14")
    desk.get_by_role("button", name="Save").click()
    expect(desk.get_by_role("status")).to_contain_text("new period applies")
    fits(desk, "settings-retention-desktop")
