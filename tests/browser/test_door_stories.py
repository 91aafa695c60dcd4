"""Evenings at the door in a browser, beside real gates: a refund, two gates offline, an event that is called off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from tests.browser.pictures import keep_screenshots
from tests.contracts.facts.memory import eventually
from tests.journeys.world import World
from tests.served_app import listening
from tests.services.mail_server import MailBox
from tests.staff import PASSWORD, a_login

CHIEF = "chief@harbour.example"


@pytest.fixture
def world(sqlite_url: str, tmp_path: Path, mail_box: MailBox) -> Iterator[World]:
    made = World(sqlite_url, tmp_path, mail_url=mail_box.url, mail_from="tickets@harbour.example")
    with made.parts.database.writing() as session:
        context = ActionContext(SYSTEM, made.now, made.parts.database.entropy)
        a_login(session, CHIEF, context, organisation_id=made.organisation, role="owner", name="Carla Chief")
    yield made
    made.close()


@pytest.fixture
def desk(browser_page: Page, world: World) -> Iterator[Page]:
    """The chief's browser on the page of the event; the gates' times are those of the evening."""
    assert world.app is not None
    with listening(world.app) as port:
        browser_page.goto(f"http://127.0.0.1:{port}/admin/login?after=/admin/events/{world.event.id}")
        browser_page.get_by_label("E-mail address").fill(CHIEF)
        browser_page.get_by_label("Password").fill(PASSWORD)
        browser_page.get_by_role("button", name="Sign in", exact=True).click()
        expect(browser_page.get_by_role("heading", name="Night Music")).to_be_visible()
        yield browser_page


def an_order(world: World, **buyer: str) -> dict[str, Any]:
    """A paid order of one ticket, sold at the box office."""
    sale = {"places": [{"ticket_type": 1, "count": 1}], "method": "cash", "buyer": buyer}
    made: dict[str, Any] = world.ask("POST", f"/api/events/{world.event.id}/sales", sale)
    return made


def test_a_refund_is_seen_at_the_gate(desk: Page, world: World) -> None:
    order = an_order(world, name="Grace Hopper", email="grace@example.org")
    (line,) = order["lines"]
    code, gate = world.code(line["ticket"]["id"]), world.gate("A")
    desk.get_by_role("link", name="Orders", exact=True).last.click()
    desk.get_by_role("link", name=order["number"]).click()
    desk.get_by_role("link", name="Refund …").click()
    for box in desk.get_by_role("checkbox").all():
        if not box.is_checked() and "fee" not in (box.get_attribute("name") or ""):
            box.check()
    desk.get_by_role("button", name="Refund €").click()
    expect(desk.get_by_text("Refunded").first).to_be_visible()
    gate.sync()
    assert gate.reason(code) == "ticket_cancelled"
    gate.sync()
    world.work()
    desk.goto(re.sub(r"/admin/.*", f"/admin/events/{world.event.id}/scans?verdict=refused", desk.url))
    expect(desk.locator(".line")).to_contain_text("ticket cancelled")


def test_two_gates_offline_admit_one_ticket_and_the_chief_decides(desk: Page, world: World) -> None:
    ticket, gates = world.sell_one(), (world.gate("A"), world.gate("B"))
    for gate in gates:
        gate.sync()
    world.cut_network()
    assert [gate.reason(ticket.code) for gate in gates] == ["admitted", "admitted"]
    world.advance(minutes=3)
    desk.get_by_role("link", name="Door", exact=True).last.click()
    expect(desk.locator("[data-number=inside]").first).to_have_text("0")  # nobody here knows of them yet
    expect(desk.get_by_text("Gate A").first).to_be_visible()
    world.mend_network()
    for gate in gates:
        gate.sync()
    desk.reload()
    expect(desk.get_by_text("1 conflict between scans waits")).to_be_visible()
    desk.get_by_role("link", name="Resolve").click()
    conflict = desk.get_by_role("article")
    expect(conflict).to_contain_text("Admitted twice")
    expect(conflict).to_contain_text(ticket.number)
    keep_screenshots(desk, "admin-conflict")
    conflict.get_by_label("What happened?").fill("A copied ticket. The second guest paid at the desk.")
    conflict.get_by_role("button", name="Resolve").click()
    expect(desk.get_by_role("heading", name="No conflicts")).to_be_visible()
    desk.get_by_role("link", name="Door", exact=True).last.click()
    expect(desk.locator("[data-number=conflicts]").first).to_have_text("0")
    desk.goto(re.sub(r"/door.*", "/conflicts?all=1", desk.url))
    expect(desk.get_by_text("Resolved by Carla Chief")).to_contain_text("paid at the desk")


def test_an_event_is_called_off_and_everybody_is_told(desk: Page, world: World, mail_box: MailBox) -> None:
    orders = [an_order(world, name=name, email=f"{name.lower()}@example.org") for name in ("Grace", "Ada")]
    an_order(world, name="Nobody")
    code, gate = world.code(orders[0]["lines"][0]["ticket"]["id"]), world.gate("A")
    world.work()
    mail_box.arrived.clear()
    desk.reload()
    desk.get_by_role("link", name="Cancel", exact=True).click()
    expect(desk.get_by_text("The buyers of 2 orders get a mail.")).to_be_visible()
    expect(desk.get_by_text("1 gave no address")).to_be_visible()
    desk.get_by_text("Nothing for now").click()
    desk.get_by_label("Reason").fill("The hall has no power.")
    desk.get_by_role("button", name="Cancel the event and tell 2 buyers").click()
    expect(desk.get_by_text("Cancelled", exact=True).first).to_be_visible()
    eventually(lambda: told(world, mail_box) == {"grace@example.org", "ada@example.org"}, "both buyers are told")
    gate.sync()
    assert gate.reason(code) == "event_cancelled"


def told(world: World, mail_box: MailBox) -> set[str]:
    """Whom a mail has reached, once the worker has done what is due."""
    world.work()
    return {str(mail["To"]).partition("<")[2].rstrip(">") or str(mail["To"]) for mail in mail_box.arrived}
