"""What the owner of a login does with it: the password, sessions, and a second factor."""

from __future__ import annotations

import threading
from base64 import b32decode
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sync_server.accounts import invitations
from sync_server.accounts.sign_in import totp
from tests.app_server import ApiClient, AppServer
from tests.staff import PASSWORD

OLGA, NEW = "olga@marquee.example", "another one of hers"


@pytest.fixture
def org(app_server: AppServer) -> str:
    made = app_server.organisation("marquee")
    app_server.user(OLGA, made, "owner")
    return made


@pytest.fixture
def olga(app_server: AppServer, org: str) -> ApiClient:
    return app_server.browser(OLGA)


def sign_in(app_server: AppServer, password: str = PASSWORD, **more: str) -> TestResponse:
    return app_server.app.test_client().post("/api/session", json={"email": OLGA, "password": password, **more})


def said(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"] if answer.json and "error" in answer.json else ""


def test_a_changed_password_signs_out_everywhere_else(app_server: AppServer, olga: ApiClient) -> None:
    elsewhere = app_server.browser(OLGA)
    wrong = {"current_password": "not this one", "new_password": NEW}
    assert olga.refused("POST", "/api/password", wrong) == (403, "bad_password")
    assert olga.refused("POST", "/api/password", wrong | {"new_password": "short"})[0] == 400
    answer = olga.post("/api/password", {"current_password": PASSWORD, "new_password": NEW}, 200)
    assert elsewhere.ask("GET", "/api/events").status_code == 401
    olga.headers = {"X-CSRF-Token": answer["csrf_token"]}
    assert olga.get("/api/session")["organisation"]["slug"] == "marquee"
    assert (sign_in(app_server).status_code, sign_in(app_server, NEW).status_code) == (401, 200)


def test_a_browser_left_signed_in_is_no_place_to_guess_the_password(app_server: AppServer, olga: ApiClient) -> None:
    body = {"current_password": "a wrong guess", "new_password": NEW}
    answers = [olga.ask("POST", "/api/password", body) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [403] * 5 + [429]
    assert answers[-1].headers["Retry-After"] == "5"
    assert sign_in(app_server).status_code == 200


def test_sessions_are_listed_and_ended(app_server: AppServer, olga: ApiClient, org: str) -> None:
    phone, tablet = app_server.browser(OLGA), app_server.browser(OLGA)
    app_server.user("stan@marquee.example", org)
    stan = app_server.browser("stan@marquee.example")
    listed = olga.get("/api/sessions")["items"]
    assert len(listed) == 3 and [item["current"] for item in listed].count(True) == 1
    assert all("Werkzeug" in item["browser"] for item in listed)
    (phones,) = [item["id"] for item in phone.get("/api/sessions")["items"] if item["current"]]
    assert stan.refused("DELETE", f"/api/sessions/{phones}") == (404, "not_found")
    assert olga.ask("DELETE", f"/api/sessions/{phones}").status_code == 204
    assert (phone.ask("GET", "/api/events").status_code, tablet.ask("GET", "/api/events").status_code) == (401, 200)
    assert olga.ask("DELETE", "/api/sessions").status_code == 204
    assert tablet.ask("GET", "/api/events").status_code == 401
    olga.get("/api/events")
    stan.get("/api/events")


def test_a_token_has_no_login(app_server: AppServer, org: str) -> None:
    api = app_server.api(org)
    for method, path, body in (
        ("GET", "/api/sessions", None),
        ("DELETE", "/api/sessions", None),
        ("GET", "/api/second-factor", None),
        ("POST", "/api/second-factor", {"password": PASSWORD}),
        ("POST", "/api/second-factor/confirm", {"code": "123456"}),
        ("POST", "/api/password", {"current_password": PASSWORD, "new_password": NEW}),
    ):
        assert api.refused(method, path, body) == (403, "no_login")


class App:
    """An authenticator app."""

    def __init__(self, app_server: AppServer, made: dict[str, Any]) -> None:
        self._server = app_server
        self._secret = b32decode(made["secret"] + "=" * (-len(made["secret"]) % 8))

    def code(self) -> str:
        """What it shows now."""
        return totp.code_at(self._secret, self._server.now // totp.STEP_MS)


@pytest.fixture
def app(app_server: AppServer, olga: ApiClient) -> App:
    """Olga's app, not confirmed yet."""
    return App(app_server, olga.post("/api/second-factor", {"password": PASSWORD}))


def turned_on(olga: ApiClient, app: App) -> list[str]:
    codes: list[str] = olga.post("/api/second-factor/confirm", {"code": app.code()}, 200)["recovery_codes"]
    return codes


def test_a_second_factor_is_asked_for_once_it_is_confirmed(app_server: AppServer, olga: ApiClient, app: App) -> None:
    assert sign_in(app_server).status_code == 200
    assert olga.refused("POST", "/api/second-factor/confirm", {"code": "000000"}) == (400, "bad_second_factor")
    assert olga.refused("POST", "/api/second-factor", {"password": "a wrong guess"}) == (403, "bad_password")
    elsewhere = app_server.browser(OLGA)
    turned_on(olga, app)
    assert elsewhere.ask("GET", "/api/events").status_code == 401
    assert olga.get("/api/second-factor") == {"on": True, "recovery_codes_left": 10}
    app_server.advance(30_000)
    assert said(sign_in(app_server)) == (401, "second_factor_required")
    assert said(sign_in(app_server, code="000000")) == (401, "bad_second_factor")
    assert said(sign_in(app_server, "a wrong guess", code=app.code())) == (401, "bad_credentials")
    assert sign_in(app_server, code=app.code()).status_code == 200


def test_a_code_works_once_also_for_two_at_the_same_moment(app_server: AppServer, olga: ApiClient, app: App) -> None:
    turned_on(olga, app)
    assert said(sign_in(app_server, code=app.code())) == (401, "bad_second_factor")  # it confirmed the app
    app_server.advance(30_000)
    start, code = threading.Barrier(4), app.code()

    def race(_: int) -> int:
        start.wait(60)
        return sign_in(app_server, code=code).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(race, range(4))) == [200, 401, 401, 401]


def test_recovery_codes_work_once_each(app_server: AppServer, olga: ApiClient, app: App) -> None:
    first, second, *_ = turned_on(olga, app)
    assert sign_in(app_server, code=first).status_code == 200
    assert said(sign_in(app_server, code=first)) == (401, "bad_second_factor")
    assert sign_in(app_server, code=second.replace("-", "").upper()).status_code == 200
    assert olga.get("/api/second-factor")["recovery_codes_left"] == 8


def test_a_stranger_with_the_password_does_not_guess_the_code(app_server: AppServer, olga: ApiClient, app: App) -> None:
    turned_on(olga, app)
    answers = [sign_in(app_server, code=f"{guess:06}").status_code for guess in range(6)]
    assert answers == [401] * 5 + [429]


def test_turning_it_off_needs_the_password(app_server: AppServer, olga: ApiClient, app: App) -> None:
    turned_on(olga, app)
    assert olga.refused("POST", "/api/second-factor/off", {"password": "a wrong guess"}) == (403, "bad_password")
    assert olga.refused("POST", "/api/second-factor", {"password": PASSWORD}) == (409, "second_factor_on")
    olga.post("/api/second-factor/off", {"password": PASSWORD}, 204)
    assert sign_in(app_server).status_code == 200
    assert olga.get("/api/second-factor") == {"on": False, "recovery_codes_left": 0}


def test_the_pages_ask_for_the_code(app_server: AppServer, olga: ApiClient, app: App) -> None:
    turned_on(olga, app)
    app_server.advance(30_000)
    client, form = app_server.app.test_client(), {"email": OLGA, "password": PASSWORD}
    origin = {"Sec-Fetch-Site": "same-origin"}
    asked = client.post("/admin/login", data=form, headers=origin)
    assert asked.status_code == 401 and 'name="code"' in asked.get_data(as_text=True)
    assert client.post("/admin/login", data=form | {"code": app.code()}, headers=origin).status_code == 302
    app_server.advance(30_000)
    with app_server.database.writing() as session:
        rivals = app_server.organisation("rivals")
        _, code = invitations.invite(session, rivals, email=OLGA, role="staff", by=None, context=app_server.context())
    stranger, accept = app_server.app.test_client(), "/admin/invitation/accept"
    asked = stranger.post(accept, data={"code": code, "password": PASSWORD}, headers=origin)
    assert asked.status_code == 401 and 'name="code_of_app"' in asked.get_data(as_text=True)
    given = {"code": code, "password": PASSWORD, "code_of_app": app.code()}
    assert stranger.post(accept, data=given, headers=origin).status_code == 302


def test_secrets_and_recovery_codes_are_not_readable(app_server: AppServer, olga: ApiClient, app: App) -> None:
    from tests.contracts.server.test_staff import _everything

    codes, dump = turned_on(olga, app), _everything(app_server)
    assert app._secret not in dump.encode() and repr(app._secret)[2:-1] not in dump
    assert not any(code in dump or code.replace("-", "") in dump for code in codes)
