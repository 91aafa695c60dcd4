"""Events of several days in the shop, without JavaScript: days are chosen, and named until the ticket is there."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, a_ticket_type
from tests.contracts.checkout.shop_floor import ACCOUNT
from tests.contracts.holds.seated_event import a_seated_event
from tests.contracts.storefront.browsing import Browser
from tests.contracts.storefront.conftest import Evening

ADA = {"name": "Ada Lovelace", "email": "ada@lovelace.example"}
MONDAY, TUESDAY, WEDNESDAY = "2026-08-03", "2026-08-04", "2026-08-05"
PASS = {"name": "Pass", "price_cents": 9000, "quantity": 20}
TUESDAY_ONLY = {"name": "Tuesday", "price_cents": 4000, "quantity": 12, "valid_days": [2]}
TIMES = {"start_at": EVENING + 30 * DAY, "end_at": EVENING + 32 * DAY + 2 * HOUR, "doors_at": None}


@pytest.fixture
def festival(on_sale: Callable[..., Evening], api: ApiClient) -> Evening:
    """Three days, a pass for all of them, and a ticket for the second."""
    api.patch("/api/organisation/checkout", ACCOUNT)
    return on_sale(PASS, TUESDAY_ONLY, **TIMES)


def at(evening: Evening, **headers: str) -> Browser:
    """A browser at the page of the event."""
    browser = evening.browser()
    browser.get(evening.path, **headers)
    return browser


def tickets_of(evening: Evening) -> list[tuple[int, list[int]]]:
    """The tickets by their type, with their days."""
    items = evening.api.get(f"/api/events/{evening.event['id']}/tickets")["items"]
    return sorted((ticket["ticket_type"], ticket["valid_days"]) for ticket in items)


def days_ordered(evening: Evening) -> list[tuple[str, list[str]]]:
    return [(line["ticket_type_name"], line["days"]) for line in evening.order()["lines"]]


def test_each_type_says_its_days_and_what_is_left_on_each(festival: Evening) -> None:
    browser = at(festival)
    assert "Mon 3 Aug 20 left Tue 4 Aug 20 left Wed 5 Aug 20 left" in browser.words
    assert "Tuesday Tue 4 Aug 12 left" in browser.words
    assert browser.text.count('type="checkbox" name="d1"') == 3 and 'name="d2"' not in browser.text
    assert browser.text.count(" checked>") == 3, "where a day has a ticket of its own, the other is for all of them"


def test_a_pass_and_a_day_ticket_keep_their_days_to_the_end(festival: Evening) -> None:
    browser = at(festival)
    browser.send("/tickets", d1=[MONDAY, TUESDAY, WEDNESDAY], t1=1, t2=2)
    assert "1 \N{MULTIPLICATION SIGN} Pass 3 Aug 2026 – 5 Aug 2026 €90.00" in browser.words
    assert "2 \N{MULTIPLICATION SIGN} Tuesday Tuesday, 4 August 2026 €80.00" in browser.words
    browser.send("/checkout", **ADA, method="invoice")
    assert "Tuesday, 4 August 2026" in browser.words
    assert days_ordered(festival) == [("Pass", [MONDAY, TUESDAY, WEDNESDAY]), *[("Tuesday", [TUESDAY])] * 2]
    order = festival.order()
    festival.api.post(f"/api/orders/{order['id']}/payments", {"method": "invoice", "reference": "1"}, 200)
    assert tickets_of(festival) == [(1, []), (2, [2]), (2, [2])]


def test_some_days_of_a_type_are_held_and_ordered_alone(festival: Evening) -> None:
    browser = at(festival)
    browser.send("/tickets", d1=[MONDAY, WEDNESDAY], t1=2)
    assert "2 \N{MULTIPLICATION SIGN} Pass 3 Aug 2026 · 5 Aug 2026" in browser.words
    browser.get(f"{festival.path}/tickets")
    ticked = [day for day in (MONDAY, TUESDAY, WEDNESDAY) if f'value="{day}" data-left="20" checked' in browser.text]
    assert ticked == [MONDAY, WEDNESDAY], "as they were chosen"
    browser.send("/tickets", d1=[TUESDAY], t1=2)
    browser.send("/checkout", **ADA, method="invoice")
    assert days_ordered(festival) == [("Pass", [TUESDAY])] * 2, "instead of the days before"
    assert "Mon 3 Aug 20 left Tue 4 Aug 18 left" in fresh(festival).words


def fresh(evening: Evening) -> Browser:
    """A browser that sees the event as it is now."""
    evening.app_server.parts.cache.invalidate_family("public", "shop")
    return at(evening)


def test_a_full_day_leaves_the_others_on_sale(on_sale: Callable[..., Evening]) -> None:
    festival = on_sale({"name": "Day", "price_cents": 0, "quantity": 2}, **TIMES)
    browser = at(festival)
    browser.send("/tickets", d1=[MONDAY], t1=2)
    browser.send("/checkout", **ADA)
    later = fresh(festival)
    assert "Mon 3 Aug Sold out Tue 4 Aug 2 left" in later.words
    assert "are left on Monday, 3 August 2026" in later.send("/tickets", 409, d1=[MONDAY, TUESDAY], t1=1)
    later.send("/tickets", d1=[TUESDAY], t1=2)
    assert "Your tickets are here" in later.send("/checkout", **ADA)
    assert tickets_of(festival) == [(1, [1])] * 2 + [(1, [2])] * 2
    offers = later.client.get(f"/api/o/marquee/events/{festival.event['id']}/ticket-types").json
    assert offers is not None and offers["items"][0]["left"] == 2
    assert offers["items"][0]["left_by_day"] == {MONDAY: 0, TUESDAY: 0, WEDNESDAY: 2}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Choose the days on which you use “Day”"),
        ("de", "Wählen Sie die Tage, an denen „Day“ gelten soll"),
        ("fr", "Choisissez les jours pour lesquels « Day » doit être valable"),
        ("af", "Kies die dae waarop “Day” moet geld"),
    ],
)
def test_whoever_chooses_no_day_is_asked_for_one(on_sale: Callable[..., Evening], language: str, said: str) -> None:
    festival = on_sale({"name": "Day", "price_cents": 0}, **TIMES)
    browser = festival.browser()
    browser.get(f"{festival.path}?lang={language}")
    assert said in browser.send("/tickets", 400, t1=1, d1=[])
    assert " checked" not in browser.text and 'value="1"' in browser.text


def test_a_seat_is_offered_as_what_is_for_the_days_on_which_it_is_held(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, **TIMES | {"sale_end_at": EVENING + 29 * DAY})
    sale.api.patch("/api/organisation/checkout", ACCOUNT)
    zone = next(zone["event_zone"] for zone in sale.api.get(f"{sale.path}/layout")["zones"] if zone["name"] != "Floor")
    for name, days in (("Any day", []), ("First day", [1]), ("Second day", [2])):
        sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(name=name, zone=zone, valid_days=days))
    browser = Browser.at(app_server)
    path = f"/o/{sale.slug}/events/{sale.event['slug']}"
    browser.get(f"{path}/seats")
    assert f'<option value="{TUESDAY}">Tue 4 Aug</option>' in browser.text and "All days" in browser.words
    begun = browser.client.post(f"/api/o/{sale.slug}/session").json
    assert begun is not None
    guest = ApiClient(browser.client, {"X-CSRF-Token": begun["csrf_token"]})
    sale.reserve(guest, "A-1", days=[TUESDAY])
    browser.get(f"{path}/checkout")
    assert re.findall(r"<option[^>]*>([^<,]*)", browser.text) == ["Any day", "Second day"]
    assert "Tuesday, 4 August 2026" in browser.words


def test_an_event_of_one_day_asks_for_none(evening: Evening) -> None:
    assert "type-days" not in at(evening).text and "type-day" not in at(evening).text
    browser = at(evening)
    browser.send("/tickets", t1=1)
    browser.send("/checkout", **ADA, method="invoice")
    assert days_ordered(evening) == [("Standing", [])]
