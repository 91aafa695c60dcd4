"""Customers sign in at a shop: by a link, a password or not at all; their guest session's things go along."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sync_server.accounts.public_routes import PUBLIC_ROUTES, Audience
from sync_server.privacy import erasing
from sync_server.privacy.people import Wanted
from tests.app_server import ApiClient, AppServer
from tests.builders import HOUR, MINUTE
from tests.contracts.checkout.shop_floor import Shop, a_shop
from tests.contracts.customers.people import ADA, a_code, a_customer, by_link
from tests.services.mail_server import MailBox

ACCOUNT = "/api/o/marquee/account"
HERS = "correct horse battery"


@pytest.fixture
def app_server(database_url: str, tmp_path: Path, mail_box: MailBox) -> Iterator[AppServer]:
    """A server that can send mail."""
    settings = {"mail_url": mail_box.url, "base_url": "https://gate.example"}
    made = AppServer(database_url, tmp_path, **settings)
    yield made
    made.close()


@pytest.fixture
def shop(app_server: AppServer) -> Shop:
    return a_shop(app_server)


def organisation_of(shop: Shop) -> str:
    (found,) = shop.sale.rows("SELECT organisation_id FROM events WHERE id = :event", event=shop.sale.id)
    return str(found[0])


def test_a_link_arrives_signs_in_once_and_stands_where_no_log_sees_it(
    app_server: AppServer, shop: Shop, mail_box: MailBox
) -> None:
    browser = app_server.app.test_client()
    asked = browser.post(f"{ACCOUNT}/link", json={"email": " Ada@Buyers.example ", "locale": "de"})
    assert asked.status_code == 202
    app_server.run_worker()
    (mail,) = mail_box.arrived
    assert (mail["To"], mail["Subject"]) == (ADA, "Anmelden bei Marquee")
    base, _, code = mail_box.link().partition("#")
    assert base == "https://gate.example/o/marquee/sign-in" and "?" not in base
    first = by_link(browser, code)
    assert (first.status_code, first.json["email"]) == (200, ADA)
    cookies = first.headers.getlist("Set-Cookie")
    assert all("HttpOnly" in cookie and "SameSite=Lax" in cookie for cookie in cookies)
    again = by_link(app_server.app.test_client(), code)
    assert (again.status_code, again.json["error"]["code"]) == (404, "link_ended")
    assert browser.get(ACCOUNT).json["id"] == first.json["id"]


def test_asking_for_a_link_tells_nothing_about_an_address(app_server: AppServer, shop: Shop, mail_box: MailBox) -> None:
    a_customer(app_server, organisation_of(shop))
    browser = app_server.app.test_client()
    known, unknown = (
        browser.post(f"{ACCOUNT}/link", json={"email": email}) for email in (ADA, "nobody@buyers.example")
    )
    assert (known.status_code, known.json) == (unknown.status_code, unknown.json)
    app_server.run_worker()
    subjects = {mail["To"]: mail["Subject"] for mail in mail_box.arrived}
    assert len(subjects) == 2 and len(set(subjects.values())) == 1


def test_a_mailbox_is_not_flooded_and_its_owner_not_told_apart(
    app_server: AppServer, shop: Shop, mail_box: MailBox
) -> None:
    browser = app_server.app.test_client()
    answers = {browser.post(f"{ACCOUNT}/link", json={"email": ADA}).get_data() for _ in range(9)}
    assert len(answers) == 1
    app_server.run_worker()
    assert len(mail_box.arrived) == 4


def test_a_link_ends(app_server: AppServer, shop: Shop) -> None:
    code = a_code(app_server, organisation_of(shop))
    app_server.advance(31 * MINUTE)
    assert by_link(app_server.app.test_client(), code).status_code == 404


def test_a_link_opens_no_other_shop(app_server: AppServer, shop: Shop) -> None:
    app_server.organisation("tent")
    code = a_code(app_server, organisation_of(shop))
    assert by_link(app_server.app.test_client(), code, "tent").status_code == 404
    ada = a_customer(app_server, organisation_of(shop))
    assert ada.refused("GET", "/api/o/tent/account") == (401, "not_signed_in")


def test_what_a_guest_has_held_and_ordered_goes_along(app_server: AppServer, shop: Shop) -> None:
    guest = shop.guest()
    before = shop.order(guest, "A-1")
    hold = shop.hold(guest, "A-2")
    ada = a_customer(app_server, organisation_of(shop), client=guest.client)
    after = guest.post(shop.orders_path, {"holds": hold})
    owned = dict(shop.sale.rows("SELECT id, customer_id FROM orders"))
    me = ada.get(ACCOUNT)["id"]
    assert owned == {before["id"]: me, after["id"]: me}


def test_an_order_with_the_same_address_is_claimed_when_its_owner_signs_in(app_server: AppServer, shop: Shop) -> None:
    theirs = shop.order(shop.guest(), "A-1", buyer={"email": "Ada@Buyers.example"})
    other = shop.order(shop.guest(), "A-2", buyer={"email": "bob@buyers.example"})
    me = a_customer(app_server, organisation_of(shop)).get(ACCOUNT)["id"]
    owned = dict(shop.sale.rows("SELECT id, customer_id FROM orders"))
    assert owned == {theirs["id"]: me, other["id"]: None}


def test_signing_out_leaves_nothing_for_the_next_at_this_browser(app_server: AppServer, shop: Shop) -> None:
    guest = shop.guest()
    shop.hold(guest, "A-1")
    ada = a_customer(app_server, organisation_of(shop), client=guest.client)
    assert ada.ask("DELETE", f"{ACCOUNT}/session").status_code == 204
    assert ada.refused("GET", ACCOUNT) == (401, "not_signed_in")
    assert guest.client.get("/api/o/marquee/session").status_code == 401
    assert shop.sale.rows("SELECT status FROM holds") == [("cancelled",)]


def test_a_password_is_optional_and_guessing_it_slows_down_only_who_guesses(app_server: AppServer, shop: Shop) -> None:
    home = {"environ_base": {"REMOTE_ADDR": "9.9.9.9"}}
    ada = a_customer(app_server, organisation_of(shop))
    assert ada.ask("POST", f"{ACCOUNT}/password", {"password": HERS}).status_code == 204
    path, right = f"{ACCOUNT}/session/password", {"email": ADA, "password": HERS}
    thief = app_server.app.test_client()
    for _ in range(5):
        assert thief.post(path, json=right | {"password": "wrong"}).status_code == 401
    waiting = thief.post(path, json=right)
    assert waiting.status_code == 429 and int(waiting.headers["Retry-After"]) > 0
    assert app_server.app.test_client().post(path, json=right, **home).status_code == 200
    assert ada.client.post(path, json=right).status_code == 200, "a known browser does not wait for the thief"


def test_an_address_without_a_password_is_refused_like_an_unknown_one(app_server: AppServer, shop: Shop) -> None:
    a_customer(app_server, organisation_of(shop))
    browser = app_server.app.test_client()
    answers = [
        browser.post(f"{ACCOUNT}/session/password", json={"email": email, "password": "anything"})
        for email in (ADA, "nobody@buyers.example")
    ]
    errors = [{k: v for k, v in answer.json["error"].items() if k != "request_id"} for answer in answers]
    assert errors[0] == errors[1] and errors[0]["code"] == "bad_credentials"


def test_a_password_is_not_changed_by_whoever_finds_an_old_session(app_server: AppServer, shop: Shop) -> None:
    ada = a_customer(app_server, organisation_of(shop))
    ada.ask("POST", f"{ACCOUNT}/password", {"password": HERS})
    app_server.advance(HOUR)
    assert ada.refused("POST", f"{ACCOUNT}/password", {"password": "another one here"}) == (403, "bad_password")
    changed = ada.ask("POST", f"{ACCOUNT}/password", {"password": "another one here", "current_password": HERS})
    assert changed.status_code == 204


def test_sessions_are_listed_and_ended(app_server: AppServer, shop: Shop) -> None:
    phone, laptop = (a_customer(app_server, organisation_of(shop)) for _ in range(2))
    items = laptop.get(f"{ACCOUNT}/sessions")["items"]
    assert [item["current"] for item in items].count(True) == 1 and len(items) == 2
    lost = next(item for item in items if not item["current"])
    assert laptop.ask("DELETE", f"{ACCOUNT}/sessions/{lost['id']}").status_code == 204
    assert phone.refused("GET", ACCOUNT) == (401, "not_signed_in")
    bob = a_customer(app_server, organisation_of(shop), "bob@buyers.example")
    assert bob.refused("DELETE", f"{ACCOUNT}/sessions/{items[0]['id']}") == (404, "session_not_found")


def test_requests_that_change_something_need_the_token_of_the_session(app_server: AppServer, shop: Shop) -> None:
    ada = a_customer(app_server, organisation_of(shop))
    forged = ApiClient(ada.client, {})
    assert forged.refused("PATCH", ACCOUNT, {"name": "Eve"}) == (403, "bad_csrf")
    assert ada.patch(ACCOUNT, {"name": "Ada Lovelace"})["name"] == "Ada Lovelace"


def test_a_body_that_is_no_object_changes_nothing(app_server: AppServer, shop: Shop) -> None:
    ada, asked = a_customer(app_server, organisation_of(shop)), 0
    document = ada.get("/openapi.json")
    for rule in app_server.app.url_map.iter_rules():
        public = PUBLIC_ROUTES.get(rule.endpoint)
        if public is None or public.who is not Audience.CUSTOMER:
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for method, operation in document["paths"][path].items():
            if "requestBody" in operation:
                url = rule.rule.replace("<slug>", "marquee").replace("<ticket_id>", "0" * 16)
                for body in (b"null", b"[]", b"17"):
                    sent = {**ada.headers, "Content-Type": "application/json"}
                    answer = ada.client.open(url, method=method.upper(), data=body, headers=sent)
                    assert answer.status_code == 400, f"{method} {url} {body!r}: {answer.status_code}"
                    asked += 1
    assert asked > 10


def test_two_tabs_do_not_overwrite_each_other(app_server: AppServer, shop: Shop) -> None:
    ada = a_customer(app_server, organisation_of(shop))
    seen = ada.get(ACCOUNT)["etag"]
    ada.patch(ACCOUNT, {"name": "Ada"})
    late = ada.ask("PATCH", ACCOUNT, {"name": "Lovelace"}, **{"If-Match": f'"{seen}"'})
    assert late.status_code == 412


def test_staff_who_are_signed_in_in_the_same_browser_do_not_get_in_the_way(app_server: AppServer, shop: Shop) -> None:
    app_server.user("olga@marquee.example", organisation_of(shop), "owner")
    olga = app_server.browser("olga@marquee.example")
    ada = a_customer_beside(app_server, shop, olga)
    assert ada.patch(ACCOUNT, {"name": "Ada"})["name"] == "Ada"
    assert olga.get("/api/session")["kind"] == "user"


def a_customer_beside(app_server: AppServer, shop: Shop, staff: ApiClient) -> ApiClient:
    """A customer who signs in in a browser where staff are signed in, too."""
    code = a_code(app_server, organisation_of(shop))
    response = staff.ask("POST", f"{ACCOUNT}/session/link", {"code": code})
    assert response.json is not None and response.status_code == 200
    return ApiClient(staff.client, {"X-CSRF-Token": response.json["csrf_token"]})


def test_a_customer_who_is_erased_is_signed_out_and_leaves_a_pseudonym(app_server: AppServer, shop: Shop) -> None:
    order = shop.order(shop.guest(), "A-1", buyer={"email": ADA, "name": "Ada"})
    shop.note(order)
    ada = a_customer(app_server, organisation_of(shop))
    ada.patch(ACCOUNT, {"name": "Ada"})
    exported = shop.api.post("/api/people/export", {"email": ADA}, 200)["records"]
    assert {"customers", "customer_sessions", "orders"} <= exported.keys()
    wanted, context = Wanted(email=ADA), app_server.context()
    where = app_server.database, organisation_of(shop)
    erased = erasing.erase(*where, wanted, app_server.parts.sealer, context, reason="asked for")
    assert erased["customers"] == 1 and erased["orders"] == 1
    assert ada.refused("GET", ACCOUNT) == (401, "not_signed_in")
    assert shop.sale.rows("SELECT email, name FROM customers") == [(None, "")]
    assert shop.sale.rows("SELECT id, buyer_email FROM orders") == [(order["id"], "")]
    assert a_customer(app_server, organisation_of(shop)).get(ACCOUNT)["name"] == ""
