"""Guest sessions: a sealed cookie for one shop, without a login."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from werkzeug.test import TestResponse

from shared.errors import TooMany
from sync_server.accounts import queries
from sync_server.customers import cookies, service
from sync_server.customers.cookies import GuestSession
from sync_server.plumbing.requests.principals import Actor
from tests.app_server import AppServer
from tests.builders import HOUR

SESSION = "/api/o/marquee/session"


@pytest.fixture
def app_server(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server with two shops."""
    made = AppServer(database_url, tmp_path)
    made.organisation("marquee")
    made.organisation("tent")
    yield made
    made.close()


def status_and_code(response: TestResponse) -> tuple[int, str]:
    return response.status_code, response.json["error"]["code"] if response.json else ""


def test_a_visitor_keeps_the_same_guest_session(app_server: AppServer) -> None:
    browser = app_server.app.test_client()
    assert status_and_code(browser.get(SESSION)) == (401, "no_session")
    first = browser.post(SESSION)
    assert first.status_code == 201 and first.json is not None
    cookie = first.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    assert first.json["organisation"] == {"slug": "marquee", "name": "Marquee"}
    again: Any = browser.post(SESSION)
    assert (again.status_code, again.json["csrf_token"]) == (200, first.json["csrf_token"])
    assert browser.get(SESSION).json == again.json


def test_an_unknown_shop(app_server: AppServer) -> None:
    assert status_and_code(app_server.app.test_client().post("/api/o/nowhere/session")) == (
        404,
        "organisation_not_found",
    )


def test_each_shop_has_its_own_guest_session(app_server: AppServer) -> None:
    browser = app_server.app.test_client()
    browser.post(SESSION)
    assert status_and_code(browser.get("/api/o/tent/session")) == (404, "no_session")
    other = browser.post("/api/o/tent/session")
    assert other.status_code == 201 and browser.get(SESSION).status_code == 200  # both sessions stay open


def test_an_altered_cookie_is_rejected(app_server: AppServer) -> None:
    browser = app_server.app.test_client()
    browser.post(SESSION)
    cookie = browser.get_cookie("gatehouse_guest_marquee")
    assert cookie is not None
    for wrong in (cookie.value[:-2] + "AA", "", "%%%", "ä", cookie.value[:40], "A" * 4000):
        browser.set_cookie("gatehouse_guest_marquee", wrong)
        assert status_and_code(browser.get(SESSION)) == (401, "no_session")


def test_a_session_expires_and_can_be_ended(app_server: AppServer) -> None:
    browser = app_server.app.test_client()
    csrf = browser.post(SESSION).json["csrf_token"]  # type: ignore[index]
    assert status_and_code(browser.delete(SESSION)) == (403, "bad_csrf")
    copied = browser.get_cookie("gatehouse_guest_marquee")
    assert browser.delete(SESSION, headers={"X-CSRF-Token": csrf}).status_code == 204
    assert browser.get(SESSION).status_code == 401
    assert copied is not None
    browser.set_cookie("gatehouse_guest_marquee", copied.value)  # a copy of the cookie may still exist
    assert status_and_code(browser.get(SESSION)) == (401, "no_session")
    assert status_and_code(browser.delete(SESSION, headers={"X-CSRF-Token": csrf})) == (401, "no_session")
    again: Any = browser.post(SESSION)
    assert again.status_code == 201 and again.json["csrf_token"] != csrf
    app_server.advance(12 * HOUR)
    assert browser.get(SESSION).status_code == 401


def test_new_guests_of_one_address_are_limited(app_server: AppServer) -> None:
    def start(ip: str = "198.51.100.1") -> GuestSession:
        context = structs.replace(app_server.context(), actor=Actor("system", ip=ip))
        with app_server.database.writing() as session:
            return service.create_guest(session, organisation_id, context, lasts_ms=HOUR, allowed=3)

    with app_server.database.reading() as session:
        row = queries.organisation_by_slug(session, "marquee")
        assert row is not None
        organisation_id = row.id
    for _ in range(3):
        start()
    with pytest.raises(TooMany):
        start()
    for _ in range(4):
        start("10.0.0.7")  # a proxy that is not trusted brings everybody
    app_server.advance(5 * 60_000)
    start()


def test_a_guest_has_no_permissions_of_staff(app_server: AppServer) -> None:
    browser = app_server.app.test_client()
    csrf = browser.post(SESSION).json["csrf_token"]  # type: ignore[index]
    for method, path in (("GET", "/api/venues"), ("POST", "/api/venues"), ("GET", "/api/members")):
        response = browser.open(path, method=method, json={}, headers={"X-CSRF-Token": csrf})
        assert status_and_code(response) == (403, "forbidden")


def test_a_cookie_can_be_decoded_until_it_expires(app_server: AppServer) -> None:
    organisation_id = app_server.organisation("third")
    guest = GuestSession("01900000-0000-7000-8000-000000000000", organisation_id, app_server.now + 5, "00" * 16)
    text = cookies.encode(guest, app_server.parts.sealer)
    assert cookies.decode(text, app_server.parts.sealer, app_server.now) == guest
    assert cookies.decode(text, app_server.parts.sealer, app_server.now + 5) is None
