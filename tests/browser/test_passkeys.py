"""Passkeys, made and used by a real browser with a virtual authenticator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import text

from scripts.processes.ports import free_port
from tests.app_server import ApiClient, AppServer
from tests.browser.authenticator import checks_its_owner
from tests.browser.page_width import assert_fits_width
from tests.builders import MINUTE
from tests.contracts.customers.people import ADA, a_code, a_customer
from tests.served_app import listening
from tests.services.axe import violations
from tests.staff import PASSWORD

OLGA = "olga@marquee.example"
CREATE = """async (options) => (await navigator.credentials.create({
    publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })).toJSON()"""
GET = """async (options) => (await navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })).toJSON()"""


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server at an address to which passkeys can be bound: browsers take localhost for secure."""
    port = free_port()
    made = AppServer(sqlite_url, tmp_path, base_url=f"http://localhost:{port}")
    with listening(made.app, port):
        yield made
    made.close()


@pytest.fixture
def page(browser_page: Page, app_server: AppServer) -> Page:
    """A page of the server, in a browser that checks its owner."""
    checks_its_owner(browser_page)
    browser_page.goto(f"{app_server.parts.config.base_url}/admin/login")
    return browser_page


@pytest.fixture
def olga(app_server: AppServer) -> ApiClient:
    app_server.user(OLGA, app_server.organisation("marquee"), "owner")
    return app_server.browser(OLGA)


def made(page: Page, api: ApiClient) -> Any:
    """What the browser answers when it is asked to make a passkey."""
    options = api.post("/api/passkeys/options", {"password": PASSWORD}, 200)["publicKey"]
    return page.evaluate(CREATE, options)


def registered(page: Page, api: ApiClient) -> Any:
    """A new passkey."""
    return api.post("/api/passkeys", {"name": "Laptop", "credential": made(page, api)})


def anybody(app_server: AppServer) -> ApiClient:
    return ApiClient(app_server.app.test_client(), {})


def shown(page: Page, api: ApiClient) -> Any:
    """What the browser answers when it is asked for a passkey."""
    return page.evaluate(GET, api.post("/api/session/passkey/options", {}, 200)["publicKey"])


def test_a_passkey_signs_in_instead_of_password_and_second_factor(
    page: Page, app_server: AppServer, olga: ApiClient
) -> None:
    made = registered(page, olga)
    stranger = anybody(app_server)
    answer = {"credential": shown(page, stranger)}
    stranger.post("/api/session/passkey", answer, 200)
    assert stranger.get("/api/session")["name"] == "olga"
    (listed,) = olga.get("/api/passkeys")["items"]
    assert (listed["id"], listed["name"]) == (made["id"], "Laptop") and listed["used_at"]
    assert olga.ask("DELETE", f"/api/passkeys/{made['id']}").status_code == 204
    again = {"credential": shown(page, anybody(app_server))}
    assert anybody(app_server).refused("POST", "/api/session/passkey", again) == (401, "bad_passkey")


def test_an_answer_counts_once_in_time_and_for_what_was_asked(
    page: Page, app_server: AppServer, olga: ApiClient
) -> None:
    registered(page, olga)
    refused = (401, "bad_passkey")
    answer = {"credential": shown(page, anybody(app_server))}
    assert anybody(app_server).ask("POST", "/api/session/passkey", answer).status_code == 200
    with app_server.database.writing() as session:
        session.execute(text("UPDATE passkeys SET sign_count = 0"))  # many authenticators do not count
    assert anybody(app_server).refused("POST", "/api/session/passkey", answer) == refused
    late = {"credential": shown(page, anybody(app_server))}
    app_server.advance(5 * MINUTE)
    assert anybody(app_server).refused("POST", "/api/session/passkey", late) == refused
    for_more = olga.post("/api/passkeys/options", {"password": PASSWORD}, 200)["publicKey"]
    misled = page.evaluate(GET, {"challenge": for_more["challenge"], "userVerification": "required"})
    assert anybody(app_server).refused("POST", "/api/session/passkey", {"credential": misled}) == refused
    for odd in ({}, {"id": "x"}, {**answer["credential"], "response": {}}, {**answer["credential"], "rawId": "AA"}):
        assert anybody(app_server).refused("POST", "/api/session/passkey", {"credential": odd}) == refused


def test_a_passkey_is_made_only_by_its_owner_and_here(page: Page, app_server: AppServer, olga: ApiClient) -> None:
    app_server.user("eve@marquee.example", app_server.organisation("rivals"))
    eve = app_server.browser("eve@marquee.example")
    assert eve.refused("POST", "/api/passkeys/options", {"password": "a wrong guess"}) == (403, "bad_password")
    olgas = {"name": "Laptop", "credential": made(page, olga)}
    assert eve.refused("POST", "/api/passkeys", olgas) == (400, "bad_passkey")
    object.__setattr__(app_server.parts.config, "base_url", "https://elsewhere.example")
    assert olga.refused("POST", "/api/passkeys", olgas) == (400, "bad_passkey")
    passkeys = olga.get("/api/passkeys")["items"]
    assert passkeys == []


def test_a_closed_login_has_no_passkeys(page: Page, app_server: AppServer, olga: ApiClient) -> None:
    registered(page, olga)
    with app_server.database.writing() as session:
        session.execute(text("UPDATE users SET active = :no"), {"no": False})
    answer = {"credential": shown(page, anybody(app_server))}
    assert anybody(app_server).refused("POST", "/api/session/passkey", answer) == (401, "bad_passkey")


def test_a_customer_signs_in_at_one_shop_with_a_passkey(app_server: AppServer, page: Page) -> None:
    account, home = "/api/o/marquee/account", app_server.organisation("marquee")
    app_server.organisation("tent")
    ada = a_customer(app_server, home)
    made = page.evaluate(CREATE, ada.post(f"{account}/passkeys/options", {}, 200)["publicKey"])
    registered = ada.post(f"{account}/passkeys", {"name": "Phone", "credential": made})
    browser = app_server.app.test_client()

    def answer(slug: str) -> Any:
        asked: Any = browser.post(f"/api/o/{slug}/account/session/passkey/options").json
        return page.evaluate(GET, asked["publicKey"])

    proof = answer("marquee")
    signed_in: Any = browser.post(f"{account}/session/passkey", json={"credential": proof})
    assert (signed_in.status_code, signed_in.json["email"]) == (200, ADA)
    again: Any = browser.post(f"{account}/session/passkey", json={"credential": proof})
    assert (again.status_code, again.json["error"]["code"]) == (401, "bad_passkey"), "a proof is worth one session"
    elsewhere = browser.post("/api/o/tent/account/session/passkey", json={"credential": answer("tent")})
    assert elsewhere.status_code == 401, "a customer belongs to one shop"
    staff = browser.post("/api/session/passkey", json={"credential": answer("marquee")})
    assert staff.status_code == 401
    assert ada.ask("DELETE", f"{account}/passkeys/{registered['id']}").status_code == 204
    gone = browser.post(f"{account}/session/passkey", json={"credential": answer("marquee")})
    assert gone.status_code == 401


def test_a_customer_makes_a_passkey_on_the_page_and_signs_in_with_it(app_server: AppServer, page: Page) -> None:
    code = a_code(app_server, app_server.organisation("marquee"))
    shop = f"{app_server.parts.config.base_url}/o/marquee"
    page.goto(f"{shop}/sign-in#{code}")  # as the link in the mail: its page sends the code by itself
    expect(page.get_by_text(f"Signed in as {ADA}")).to_be_visible()
    page.get_by_label("Name of the passkey").fill("My phone")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("button", name="Remove My phone")).to_be_visible()
    looks_right(page)
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{shop}/sign-in")
    looks_right(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text(f"Signed in as {ADA}")).to_be_visible()
    expect(page.get_by_text("To add a passkey, sign out")).to_be_visible()  # only a mailed link proves who one is
    page.get_by_role("button", name="Remove My phone").click()
    expect(page.get_by_role("button", name="Remove My phone")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{shop}/sign-in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_be_visible()


def looks_right(page: Page) -> None:
    """It fits every screen, by day and by night, and axe finds nothing."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        for width in (320, 390, 1440):
            page.set_viewport_size({"width": width, "height": 844})
            assert_fits_width(page, width)
        assert violations(page) == []
