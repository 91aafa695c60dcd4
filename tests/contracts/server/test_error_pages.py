"""Whatever goes wrong at a page is said in a page, of the desk or of the shop; JSON is for the API alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from tests.app_server import ApiClient, AppServer

OLGA, STAN = "olga@marquee.example", "stan@marquee.example"


@pytest.fixture(scope="module")
def app_server(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """A server with an owner and a member of staff."""
    folder = tmp_path_factory.mktemp("errors")
    (folder / "gatehouse.db").write_bytes(migrated_sqlite.read_bytes())
    made = AppServer(f"sqlite:///{folder / 'gatehouse.db'}", folder)
    organisation = made.organisation("marquee")
    made.user(OLGA, organisation, "owner")
    made.user(STAN, organisation, "staff")
    yield made
    made.close()


def page(response: TestResponse, status: int) -> str:
    """The text of a page with its style, which a policy for no page at all would forbid."""
    assert (response.status_code, response.mimetype) == (status, "text/html")
    assert "style-src 'self'" in response.headers["Content-Security-Policy"]
    return response.get_data(as_text=True)


@pytest.fixture
def olga(app_server: AppServer) -> ApiClient:
    return app_server.browser(OLGA)


def test_what_is_not_there_is_said_in_the_desk(olga: ApiClient) -> None:
    for path in ("/admin/nowhere", "/admin/events/00000000-0000-7000-8000-000000000000"):
        assert "This page is not here" in page(olga.client.get(path), 404), path
    assert "what was here has gone" in page(olga.client.post("/admin/nowhere", headers=olga.headers), 405)


def test_who_lacks_a_right_reads_which_one_and_who_has_it(app_server: AppServer) -> None:
    shown = page(app_server.browser(STAN).client.get("/admin/settings/webhooks"), 403)
    assert "the right to manage webhooks" in shown
    assert "olga" in shown and "manage_webhooks" not in shown


def test_a_form_too_large_is_a_page_too(olga: ApiClient) -> None:
    form = {"name": "x" * 9_000_000, "csrf_token": olga.headers["X-CSRF-Token"]}
    assert "That is too large" in page(olga.client.post("/admin/settings/general", data=form), 413)


def test_who_tries_too_often_reads_how_long_to_wait(app_server: AppServer, olga: ApiClient) -> None:
    form = {"current": "not it", "password": "another walls and roof", "csrf_token": olga.headers["X-CSRF-Token"]}
    answers = [olga.client.post("/admin/account/password", data=form) for _ in range(7)]
    assert "This is not your password" in page(answers[0], 400)
    assert "Wait" in page(answers[-1], 429) and int(answers[-1].headers["Retry-After"]) > 0


def test_a_database_that_is_away_leaves_pages(app_server: AppServer, olga: ApiClient) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("SELECT 1", {}, Exception("disk I/O error"))

    event.listen(app_server.database.engine, "before_cursor_execute", fail)
    try:
        desk = olga.client.get("/admin/events")
        shop = app_server.app.test_client().get("/o/marquee", headers={"Accept-Language": "de"})
        api = app_server.app.test_client().get("/api/o/marquee/events")
    finally:
        event.remove(app_server.database.engine, "before_cursor_execute", fail)
    assert desk.status_code >= 500
    assert "The server cannot answer now" in page(desk, desk.status_code)
    assert "Der Shop kann gerade nicht antworten" in page(shop, shop.status_code)
    assert api.is_json, "programs get what they can read"


def test_unknown_addresses_are_pages_for_people_and_json_for_programs(app_server: AppServer) -> None:
    client = app_server.app.test_client()
    assert "Diese Seite gibt es hier nicht" in page(
        client.get("/nowhere", headers={"Accept": "text/html", "Accept-Language": "de"}), 404
    )
    assert client.get("/nowhere").is_json
    assert client.get("/api/nowhere", headers={"Accept": "text/html"}).is_json
