"""Paying by card in a real browser, before localstripe; a script of ours stands in for Stripe's, which is not here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect

from tests.app_server import AppServer
from tests.browser.page_width import assert_fits_width
from tests.contracts.checkout.stripe.card_shop import KEYS
from tests.contracts.storefront.conftest import STANDING, Evening, an_evening
from tests.served_app import served
from tests.services.axe import violations
from tests.services.stripe_server import PUBLISHABLE_KEY, StripeFront

SCRIPT = "https://js.stripe.com/v3/"
STAND_IN = """
// As far as the page calls it. The card itself is typed into Stripe's own frame, which is not here.
window.Stripe = (key, { locale }) => ({
  elements: ({ clientSecret, appearance }) => ({
    create: (kind) => {
      const ready = [];
      return {
        on: (name, call) => name === "ready" && ready.push(call),
        mount: (place) => {
          place.textContent = [kind, key, locale, clientSecret.split("_secret_")[0], appearance.theme].join(" ");
          ready.forEach((call) => call());
        },
      };
    },
  }),
  confirmPayment: async ({ redirect, confirmParams }) => window.confirmed(redirect, confirmParams.return_url),
});
"""


@dataclass
class Cards:
    """A shop that takes cards, and the browser of a buyer who has chosen to pay by one."""

    stripe: StripeFront
    evening: Evening
    page: Page
    policy: list[str]  # what the policy of the page has refused

    def to_the_form(self, address: str) -> None:
        """From the event to the page on which the card is paid."""
        self.page.goto(f"{address}{self.evening.path}")
        self.page.get_by_label("How many “Standing”").fill("2")
        self.page.get_by_role("button", name="Continue").click()
        self.page.get_by_label("Name", exact=True).fill("Ada Lovelace")
        self.page.get_by_label("E-mail").fill("ada@lovelace.example")
        self.page.get_by_role("radio", name=re.compile("Card")).check()
        self.page.get_by_role("button", name=re.compile("Order and pay")).click()
        expect(self.page.get_by_role("heading", name="Payment")).to_be_visible()

    def intent(self) -> str:
        """Stripe's name of the payment."""
        (found,) = self.stripe.intents()
        return str(found["id"])


@pytest.fixture
def cards(sqlite_url: str, tmp_path: Path, stripe_front: StripeFront, browser: Browser) -> Iterator[Cards]:
    server = AppServer(sqlite_url, tmp_path, stripe_url=stripe_front.url)
    api = server.api(server.organisation("marquee"))
    api.patch("/api/organisation/checkout", KEYS)
    context = browser.new_context(locale="en-GB")
    refused: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            refused.append(message.text)

    page = context.new_page()
    page.on("console", listen)
    yield Cards(stripe_front, an_evening(server, api, STANDING), page, refused)
    context.close()
    server.close()


def test_a_card_is_refused_then_paid_and_the_tickets_are_there(cards: Cards) -> None:
    page, cents = cards.page, 2 * 3650
    page.route(SCRIPT, lambda route: route.fulfill(body=STAND_IN, content_type="text/javascript"))
    answers = [{"error": {"message": "Your card was declined."}}, {}]
    asked: list[tuple[str, str]] = []

    def confirmed(redirect: str, return_url: str) -> dict[str, object]:
        asked.append((redirect, return_url))
        answer = answers.pop(0)
        if "error" not in answer:
            cards.stripe.pay(cards.intent())
        return answer

    page.expose_function("confirmed", confirmed)
    with served(cards.evening.app_server) as address:
        cards.to_the_form(address)
        intent = cards.intent()
        expect(page.locator("[data-element]")).to_have_text(f"payment {PUBLISHABLE_KEY} en {intent} stripe")
        assert cards.stripe.intent(intent)["amount"] == cents
        pay = page.get_by_role("button", name="Pay €73.00")
        pay.click()
        expect(page.get_by_role("alert")).to_contain_text("Your card was declined.")
        expect(pay).to_be_enabled()
        assert violations(page) == []
        pay.click()
        expect(page.get_by_role("heading", name="Your tickets are here")).to_be_visible()
        assert asked[0][0] == "if_required" and asked[0][1].endswith("/pay/card")
        assert cards.evening.order()["state"] == "paid"
        assert cards.policy == []


def test_without_stripes_script_the_page_says_so_and_leads_to_the_other_ways(cards: Cards) -> None:
    page = cards.page
    cards.evening.api.patch(
        "/api/organisation/checkout",
        {"account_holder": "Marquee e.V.", "iban": "DE75 5121 0800 1245 1261 99", "invoices": True},
    )
    page.route(SCRIPT, lambda route: route.abort())
    with served(cards.evening.app_server) as address:
        cards.to_the_form(address)
        expect(page.get_by_role("alert")).to_contain_text("The payment form cannot be reached.")
        expect(page.get_by_role("button", name="Pay €73.00")).to_be_disabled()
        page.set_viewport_size({"width": 320, "height": 640})
        assert_fits_width(page, 320)
        assert violations(page) == []
        page.get_by_role("link", name="Choose another way to pay").click()
        page.get_by_role("radio", name=re.compile("Bank transfer")).check()
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", name="Please transfer the money")).to_be_visible()


def test_the_policy_lets_stripe_in_on_this_page_alone_and_nobody_else(cards: Cards) -> None:
    page = cards.page
    elsewhere = "https://elsewhere.example/x.js"

    def told(route: Route) -> None:
        route.fulfill(body="window.came = true;", content_type="text/javascript")

    page.route(SCRIPT, told)
    page.route(elsewhere, told)
    load = """address => new Promise((done) => {
      const script = document.createElement("script");
      script.onload = () => done("loaded");
      script.onerror = () => done("refused");
      script.src = address;
      document.head.append(script);
    })"""
    with served(cards.evening.app_server) as address:
        page.goto(f"{address}{cards.evening.path}")
        assert page.evaluate(load, SCRIPT) == "refused"
        cards.to_the_form(address)
        assert (page.evaluate(load, SCRIPT), page.evaluate(load, elsewhere)) == ("loaded", "refused")
