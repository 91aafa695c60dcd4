"""The end of an event in a real browser: it ends and is archived, or it is called off and everybody is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.app_server import ApiClient, AppServer
from tests.browser.looks import look
from tests.browser.selling_season import EMAIL, sign_in
from tests.builders import DAY, HOUR, a_ticket_type, a_venue, an_event
from tests.contracts.checkout.shop_floor import ACCOUNT
from tests.served_app import served
from tests.services.mail_server import MailBox

ADA, GRACE = "ada@example.org", "grace@example.org"
BASE = "https://tickets.example"


@dataclass
class Concert:
    """An evening that three people have bought for, one of them in the shop, and one without an address."""

    server: AppServer
    api: ApiClient
    address: str
    event: dict[str, Any]

    @property
    def page(self) -> str:
        """Its page on the desk."""
        return f"{self.address}/admin/events/{self.event['id']}"

    @property
    def shop(self) -> str:
        """Its page in the shop."""
        return f"{self.address}/o/marquee/events/{self.event['slug']}"

    def orders(self) -> dict[str, str]:
        """The state of each order, by its buyer."""
        found = self.api.get(f"/api/orders?event={self.event['id']}")["items"]
        return {each["buyer"]["name"]: each["state"] for each in found}

    def work(self) -> None:
        """Let the worker do what is due, and what becomes due by that."""
        for _ in range(8):
            self.server.run_worker()


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path, mail_box: MailBox) -> Iterator[AppServer]:
    """A server that sends mails."""
    made = AppServer(sqlite_url, tmp_path, mail_url=mail_box.url, base_url=BASE)
    yield made
    made.close()


@pytest.fixture
def concert(app_server: AppServer) -> Iterator[Concert]:
    organisation = app_server.organisation("marquee")
    app_server.user(EMAIL, organisation, "owner")
    api = app_server.api(organisation)
    api.patch("/api/organisation/checkout", ACCOUNT)
    start = app_server.now + 8 * DAY
    times = {"start_at": start, "end_at": start + 3 * HOUR}
    event = api.post("/api/events", an_event(api.post("/api/venues", a_venue())["id"], **times))
    path = f"/api/events/{event['id']}"
    api.post(f"{path}/ticket-types", a_ticket_type())
    api.post(f"{path}/publish", {}, 200)
    for buyer in ({"name": "Grace Sommer", "email": GRACE}, {"name": "Bo Regen"}):
        api.post(f"{path}/sales", {"places": [{"ticket_type": 1, "count": 2}], "method": "cash", "buyer": buyer})
    with served(app_server) as address:
        yield Concert(app_server, api, address, event)


def buys_in_the_shop(page: Page, concert: Concert) -> str:
    """Ada buys a ticket by invoice, and the transfer arrives; the address at which she finds her tickets."""
    page.goto(concert.shop)
    page.get_by_role("button", name="One “Regular” more").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Name").fill("Ada Winter")
    page.get_by_label("E-mail").fill(ADA)
    page.get_by_role("radio", name="Bank transfer").check()
    page.get_by_role("button", name="Order and pay").click()
    expect(page.get_by_role("heading", name="Please transfer")).to_be_visible()
    found = concert.api.get(f"/api/orders?event={concert.event['id']}")["items"]
    order = next(each["id"] for each in found if each["buyer"]["email"] == ADA)
    concert.api.post(f"/api/orders/{order}/payments", {"method": "invoice"}, 200)
    return page.url


def figures(page: Page) -> dict[str, str]:
    """The figures of the page, by what they count."""
    return {one.locator("span").inner_text(): one.locator("b").inner_text() for one in page.locator(".figure").all()}


def subjects(mail_box: MailBox, since: int) -> list[tuple[str, str]]:
    """Who got which mail since then."""
    return sorted((str(mail["To"]), str(mail["Subject"])) for mail in mail_box.arrived[since:])


def test_an_event_is_cancelled_everybody_is_told_and_their_money_goes_back(
    browser_page: Page, concert: Concert, mail_box: MailBox
) -> None:
    page = browser_page
    order = buys_in_the_shop(page, concert)
    concert.work()
    sign_in(page, concert.address)
    page.goto(concert.page)
    page.locator(".life a[href$='target=cancelled']").click()
    assert (figures(page)["tickets issued"], figures(page)["paid orders"]) == ("5", "3")
    expect(page.get_by_text("1 gave no address, and must be told otherwise.")).to_be_visible()
    page.get_by_role("radio", name="Their money back").check()
    page.get_by_label("Reason").fill("The roof leaks.")
    before = len(mail_box.arrived)
    page.get_by_role("button", name="Cancel the event and tell 2 buyers").click()
    expect(page.get_by_role("heading", name="What buyers get")).to_be_visible()
    expect(page.get_by_text("Under way")).to_be_visible()
    look(page, "desk-calling-off")
    concert.work()
    assert set(concert.orders().values()) == {"refunded"}, concert.orders()
    assert [each for each in subjects(mail_box, before) if each[1].startswith("Cancelled")] == [
        (ADA, "Cancelled: Night Music"),
        (GRACE, "Cancelled: Night Music"),
    ]
    page.reload()
    expect(page.get_by_text("3 of 3 orders")).to_be_visible()
    assert figures(page)["to be paid back by hand"] == "€175.00"
    expect(page.locator("tbody tr")).to_have_count(3)
    look(page, "desk-calling-off", keep=True)
    states = {each["state"] for each in concert.api.get(f"/api/events/{concert.event['id']}/tickets")["items"]}
    assert states == {"cancelled"}
    everybody_sees_it(page, concert, order)


def everybody_sees_it(page: Page, concert: Concert, order: str) -> None:
    """On the desk, in the shop, and on the page of whoever bought there."""
    page.goto(concert.page)
    expect(page.locator(".life .now")).to_have_text("Cancelled")
    look(page, "desk-event-cancelled")
    page.get_by_role("link", name="Progress").click()
    page.locator("tbody a", has_text="-").first.click()
    look(page, "desk-order-owed")
    called_off = page.get_by_text("This event does not take place")
    for _ in range(60):  # pages for everybody are kept for a moment
        page.goto(concert.shop)
        if called_off.is_visible():
            break
        page.wait_for_timeout(500)
    expect(called_off).to_be_visible()
    look(page, "shop-event-cancelled")
    page.goto(order)
    expect(page.get_by_role("heading", name="This order is refunded")).to_be_visible()
    look(page, "shop-order-refunded")


def test_an_event_ends_and_is_archived_and_its_figures_stay(browser_page: Page, concert: Concert) -> None:
    page = browser_page
    concert.server.advance(8 * DAY)
    sign_in(page, concert.address)
    concert.api.post(f"/api/events/{concert.event['id']}/go-live", {}, 200)
    page.goto(concert.page)
    page.locator(".life a[href$='target=ended']").click()
    expect(page.get_by_text("Gates stop admitting.")).to_be_visible()
    look(page, "desk-step-ended")
    page.get_by_role("button", name="End the event").click()
    expect(page.locator(".life .now")).to_have_text("Ended")
    expect(page.get_by_role("link", name="Sell now")).to_have_count(0)
    look(page, "desk-event-ended")
    page.goto(concert.shop)
    expect(page.get_by_text("This event is over")).to_be_visible()
    look(page, "shop-event-ended")
    page.goto(concert.page)
    page.locator(".life a[href$='target=archived']").click()
    expect(page.get_by_text("Its figures stay")).to_be_visible()
    look(page, "desk-step-archived")
    page.get_by_role("button", name="Archive the event").click()
    expect(page.locator(".life .now")).to_have_text("Archived")
    expect(page.locator("[data-number=sold]").first).to_have_text("4")
    look(page, "desk-event-archived")
    page.goto(f"{concert.address}/admin/events?show=over")
    expect(page.get_by_role("link", name="Night Music").first).to_be_visible()
    page.goto(f"{concert.address}/admin/events")
    expect(page.get_by_role("link", name="Night Music")).to_have_count(0)
    page.goto(concert.shop)
    look(page, "shop-event-archived")
