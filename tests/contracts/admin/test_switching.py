"""Staff of several organisations: they say for which one they work, and always see which one that is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from sync_server.accounts import members
from tests.app_server import AppServer
from tests.contracts.admin.desk_client import EMAIL, Desk, a_desk, words_of
from tests.staff import PASSWORD


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def desk(app_server: AppServer) -> Desk:
    return a_desk(app_server)


def signs_in(desk: Desk) -> tuple[FlaskClient, str]:
    """Somebody signs in with a new browser, and where that leads."""
    client = desk.server.app.test_client()
    return client, client.post("/admin/login", data={"email": EMAIL, "password": PASSWORD}).location


def also_at(desk: Desk, slug: str) -> None:
    other = desk.server.organisation(slug)
    with desk.server.database.writing() as session:
        user = session.execute(text("SELECT id FROM users WHERE email = :email"), {"email": EMAIL}).scalar_one()
        members.give_role(session, other, user, "admin", desk.server.context())


def test_somebody_of_one_organisation_is_asked_nothing(desk: Desk) -> None:
    client, led = signs_in(desk)
    assert led == "/admin/"
    assert client.get("/admin/organisation?entering=1").location == "/admin/"  # after a passkey


def test_somebody_of_two_says_which_one_and_sees_where_they_are(desk: Desk) -> None:
    also_at(desk, "harbour")
    client, led = signs_in(desk)
    assert led == "/admin/organisation"
    assert "Harbour you are here Marquee Owner" in words_of(client.get(led))
    assert "Harbour you are here" in words_of(client.get("/admin/organisation?entering=1"))
    page = client.get(led).get_data(as_text=True)
    token = page.split('name="csrf_token" value="')[1].split('"')[0]
    chosen = {"csrf_token": token, "organisation_id": desk.organisation_id}
    assert client.post("/admin/organisation", data=chosen).location == "/admin/"
    assert "Marquee today" in words_of(client.get("/admin/"))
    assert "Night Music" in words_of(client.get(desk.event))


def test_what_is_in_the_other_organisation_says_where_one_is_and_leads_there(desk: Desk) -> None:
    also_at(desk, "harbour")
    client, _ = signs_in(desk)
    answer = client.get(desk.event)
    assert answer.status_code == 404
    assert "You are working for Harbour" in words_of(answer)
    assert 'href="/admin/organisation"' in answer.get_data(as_text=True)
