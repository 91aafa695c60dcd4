"""What buyers do later: sign in by a mailed link, find their tickets, pass one on, give them back, wait for places."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from PIL import Image

from tests.app_server import ApiClient
from tests.contracts.storefront.browsing import Browser
from tests.contracts.storefront.conftest import Evening
from tests.services.mail_server import MailBox

ADA = {"name": "Ada Lovelace", "email": "ada@lovelace.example"}
BOB = "bob@friends.example"
FREE = {"name": "Free entry", "price_cents": 0}


@pytest.fixture
def bought(on_sale: Callable[..., Evening]) -> tuple[Evening, Browser]:
    """Ada's browser, which has just got two tickets."""
    evening = on_sale(FREE)
    browser = evening.browser()
    browser.get(evening.path)
    browser.send("/tickets", t1=2)
    browser.send("/checkout", **ADA)
    return evening, browser


def link(evening: Evening, box: MailBox, path: str) -> str:
    """What stands behind the # of the last link to this page that was mailed."""
    for _ in range(2):
        evening.app_server.run_worker()
    bodies = [str(body.get_content()) for mail in box.arrived if (body := mail.get_body(("plain",))) is not None]
    found = [word for text in bodies for word in text.split() if f"/o/marquee/{path}#" in word]
    return found[-1].partition("#")[2]


def signed_in(evening: Evening, box: MailBox, browser: Browser, email: str) -> Browser:
    """The browser, after its owner has opened the mailed link in it."""
    browser.get("/o/marquee/sign-in")
    assert "a link is on its way" in browser.send("/sign-in", email=email)
    browser.get("/o/marquee/sign-in")
    browser.send("/sign-in/code", code=link(evening, box, "sign-in"))
    return browser


def show_logo(evening: Evening) -> None:
    """The organiser uploads a logo."""
    out = io.BytesIO()
    Image.new("RGB", (300, 100), "#0f766e").save(out, "PNG")
    path, api = "/api/organisation/ticket-design/logo", evening.api
    assert api.client.put(path, data=out.getvalue(), headers=api.headers).status_code == 200
    evening.app_server.parts.cache.invalidate_family("public", "shop")


def assert_logo_on_tickets(browser: Browser, count: int) -> None:
    """So many tickets of the page have the organiser's logo, which can be fetched."""
    sources = re.findall(r'class="shop-ticket-logo"><img src="([^"]+)" alt="Marquee"', browser.text)
    assert len(sources) == count
    assert {browser.client.get(each).mimetype for each in sources} == {"image/png"}


def test_orders_of_this_browser_are_found_without_signing_in(bought: tuple[Evening, Browser]) -> None:
    evening, browser = bought
    assert evening.order()["number"] in browser.get("/o/marquee/account")
    assert "No tickets yet" in evening.browser("203.0.113.9").get("/o/marquee/account")


def test_a_guest_becomes_a_customer_and_finds_the_tickets_anywhere(
    bought: tuple[Evening, Browser], mail_box: MailBox
) -> None:
    evening, browser = bought
    signed_in(evening, mail_box, browser, ADA["email"])
    assert browser.path.endswith("/account") and browser.words.count("Free entry") == 2
    elsewhere = signed_in(evening, mail_box, evening.browser("203.0.113.9"), ADA["email"])
    assert elsewhere.words.count("Free entry") == 2 and f"Signed in as {ADA['email']}" in elsewhere.words
    elsewhere.get(f"/o/marquee/orders/{evening.order()['id']}/confirmation")
    assert elsewhere.text.count("shop-ticket-code") == 3, "and one for all"
    elsewhere.get("/o/marquee/account")
    elsewhere.send("/sign-out")
    assert "No tickets yet" in elsewhere.get("/o/marquee/account")


def test_a_link_works_once_and_says_so(bought: tuple[Evening, Browser], mail_box: MailBox) -> None:
    evening, browser = bought
    signed_in(evening, mail_box, browser, ADA["email"])
    browser.get("/o/marquee/sign-in")
    assert "This link has been used" in browser.send("/sign-in/code", 404, code=link(evening, mail_box, "sign-in"))
    assert "not an e-mail address" in browser.send("/sign-in", 400, email="ada")


def test_a_customer_who_buys_is_known_in_the_checkout(bought: tuple[Evening, Browser], mail_box: MailBox) -> None:
    evening, browser = bought
    signed_in(evening, mail_box, browser, ADA["email"])
    browser.get(evening.path)
    browser.send("/tickets", t1=1)
    assert f'value="{ADA["email"]}"' in browser.text and "No account needed" not in browser.words


def test_a_ticket_is_passed_on_and_the_giver_has_no_code_any_more(
    bought: tuple[Evening, Browser], mail_box: MailBox
) -> None:
    evening, browser = bought
    show_logo(evening)
    order = evening.order()
    at = f"/o/marquee/orders/{order['id']}"
    given = order["lines"][0]["ticket"]
    browser.get(f"{at}/pass-on")
    assert "Choose" not in browser.send("/pass-on", 400, ticket=given["id"], email="bob")
    assert f"on its way to {BOB}" in browser.send("/pass-on", ticket=given["id"], email=BOB)
    friend = evening.browser("203.0.113.9")
    friend.get("/o/marquee/ticket")
    assert "Somebody passes a ticket on" in friend.send("/ticket", code=link(evening, mail_box, "ticket"))
    assert "Enter the name" in friend.send("/ticket/accept", 400, name="")
    words = friend.send("/ticket/accept", name="Bob Hope")
    assert "The ticket is yours" in words and given["confirmation_code"] in words
    assert_logo_on_tickets(friend, 1)
    browser.get(f"{at}/confirmation")
    assert browser.text.count("shop-ticket-code") == 1 and given["confirmation_code"] not in browser.words
    assert_logo_on_tickets(browser, 1)
    signed_in(evening, mail_box, friend, BOB)
    assert "Passed on to you" in friend.words
    (path,) = {part.split('"')[0] for part in friend.text.split('href="') if part.startswith("/o/marquee/account/tic")}
    friend.get(path)
    assert "shop-ticket-code" in friend.text
    assert_logo_on_tickets(friend, 1)


def test_an_offer_is_taken_back_or_declined(bought: tuple[Evening, Browser], mail_box: MailBox) -> None:
    evening, browser = bought
    order = evening.order()
    first, second = (line["ticket"]["id"] for line in order["lines"])
    browser.get(f"/o/marquee/orders/{order['id']}/pass-on")
    browser.send("/pass-on", ticket=first, email=BOB)
    code = link(evening, mail_box, "ticket")
    friend = evening.browser("203.0.113.9")
    friend.get("/o/marquee/ticket")
    friend.send("/ticket", code=code)
    browser.get(f"/o/marquee/orders/{order['id']}/pass-on")
    browser.send("/pass-on/withdraw", ticket=first)
    assert "This link has been used or withdrawn" in friend.send("/ticket/accept", 404, name="Bob Hope")
    assert "This link has been used or withdrawn" in friend.send("/ticket", 404, code=code)
    browser.send("/pass-on", ticket=second, email=BOB)
    friend.send("/ticket", code=link(evening, mail_box, "ticket"))
    assert "Declined" in friend.send("/ticket/decline")


def test_tickets_are_given_back_where_the_organiser_allows_it(bought: tuple[Evening, Browser], api: ApiClient) -> None:
    evening, browser = bought
    at = f"/o/marquee/orders/{evening.order()['id']}"
    browser.get(f"{at}/confirmation")
    assert "/give-back" not in browser.text
    assert "cannot be given back" in browser.get(f"{at}/give-back", 409)
    api.patch("/api/organisation/self-service", {"cancellations": True})
    browser.get(f"{at}/confirmation")
    assert f"{at}/give-back" in browser.text
    words = browser.get(f"{at}/give-back")
    assert "Free entry NIGHTMUS-1 Free entry NIGHTMUS-2" in words, "which they are"
    assert "Give 2 tickets back" in words and "\N{EURO SIGN}0.00" not in words
    assert "This order is refunded" in browser.send("/give-back")


def test_who_waits_is_told_the_place_and_takes_what_comes_back(
    on_sale: Callable[..., Evening], api: ApiClient, mail_box: MailBox
) -> None:
    evening = on_sale({**FREE, "quantity": 2}, capacity=2)
    event = f"/api/events/{evening.event['id']}"
    sold = api.post(f"{event}/sales", {"places": [{"ticket_type": 1, "count": 2}], "method": "free"})
    api.put(f"{event}/waiting-list", {"open": True, "offer_minutes": 60})
    evening.app_server.parts.cache.invalidate_family("public", "shop")
    browser = evening.browser()
    assert "Everything is sold" in browser.get(evening.path)
    assert "You get a mail when there are places" in browser.words, "this server can send mail"
    assert "Place in the list: 1" in browser.send("/waiting", size=2, email=ADA["email"])
    api.post(f"/api/orders/{sold['id']}/refunds", {"method": "free", "lines": [1, 2]}, 200)
    for _ in range(3):
        evening.app_server.run_worker()
    assert "There are places for you" in browser.get(browser.path)
    elsewhere = evening.browser("203.0.113.9")
    elsewhere.get("/o/marquee/waiting")
    elsewhere.send("/waiting", code=link(evening, mail_box, "waiting"))
    elsewhere.send("/waiting/take")
    assert elsewhere.path.endswith("/checkout") and "Get the tickets" in elsewhere.words
    assert "Your tickets are here" in elsewhere.send("/checkout", **ADA)
