"""The first evening of a new organiser, on the pages alone: from an invitation to the first guest inside."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import text

from shared.tickets import code_hash_of
from shared.wire import enrolment
from sync_server.accounts import invitations, links
from sync_server.accounts import service as people
from sync_server.accounts.sign_in import totp
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from tests.browser.admin_scenario import AdminScenario, an_evening
from tests.browser.authenticator import checks_its_owner
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_screenshot
from tests.contracts.sync.gates import Gate
from tests.services import axe
from tests.staff import PASSWORD

NEW = "nell@newcomer.example"
WIDTHS = (320, 390, 1440)


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[AdminScenario]:
    """A server that is busy for others, and an organisation that has nothing yet."""
    with an_evening(tmp_path) as scenario:
        world = scenario.world
        with world.parts.database.writing() as session:
            context = ActionContext(SYSTEM, world.now, world.dice)
            made = people.create_organisation(
                session, name="Newcomer", slug="newcomer", currency="EUR", context=context
            )
            _, code = invitations.invite(session, made.id, email=NEW, role="owner", by=None, context=context)
            scenario.invitation = links.invitation(world.parts, code)
        yield scenario


def home(page: Page) -> None:
    """Go to the start page by the mark of the program."""
    page.get_by_role("link", name="Gatehouse").click()


def fits(page: Page, name: str) -> None:
    """The page fits every width, in the dark, too; keep a picture of it on a phone and on a desktop."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        assert_fits_width(page, width)
        if width == WIDTHS[1]:
            assert axe.violations(page) == []
        if width != WIDTHS[0]:
            keep_screenshot(page, f"desk-{name}-{'phone' if width < 1000 else 'desktop'}")


def joins(page: Page, scenario: AdminScenario) -> None:
    """By the link that the operator has handed over, with a password of one's own."""
    page.goto(scenario.invitation)
    expect(page.get_by_role("heading", name="Join Newcomer")).to_be_visible()
    page.get_by_label("Your name").fill("Nell Newcomer")
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_role("button", name="Join").click()
    expect(page.locator("details.me")).to_contain_text("Nell Newcomer")


def protects_the_login(page: Page, scenario: AdminScenario) -> None:
    """An authenticator app with its recovery codes, and a passkey, which signs in instead of all that."""
    page.locator("details.me summary").click()
    page.locator("details.me").get_by_role("link", name="Your sign-in").click()
    page.get_by_role("link", name="Set up an authenticator app").click()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("No camera?").click()
    secret = base64.b32decode(page.locator("code.block").inner_text().replace(" ", ""))
    fits(page, "second-factor")
    page.get_by_label("Code of the app").fill(totp.code_at(secret, scenario.world.now // totp.STEP_MS))
    page.get_by_role("button", name="Turn it on").click()
    expect(page.locator(".codes li")).to_have_count(10)
    fits(page, "recovery-codes")
    page.get_by_role("link", name="I have kept them").click()
    page.get_by_label("Name of the passkey").fill("Nell’s laptop")
    page.locator("#passkey-password").fill(PASSWORD)
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("row", name=re.compile("Nell’s laptop"))).to_be_visible()
    fits(page, "your-sign-in")
    page.locator("details.me summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.locator("details.me")).to_contain_text("Nell Newcomer")


def creates_an_event(page: Page, scenario: AdminScenario) -> str:
    """One next step at a time: the event, with its venue."""
    fits(page, "guide")
    page.get_by_role("link", name="Create an event").click()
    page.get_by_label("What is it called?").fill("Opening Night")
    page.get_by_label("Name of the venue").fill("Old Boathouse")
    page.get_by_label("Address").fill("Quay 7, 10245 Berlin")
    page.get_by_label("City").fill("Berlin")
    page.get_by_label("Country").fill("Germany")
    page.get_by_label("Begins").fill("2026-07-05T20:00")
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_role("heading", name="Opening Night")).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Description").fill("Songs from the river.")
    page.get_by_role("button", name="Save").click()
    return page.url


def adds_a_ticket_type(page: Page) -> None:
    """What is sold; a price that is none is said beside its field, and what was typed stays."""
    home(page)
    page.get_by_role("link", name="Add a ticket type").click()
    page.get_by_label("Name", exact=True).fill("Regular")
    page.get_by_label("Price in EUR").fill("twelve")
    page.get_by_label("How many", exact=True).fill("40")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Some fields need another look")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Regular")
    page.get_by_label("Price in EUR").fill("12,50")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("row", name=re.compile("Regular"))).to_contain_text("€12.50")
    fits(page, "types")


def publishes(page: Page) -> None:
    """Publishing says first whom it touches."""
    home(page)
    page.get_by_role("link", name="Publish the event").click()
    expect(page.get_by_text("The shop shows it at once.")).to_be_visible()
    fits(page, "publish")
    page.get_by_role("button", name="Publish it").click()
    expect(page.locator(".life .now")).to_have_text("Published")


def sells_two_tickets(page: Page) -> str:
    """Three taps at the box office."""
    home(page)
    page.get_by_role("link", name="Sell a ticket").click()
    page.get_by_role("group", name="How many Regular").get_by_role("button", name="2").click()
    expect(page.locator("[data-sum]")).to_have_text("€25.00")
    fits(page, "box-office")
    page.get_by_role("button", name="Cash").click()
    expect(page.locator(".sold-now")).to_contain_text("Sold: €25.00, Cash.")
    expect(page.get_by_role("link", name="Print the tickets")).to_have_attribute("href", re.compile(r"tickets\.pdf$"))
    expect(page.locator("[data-sum]")).to_have_text("€0.00")  # for whoever comes next
    fits(page, "box-office-sold")
    page.get_by_role("link", name="Open the order").click()
    expect(page.get_by_role("link", name="Print the tickets")).to_be_visible()
    fits(page, "order")
    return page.url.split("?")[0]


def enrols_a_gate(page: Page, scenario: AdminScenario) -> tuple[Gate, int]:
    """The gate: added, put to work, enrolled with the code on the screen."""
    home(page)
    page.get_by_role("link", name="Add a device").click()
    page.get_by_label("New device").fill("Front door")
    page.get_by_role("button", name="Add").click()
    page.get_by_label(re.compile("Opening Night")).check()
    page.locator("select[name^=gate-]").select_option(label="A · Main entrance")
    page.get_by_role("button", name="Save assignments").click()
    page.get_by_role("button", name="Show an enrolment code").click()
    code = enrolment.parse(page.locator("code.block").inner_text().split()[-1])
    gate = Gate(scenario.world, "Front door")
    answer = gate.enrol(code)
    expect(page.locator(".check")).to_have_text(f"{answer.check[:3]} {answer.check[3:]}")
    return gate, answer.events[0].event


def lets_the_first_guest_in(page: Page, scenario: AdminScenario, gate: Gate, event: int) -> None:
    """The doors open, the guest comes in, and the page counts without being reloaded."""
    home(page)
    page.get_by_role("link", name="Open the doors").click()
    page.get_by_role("button", name="Open the doors").click()
    inside = page.locator("[data-number=inside]").first
    expect(inside).to_have_text("0")
    with scenario.world.parts.database.reading() as session:
        sold = text("SELECT id FROM tickets WHERE holder_name = '' AND number LIKE 'OPENING%' ORDER BY sequence")
        ticket = int(session.execute(sold).scalars().first() or 0) % 2**64  # SQLite has no unsigned numbers
    gate.anchor()
    printed = page.request.get(f"{scenario.address}/api/tickets/{ticket:016x}/code").json()["code"]
    gate.admit(ticket, event=event, code_hash=code_hash_of(printed))
    gate.upload()
    expect(inside).to_have_text("1")
    fits(page, "event")
    home(page)
    expect(page.get_by_role("heading", name="Needs a decision")).to_be_visible()
    expect(page.get_by_text(re.compile("Nothing needs a decision|begins within a day"))).to_be_visible()
    fits(page, "home")


def refunds_one(page: Page, order_page: str) -> None:
    """One of the two tickets goes back: the order says so, and the gate is told."""
    page.goto(order_page)
    page.get_by_role("link", name="Refund").click()
    expect(page.get_by_role("button", name="Refund €25.00")).to_be_visible()
    page.get_by_role("checkbox").nth(0).uncheck()
    expect(page.get_by_role("button", name="Refund €12.50")).to_be_visible()
    fits(page, "refund")
    page.get_by_label("Reason").fill("Caught a cold")
    page.get_by_role("button", name="Refund €").click()
    expect(page.locator("h1 + .mark")).to_have_text("Partly refunded")
    expect(page.get_by_role("list").filter(has_text="Ordered")).to_contain_text("Caught a cold")
    page.get_by_label("Add a note for colleagues").fill("She will come on Sunday.")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("She will come on Sunday.")).to_be_visible()


def finds_everything(page: Page, address: str, event_page: str) -> None:
    """Found again by anything; keys lead everywhere."""
    page.wait_for_load_state("load")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("OPENING")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Found for “OPENING”")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("OPENING"))).to_contain_text("€25.00")
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page).to_have_url(f"{address}/admin/events")
    page.goto(f"{event_page}/nothing")
    expect(page.get_by_role("heading", name="This page is not here")).to_be_visible()


def test_from_an_invitation_to_the_first_guest_and_a_refund(browser_page: Page, scenario: AdminScenario) -> None:
    page = browser_page
    checks_its_owner(page)
    joins(page, scenario)
    protects_the_login(page, scenario)
    event_page = creates_an_event(page, scenario)
    adds_a_ticket_type(page)
    publishes(page)
    order_page = sells_two_tickets(page)
    gate, event = enrols_a_gate(page, scenario)
    lets_the_first_guest_in(page, scenario, gate, event)
    refunds_one(page, order_page)
    finds_everything(page, scenario.address, event_page)
