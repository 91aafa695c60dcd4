"""Guests come in by a sealed cookie, belong to one shop, and need no login."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sync_server.accounts import queries
from sync_server.customers import cookies, service
from sync_server.customers.cookies import Card
from tests.builders import HOUR
from tests.office import Office

DOOR = "/api/o/marquee/session"


@pytest.fixture
def office(database_url: str, tmp_path: Path) -> Iterator[Office]:
    """A server with two shops."""
    made = Office(database_url, tmp_path)
    made.organisation("marquee")
    made.organisation("tent")
    yield made
    made.close()


def code(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"] if answer.json else ""


def test_a_stranger_becomes_a_guest_and_stays_the_same_one(office: Office) -> None:
    browser = office.app.test_client()
    assert code(browser.get(DOOR)) == (401, "no_session")
    first = browser.post(DOOR)
    assert first.status_code == 201 and first.json is not None
    cookie = first.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    assert first.json["organisation"] == {"slug": "marquee", "name": "Marquee"}
    again: Any = browser.post(DOOR)
    assert (again.status_code, again.json["csrf_token"]) == (200, first.json["csrf_token"])
    assert browser.get(DOOR).json == again.json


def test_there_is_no_shop_of_that_name(office: Office) -> None:
    assert code(office.app.test_client().post("/api/o/nowhere/session")) == (404, "organisation_not_found")


def test_a_guest_of_one_shop_is_a_stranger_in_the_other(office: Office) -> None:
    browser = office.app.test_client()
    browser.post(DOOR)
    assert code(browser.get("/api/o/tent/session")) == (404, "no_session")
    other = browser.post("/api/o/tent/session")
    assert other.status_code == 201 and browser.get(DOOR).status_code == 200  # both baskets are kept


def test_an_altered_cookie_is_nobodys(office: Office) -> None:
    browser = office.app.test_client()
    browser.post(DOOR)
    cookie = browser.get_cookie("gatehouse_guest_marquee")
    assert cookie is not None
    for wrong in (cookie.value[:-2] + "AA", "", "%%%", "ä", cookie.value[:40], "A" * 4000):
        browser.set_cookie("gatehouse_guest_marquee", wrong)
        assert code(browser.get(DOOR)) == (401, "no_session")


def test_a_session_ends_with_its_hours_and_by_leaving(office: Office) -> None:
    browser = office.app.test_client()
    csrf = browser.post(DOOR).json["csrf_token"]  # type: ignore[index]
    assert code(browser.delete(DOOR)) == (403, "bad_csrf")
    kept = browser.get_cookie("gatehouse_guest_marquee")
    assert browser.delete(DOOR, headers={"X-CSRF-Token": csrf}).status_code == 204
    assert browser.get(DOOR).status_code == 401
    assert kept is not None
    browser.set_cookie("gatehouse_guest_marquee", kept.value)  # as a second window, or a thief, may still have it
    assert code(browser.get(DOOR)) == (401, "no_session")
    assert code(browser.delete(DOOR, headers={"X-CSRF-Token": csrf})) == (401, "no_session")
    again: Any = browser.post(DOOR)
    assert again.status_code == 201 and again.json["csrf_token"] != csrf
    office.advance(12 * HOUR)
    assert browser.get(DOOR).status_code == 401


def test_one_address_sends_only_so_many_guests(office: Office) -> None:
    def come() -> Card:
        with office.database.writing() as session:
            return service.let_in(session, home, office.deed(), lasts_ms=HOUR, allowed=3)

    with office.database.reading() as session:
        row = queries.organisation_by_slug(session, "marquee")
        assert row is not None
        home = row.id
    for _ in range(3):
        come()
    with pytest.raises(service.TooMany):
        come()
    office.advance(5 * 60_000)
    come()


def test_a_guest_may_do_nothing_that_staff_may(office: Office) -> None:
    browser = office.app.test_client()
    csrf = browser.post(DOOR).json["csrf_token"]  # type: ignore[index]
    for method, path in (("GET", "/api/venues"), ("POST", "/api/venues"), ("GET", "/api/members")):
        answer = browser.open(path, method=method, json={}, headers={"X-CSRF-Token": csrf})
        assert code(answer) == (403, "forbidden")


def test_a_cookie_reads_as_it_was_written_and_only_until_its_end(office: Office) -> None:
    home = office.organisation("third")
    card = Card("01900000-0000-7000-8000-000000000000", home, office.now + 5, "00" * 16)
    text = cookies.written(card, office.parts.sealer)
    assert cookies.read(text, office.parts.sealer, office.now) == card
    assert cookies.read(text, office.parts.sealer, office.now + 5) is None
