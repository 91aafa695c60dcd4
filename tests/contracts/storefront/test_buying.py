"""Buying without JavaScript: from the event to the tickets, and what is said where it does not work."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, MINUTE
from tests.contracts.checkout.shop_floor import ACCOUNT
from tests.contracts.storefront.browsing import Browser
from tests.contracts.storefront.conftest import REDUCED, STANDING, TIMES, Evening, an_evening

ADA = {"name": "Ada Lovelace", "email": "ada@lovelace.example"}
FREE = {"name": "Free entry", "price_cents": 0}


def chosen(evening: Evening, **counts: int) -> Browser:
    """A browser that has chosen so many tickets, and stands in the checkout."""
    browser = evening.browser()
    browser.get(evening.path)
    browser.send("/tickets", **counts)
    assert browser.path.endswith("/checkout"), browser.words[:400]
    return browser


def test_free_tickets_are_there_at_once(on_sale: Callable[..., Evening]) -> None:
    evening = on_sale(FREE)
    browser = chosen(evening, t1=2)
    assert "2 \N{MULTIPLICATION SIGN} Free entry" in browser.words and "Get the tickets" in browser.words
    words = browser.send("/checkout", **ADA)
    assert "Your tickets are here" in words and browser.text.count('class="shop-ticket-code"') == 3
    order = evening.order()
    assert (order["state"], order["buyer"]) == ("paid", ADA | {"locale": "en"})
    assert all(line["ticket"]["confirmation_code"] in words for line in order["lines"])
    links = dict(re.findall(r'href="(/o/marquee/orders/[^"]*/(tickets.pdf|calendar.ics))"', browser.text))
    answers = {kind: browser.client.get(path) for path, kind in links.items()}
    assert answers["tickets.pdf"].data.startswith(b"%PDF") and b"BEGIN:VEVENT" in answers["calendar.ics"].data
    (phone,) = re.findall(r'href="(/o/marquee/orders/[0-9a-f-]+#[0-9a-f]{64})"', browser.text)
    secret = phone.partition("#")[2]
    assert secret not in browser.path, "the secret is only ever behind the #"


def test_both_databases_sell(database_url: str, tmp_path: Path) -> None:
    server = AppServer(database_url, tmp_path)
    try:
        evening = an_evening(server, server.api(server.organisation("marquee")), FREE)
        assert "Your tickets are here" in chosen(evening, t1=2).send("/checkout", **ADA)
    finally:
        server.close()


def test_an_invoice_says_where_to_send_how_much(evening: Evening) -> None:
    browser = chosen(evening, t1=2, t2=1)
    assert "€93.00" in browser.words and "€6.09 tax included" in browser.words
    words = browser.send("/checkout", **ADA, method="invoice")
    order = evening.order()
    assert (order["state"], order["total_cents"], order["method"]) == ("pending", 9300, "invoice")
    assert "DE75 5121 0800 1245 1261 99" in words and order["number"] in words and 'class="qr"' in browser.text
    evening.api.post(f"/api/orders/{order['id']}/payments", {"method": "invoice", "reference": "1"}, 200)
    assert "Your tickets are here" in browser.get(browser.path)


def test_a_name_that_no_browser_would_send_is_stored_as_it_can_be_shown(on_sale: Callable[..., Evening]) -> None:
    evening = on_sale(FREE)
    typed = {"name": "Ada\r\nBcc: eve\t\N{RIGHT-TO-LEFT OVERRIDE}@x\x1b\0 ", "email": ADA["email"]}
    chosen(evening, t1=1).send("/checkout", **typed)
    assert evening.order()["buyer"]["name"] == "Ada Bcc: eve @x"
    browser = chosen(evening, t1=1)
    words = browser.send("/checkout", **ADA | {"name": "\N{ZERO WIDTH SPACE}"})
    assert "Enter the name for the order." in words


def test_mistakes_stand_beside_their_fields_and_what_was_typed_stays(evening: Evening) -> None:
    browser = chosen(evening, t1=1)
    words = browser.send("/checkout", name="Ada", email="ada at home", method="")
    assert "This is not an e-mail address" in words and "Choose how you pay" in words
    assert 'value="Ada"' in browser.text and 'value="ada at home"' in browser.text
    assert 'aria-describedby="email-hint email-error" aria-invalid="true"' in browser.text
    assert evening.api.get("/api/orders")["items"] == []
    assert browser.page is not None and browser.page.request.method == "GET", "nothing is sent again by a reload"
    assert "This is not an e-mail address" not in browser.get(browser.path), "it is said once"
    assert 'value="ada at home"' in browser.text
    assert "Please transfer" in browser.send("/checkout", **ADA, method="invoice")


def test_a_form_that_is_sent_twice_orders_once(evening: Evening) -> None:
    browser = chosen(evening, t1=1)
    form = next(form for form in browser.forms if form[0].endswith("/checkout"))
    data = form[1] | ADA | {"method": "invoice"}
    first, second = (browser.client.post(form[0], data=data) for _ in range(2))
    assert (first.status_code, first.headers["Location"]) == (second.status_code, second.headers["Location"])
    assert len(evening.api.get("/api/orders")["items"]) == 1


def test_nothing_chosen_and_too_many_are_said(evening: Evening) -> None:
    browser = evening.browser()
    browser.get(evening.path)
    assert "Choose at least one ticket" in browser.send("/tickets", 400)
    assert "An order can have 1 to 10" in browser.send("/tickets", 400, t1=11)
    assert 'value="11"' in browser.text


def test_what_somebody_else_was_quicker_for_is_said_and_nothing_is_held(on_sale: Callable[..., Evening]) -> None:
    evening = on_sale({**FREE, "quantity": 3}, capacity=3)
    quick, slow = chosen(evening, t1=2), evening.browser("203.0.113.9")
    slow.get(evening.path)
    assert "somebody was quicker" in slow.send("/tickets", 409, t1=2)
    assert 'name="t1" type="number"' in slow.text and "Checkout" in slow.send("/tickets", t1=1)
    assert "Your tickets are here" in quick.send("/checkout", **ADA)
    assert "Your tickets are here" in slow.send("/checkout", **ADA)


def test_other_numbers_replace_what_was_held_before(evening: Evening) -> None:
    browser = chosen(evening, t1=2)
    assert 'value="2"' in (browser.get(f"{evening.path}/tickets") and browser.text)
    browser.send("/tickets", t1=0, t2=3)
    assert "3 \N{MULTIPLICATION SIGN} Reduced" in browser.words and "Standing" not in browser.words
    guest = evening.api.get(f"/api/events/{evening.event['id']}")
    assert guest["tickets_issued"] == 0
    browser.send("/checkout/leave")
    assert "Nothing is reserved for you" in browser.get(f"{evening.path}/checkout", 409)


def test_time_that_has_run_out_is_said_and_more_time_can_be_asked_for(evening: Evening) -> None:
    browser = chosen(evening, t1=1)
    evening.app_server.advance(4 * MINUTE)
    browser.send("/checkout/extend")
    evening.app_server.advance(4 * MINUTE)
    assert "Kept for you until" in browser.get(f"{evening.path}/checkout")
    assert "I need more time" not in browser.words, "once"
    evening.app_server.advance(2 * MINUTE)
    assert "Nothing is reserved for you" in browser.send("/checkout", 409, **ADA, method="invoice")
    assert evening.api.get("/api/orders")["items"] == []


def test_whoever_finds_the_checkout_full_keeps_the_tickets_and_asks_again(evening: Evening) -> None:
    evening.api.put(f"/api/events/{evening.event['id']}/checkout", {"sessions": 1})
    first = chosen(evening, t1=1)
    second = evening.browser("203.0.113.9")
    second.get(evening.path)
    words = second.send("/tickets", 429, t1=1)
    assert "What you chose stays reserved" in words and 'http-equiv="refresh"' in second.text
    first.send("/checkout", **ADA, method="invoice")
    assert "1 \N{MULTIPLICATION SIGN} Standing" in second.get(f"{evening.path}/checkout")


def test_codes_open_and_cheapen_and_stand_in_no_address(evening: Evening) -> None:
    batch = {"kind": "discount", "name": "Friends", "codes": 1, "max_uses": 1, "percent": 10}
    path = f"/api/events/{evening.event['id']}/code-batches"
    evening.api.post(path, batch)
    code = evening.api.ask("GET", f"{path}/1/codes").text.split()[1]
    browser = evening.browser()
    browser.get(evening.path)
    assert "There is no such code" in browser.send("/tickets", 404, code="AAAA-BBBB-CCCC", use="code", t1=1)
    assert code in browser.send("/tickets", code=code, use="code", t1=1)
    browser.send("/tickets", t1=2)
    assert "Discount \N{MINUS SIGN}€7.00" in browser.words and code not in browser.path
    browser.send("/checkout", **ADA, method="invoice")
    assert evening.order()["discount_cents"] == 700


def test_forms_of_other_sites_and_without_a_token_change_nothing(evening: Evening) -> None:
    browser = evening.browser()
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        answer = browser.client.post(f"{evening.path}/tickets", data={"t1": "1"}, headers=headers)
        assert answer.status_code == 403 and "Set-Cookie" not in answer.headers
    browser = chosen(evening, t1=1)
    for path in ("/checkout", "/checkout/leave", "/checkout/extend"):
        assert browser.client.post(evening.path + path, data=ADA | {"method": "invoice"}).status_code == 403
    assert "1 \N{MULTIPLICATION SIGN} Standing" in browser.get(f"{evening.path}/checkout")


def test_an_order_is_only_its_buyers(evening: Evening) -> None:
    browser = chosen(evening, t1=1)
    browser.send("/checkout", **ADA, method="invoice")
    paths = [browser.path, *(browser.path.replace("confirmation", end) for end in ("pay", "tickets.pdf", "give-back"))]
    other = chosen(evening, t1=1)
    for path in paths:
        other.get(path, 404)
        assert ADA["email"] not in other.text and "There is no such" not in other.path


def test_an_order_that_is_given_up_says_what_stays(evening: Evening) -> None:
    browser = chosen(evening, t1=1)
    browser.send("/checkout", **ADA, method="invoice")
    assert "This order is cancelled" in browser.send("/cancel")
    assert "you owe nothing" in browser.words


def test_without_a_way_to_pay_nothing_can_be_ordered(on_sale: Callable[..., Evening]) -> None:
    browser = chosen(on_sale(STANDING), t1=1)
    assert "offers no way to pay" in browser.words and "Order and pay" not in browser.words


def test_german_is_spoken_to_the_end(evening: Evening) -> None:
    browser = evening.browser()
    browser.get(f"{evening.path}?lang=de")
    words = browser.send("/tickets", t1=1)
    assert "Zahlungspflichtig bestellen: 36,50 €" in words
    assert "Bitte überweisen Sie den Betrag" in browser.send("/checkout", **ADA, method="invoice")
    assert evening.order()["buyer"]["locale"] == "de"
    assert "Meine Tickets" in browser.get("/o/marquee/account"), "the choice is remembered"


def test_the_event_page_says_all_there_is_to_know(evening: Evening, api: ApiClient) -> None:
    browser = evening.browser()
    words = browser.get(evening.path)
    for said in (
        "Doors 17:00",
        "Starts 18:00 CEST",
        "Harbour Hall",
        "No <bottles>.",
        "Gate B.",
        "From €20.00",
        "€36.50",
    ):
        assert said in words, said
    assert '"@type":"Event"' in browser.text and '"price":"36.50"' in browser.text
    assert b"BEGIN:VEVENT" in browser.client.get(f"{evening.path}/calendar.ics").data


def test_an_event_takes_its_colour_from_its_cover_unless_the_organiser_chose_one(
    evening: Evening, api: ApiClient
) -> None:
    def accent() -> str:
        evening.app_server.parts.cache.invalidate_family("public", "shop")
        evening.app_server.run_worker()
        return re.findall(r'href="/accents/([0-9a-f]{6})[.]css', evening.browser().client.get(evening.path).text)[0]

    cover = io.BytesIO()
    Image.new("RGB", (1600, 900), "#c01030").save(cover, "PNG")
    path = f"/api/events/{evening.event['id']}/covers"
    assert api.client.post(path, data=cover.getvalue(), headers=api.headers).status_code == 201
    red, green, blue = bytes.fromhex(accent())
    assert (red > 180, green < 30, blue < 70) == (True, True, True)
    api.patch("/api/organisation/ticket-design", {"colour": "#0f766e"})
    assert accent() == "0f766e"


def test_every_status_is_said_at_once(on_sale: Callable[..., Evening], api: ApiClient) -> None:
    evening = on_sale(STANDING, REDUCED)
    path, browser = f"/api/events/{evening.event['id']}", evening.browser()

    def now(status: int = 200) -> str:
        evening.app_server.parts.cache.invalidate_family("public", "shop")
        return browser.get(evening.path, status)

    api.post(f"{path}/postpone", {"reason": "storm"}, 200)
    assert "Postponed" in now() and "no new date yet" in browser.words and "Continue" not in browser.words
    assert "Night Music · New date to be announced" in browser.text and "Add to calendar" not in browser.words
    (cover,) = {*re.findall(r'src="(/o/[^"]+/cover-[^"]+\.svg)"', browser.text)}
    assert "Night Music" in browser.client.get(cover).text and "2026" not in browser.client.get(cover).text
    assert '"EventPostponed"' in browser.text.replace("https://schema.org/", "")
    api.post(f"{path}/reschedule", {"rescheduled_at": evening.event["start_at"].replace("08-03", "08-20")}, 200)
    assert "Moved from Monday, 3 August 2026 to Thursday, 20 August 2026" in now()
    api.post(f"{path}/cancel", {"reason": "storm"}, 200)
    assert "Cancelled" in now(410) and "Continue" not in browser.words


def test_a_code_is_entered_on_the_page_before_the_sale_and_for_hidden_tickets(
    on_sale: Callable[..., Evening],
) -> None:
    later = TIMES["start_at"] - DAY
    for kind, said, times in (
        (FREE, "The sale has not begun yet", {"sale_start_at": later}),
        (FREE | {"hidden": True}, "sold with a code", {}),
    ):
        evening = on_sale(kind, name=said, **times)
        batch = {
            "kind": "presale",
            "name": "Friends",
            "codes": 1,
            "max_uses": 1,
            "ticket_types": [1],
            "opens_sale": True,
        }
        path = f"/api/events/{evening.event['id']}/code-batches"
        evening.api.post(path, batch)
        code = evening.api.ask("GET", f"{path}/1/codes").text.split()[1]
        browser = evening.browser()
        assert said in browser.get(evening.path) and "How many" not in browser.words
        assert "How many “Free entry”" in browser.send("/tickets", use="code", code=code)
        browser.send("/tickets", t1=2)
        assert browser.path.endswith("/checkout"), browser.words[:400]


def test_a_presale_code_in_several_browsers_serves_whoever_orders_first_and_tells_the_others(
    on_sale: Callable[..., Evening],
) -> None:
    evening = on_sale(FREE | {"hidden": True})
    path = f"/api/events/{evening.event['id']}/code-batches"
    evening.api.post(path, {"kind": "presale", "name": "Friends", "ticket_types": [1]})
    code = evening.api.ask("GET", f"{path}/1/codes").text.split()[1]
    first, second, third = (evening.browser() for _ in range(3))
    for browser in (first, second):
        browser.get(evening.path)
        browser.send("/tickets", use="code", code=code)
        browser.send("/tickets", t1=2)
    assert "Your tickets are here" in first.send("/checkout", **ADA)
    said = second.send("/checkout", 409, **ADA)
    assert "This code is used up" in said and "Your time ran out" not in said
    third.get(evening.path)
    assert "This code is used up" in third.send("/tickets", 409, use="code", code=code)


def test_a_discount_that_others_used_up_is_said_before_anything_is_ordered(on_sale: Callable[..., Evening]) -> None:
    evening = on_sale(STANDING)
    evening.api.patch("/api/organisation/checkout", ACCOUNT)
    path = f"/api/events/{evening.event['id']}/code-batches"
    evening.api.post(path, {"kind": "discount", "name": "Friends", "percent": 50})
    code = evening.api.ask("GET", f"{path}/1/codes").text.split()[1]
    first, second = evening.browser(), evening.browser()
    for browser in (first, second):
        browser.get(evening.path)
        browser.send("/tickets", use="code", code=code)
        browser.send("/tickets", t1=2)
    first.send("/checkout", **ADA, method="invoice")
    said = second.send("/checkout", **ADA, method="invoice")
    assert "This code is used up" in said and "€73.00" in said
    assert len(evening.api.get("/api/orders")["items"]) == 1
    second.send("/checkout", **ADA, method="invoice")
    assert len(evening.api.get("/api/orders")["items"]) == 2


def test_a_code_still_opens_hidden_tickets_when_all_others_are_sold(on_sale: Callable[..., Evening]) -> None:
    evening = on_sale(FREE | {"quantity": 2}, FREE | {"name": "For friends", "hidden": True})
    path = f"/api/events/{evening.event['id']}"
    evening.api.post(f"{path}/code-batches", {"kind": "presale", "name": "Friends", "ticket_types": [2]})
    code = evening.api.ask("GET", f"{path}/code-batches/1/codes").text.split()[1]
    evening.api.post(f"{path}/sales", {"places": [{"ticket_type": 1, "count": 2}], "method": "free"})
    browser = evening.browser()
    assert "All tickets are sold" in browser.get(evening.path)
    assert "All tickets are sold" in browser.get(f"{evening.path}/tickets") and "is closed" not in browser.words
    browser.get(evening.path)
    assert "How many “For friends”" in browser.send("/tickets", use="code", code=code)
    browser.send("/tickets", t2=1)
    assert "Your tickets are here" in browser.send("/checkout", **ADA)


def test_nothing_to_sell_is_said_in_the_list_and_on_the_page(on_sale: Callable[..., Evening]) -> None:
    evening = on_sale()
    browser = evening.browser()
    assert "No tickets here" in browser.get("/o/marquee")
    assert "There are no tickets for this event here" in browser.get(evening.path) and "Continue" not in browser.words


def test_tickets_that_come_later_say_when_and_those_that_are_over_say_so(on_sale: Callable[..., Evening]) -> None:
    now = TIMES["start_at"] - 30 * DAY
    over = FREE | {"name": "Early bird", "sale_start_at": now - 2 * DAY, "sale_end_at": now - DAY}
    evening = on_sale(over, FREE | {"name": "Regular", "sale_start_at": now + DAY})
    browser = evening.browser()
    assert "On sale from Sun, 5 Jul 2026, 18:00" in browser.get("/o/marquee"), browser.words
    said = browser.get(evening.path)
    assert "The sale has not begun yet" in said and "Continue" not in said
    assert said.count("On sale from Sun, 5 Jul 2026, 18:00") == 2, said
    evening.app_server.advance(DAY)
    evening.app_server.parts.cache.invalidate_family("public", "shop")
    assert "Early bird" in browser.get(evening.path) and "No longer on sale" in browser.words
    assert "How many “Regular”" in browser.words and "On sale from" not in browser.words


def test_where_only_some_tickets_are_free_the_dearest_is_named_too(on_sale: Callable[..., Evening]) -> None:
    evening = on_sale(FREE, STANDING)
    browser = evening.browser()
    assert "Free – €36.50" in browser.get("/o/marquee") and "Free – €36.50" in browser.get(evening.path)


def test_drafts_and_events_of_others_are_not_there(evening: Evening, api: ApiClient) -> None:
    api.post(f"/api/events/{evening.event['id']}/unpublish", {}, 200)
    evening.app_server.organisation("other")
    browser = evening.browser()
    evening.app_server.parts.cache.invalidate_family("public", "shop")
    for path in (evening.path, f"/o/other/events/{evening.event['id']}", "/o/marquee/events/nothing"):
        assert "no such event" in browser.get(path, 404), path


def test_a_server_without_mail_promises_none(sqlite_url: str, tmp_path: Path) -> None:
    server = AppServer(sqlite_url, tmp_path)
    try:
        evening = an_evening(server, server.api(server.organisation("marquee")), FREE)
        browser = chosen(evening, t1=1)
        assert "No mail is sent: your tickets are on the next page" in browser.words
        assert "No mail is sent: save them" in browser.send("/checkout", **ADA)
        confirmation = browser.path
        words = browser.get(confirmation.replace("confirmation", "pass-on"))
        assert "Tickets are passed on by mail, and this shop cannot send any" in words and "<form" not in browser.text
        browser.get(confirmation)
        for language, promise in {"de": "geschickt. Zeigen", "fr": "envoyés à", "af": "gestuur. Wys"}.items():
            browser.get(f"{browser.path}?lang={language}")
            assert promise not in browser.words and ADA["email"] not in browser.words, language
        warnings = evening.api.get("/api/organisation/checkout")["warnings"]
        assert "no_mail" in [each["code"] for each in warnings]
    finally:
        server.close()
