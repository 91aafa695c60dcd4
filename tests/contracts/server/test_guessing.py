"""Guessing passwords slows down who guesses, and never locks the owner out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from sync_server.commands.doctor import _proxies
from sync_server.plumbing.requests.addresses import network_of
from sync_server.plumbing.telemetry import logs
from tests.app_server import AppServer
from tests.builders import HOUR, MINUTE
from tests.staff import PASSWORD

OLGA = "olga@marquee.example"
HOME, CAFE = "192.0.2.7", "198.51.100.9"
VISITOR, STRANGER = "9.9.9.9", "8.8.4.4"  # from elsewhere: addresses for documentation count as private


@pytest.fixture
def org(app_server: AppServer) -> str:
    made = app_server.organisation("marquee")
    app_server.user(OLGA, made, "owner")
    return made


def sign_in(
    app_server: AppServer,
    password: str = "wrong guess",
    *,
    address: str = CAFE,
    email: str = OLGA,
    client: FlaskClient | None = None,
) -> TestResponse:
    body = {"email": email, "password": password}
    browser = client or app_server.app.test_client()
    return browser.post("/api/session", json=body, environ_base={"REMOTE_ADDR": address})


def waits(app_server: AppServer, count: int) -> list[int]:
    """How long a guesser has to wait after each of so many wrong passwords, who waits no longer than that."""
    found = []
    for _ in range(count):
        assert sign_in(app_server).status_code == 401
        answer = sign_in(app_server)
        if answer.status_code == 429:
            found.append(int(answer.headers["Retry-After"]))
            app_server.advance(found[-1] * 1000)
    return found


def test_guessing_takes_longer_each_time(app_server: AppServer, org: str) -> None:
    for _ in range(4):
        assert sign_in(app_server).status_code == 401
    assert waits(app_server, 9) == [5, 10, 20, 40, 80, 160, 320, 640, 900]


def test_no_number_of_guesses_locks_the_owner_out(app_server: AppServer, org: str) -> None:
    """Neither elsewhere, nor beside the guesser on a browser that has signed in before."""
    at_home = app_server.app.test_client()
    assert sign_in(app_server, PASSWORD, address=HOME, client=at_home).status_code == 200
    at_home.delete_cookie("gatehouse_session")
    while sign_in(app_server, address=HOME).status_code == 401:
        pass
    for host in range(60):
        sign_in(app_server, address=f"203.0.113.{host}")
    assert sign_in(app_server, PASSWORD, address=HOME).status_code == 429
    assert sign_in(app_server, PASSWORD, address=HOME, client=at_home).status_code == 200
    assert sign_in(app_server, PASSWORD, address=CAFE).status_code == 200


def test_a_known_browser_has_a_limit_of_its_own(app_server: AppServer, org: str) -> None:
    browser = app_server.app.test_client()
    assert sign_in(app_server, PASSWORD, client=browser).status_code == 200
    browser.delete_cookie("gatehouse_session")
    statuses = [sign_in(app_server, client=browser).status_code for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    assert sign_in(app_server, PASSWORD).status_code == 200  # the address was not counted


def test_the_cookie_of_a_known_browser_is_bound_to_login_and_server(app_server: AppServer, org: str) -> None:
    app_server.user("eve@marquee.example", org)
    eve = app_server.app.test_client()
    known = sign_in(app_server, PASSWORD, email="eve@marquee.example", client=eve)
    name, _, value = known.headers.getlist("Set-Cookie")[1].partition(";")[0].partition("=")
    assert name.startswith("gatehouse_known_") and "HttpOnly" in known.headers.getlist("Set-Cookie")[1]
    sign_in(app_server, PASSWORD, client=(her := app_server.app.test_client()))
    olgas = next(cookie.key for cookie in her._cookies.values() if cookie.key.startswith("gatehouse_known_"))
    while sign_in(app_server).status_code == 401:
        pass
    for forged in (value, "00" * 16 + value[32:], "", "..", "x.9" * 20):
        stranger = app_server.app.test_client()
        stranger.set_cookie(olgas, forged)
        assert sign_in(app_server, PASSWORD, client=stranger).status_code == 429


def test_an_address_that_tries_many_logins_is_slowed_down_but_not_for_long(app_server: AppServer, org: str) -> None:
    answers = [sign_in(app_server, email=f"{number}@marquee.example") for number in range(21)]
    assert [answer.status_code for answer in answers] == [401] * 20 + [429]
    for number in range(40):
        app_server.advance(MINUTE)
        assert sign_in(app_server, email=f"{number}@rivals.example").status_code == 401
    assert int(sign_in(app_server, PASSWORD).headers["Retry-After"]) == 60
    app_server.advance(2 * HOUR)
    assert [sign_in(app_server, PASSWORD).status_code for _ in range(30)] == [200] * 30


def test_signing_in_does_not_clear_the_guesses_of_an_address(app_server: AppServer, org: str) -> None:
    """Somebody with a login of their own would otherwise guess others' passwords without waiting."""
    app_server.user("eve@marquee.example", org)
    for number in range(19):
        sign_in(app_server, email=f"{number}@marquee.example")
    assert sign_in(app_server, PASSWORD, email="eve@marquee.example").status_code == 200
    app_server.advance(MINUTE)
    sign_in(app_server, email="20@marquee.example")
    assert sign_in(app_server, email="21@marquee.example").status_code == 429


def test_concurrent_guesses_do_not_get_past_the_limit(app_server: AppServer, org: str) -> None:
    start = threading.Barrier(16)

    def guess(attempt: int) -> int:
        start.wait(60)
        return sign_in(app_server, f"wrong guess {attempt}").status_code

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(guess, range(16)))
    assert set(answers) <= {401, 429} and answers.count(401) == 5


def test_processes_count_together(app_server: AppServer, org: str, database_url: str, tmp_path: Path) -> None:
    other = AppServer(database_url, tmp_path, fresh=False)
    try:
        for server in (app_server, other, app_server, other, app_server):
            assert sign_in(server).status_code == 401
        assert sign_in(other).status_code == 429
    finally:
        other.close()


def test_ipv6_counts_by_network() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::ffff") != network_of("2001:db8:1:3::1")
    assert network_of("::ffff:192.0.2.7") == network_of("192.0.2.7") == "192.0.2.7"
    assert network_of("") == ""


def test_an_ipv6_guesser_gains_nothing_from_new_addresses(app_server: AppServer, org: str) -> None:
    answers = [sign_in(app_server, address=f"2001:db8:1:2::{number}").status_code for number in range(6)]
    assert answers == [401] * 5 + [429]


def test_the_sign_in_page_says_how_long_to_wait(app_server: AppServer, org: str) -> None:
    client = app_server.app.test_client()
    form = {"email": OLGA, "password": "wrong guess"}
    answers = [client.post("/admin/login", data=form, headers={"Sec-Fetch-Site": "same-origin"}) for _ in range(6)]
    assert (answers[-1].status_code, answers[-1].headers["Retry-After"]) == (429, "5")
    assert "Wait 5 seconds" in answers[-1].get_data(as_text=True)


@pytest.fixture
def behind(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server with one trusted proxy."""
    made = AppServer(database_url, tmp_path, trusted_proxies=1)
    yield made
    made.close()


def problem(app_server: AppServer) -> str:
    return str(_proxies(app_server.parts.config, app_server.database)["problem"] or "")


def visit(app_server: AppServer, peer: str, *forwarded: str) -> None:
    headers = {"X-Forwarded-For": ", ".join(forwarded)} if forwarded else {}
    app_server.app.test_client().get("/api/session", headers=headers, environ_base={"REMOTE_ADDR": peer})


def test_the_doctor_finds_a_proxy_that_is_not_counted(
    app_server: AppServer, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("warning")
    visit(app_server, "127.0.0.1")
    visit(app_server, STRANGER, VISITOR)  # anybody may send the header
    assert problem(app_server) == ""
    for _ in range(3):
        visit(app_server, "10.0.0.2", VISITOR)
    assert "GATEHOUSE_TRUSTED_PROXIES is 0" in problem(app_server)
    logged = capsys.readouterr().err
    assert logged.count("proxy_not_counted") == 1 and VISITOR not in logged and "10.0.0.2" not in logged


def test_the_doctor_is_content_with_a_counted_proxy_and_finds_one_too_many(behind: AppServer) -> None:
    visit(behind, "10.0.0.2", VISITOR)
    visit(behind, "10.0.0.2", STRANGER, VISITOR)
    assert problem(behind) == ""
    visit(behind, "10.0.0.2", STRANGER, "10.0.0.3")  # the second proxy is not counted: it is taken for the client
    assert "GATEHOUSE_TRUSTED_PROXIES is 1" in problem(behind)


def test_the_doctor_notices_that_all_guests_come_from_one_address(app_server: AppServer) -> None:
    app_server.organisation("marquee")
    for _ in range(50):
        app_server.app.test_client().post("/api/o/marquee/session", environ_base={"REMOTE_ADDR": CAFE})
    assert "All 50 guests" in problem(app_server)
    app_server.app.test_client().post("/api/o/marquee/session", environ_base={"REMOTE_ADDR": HOME})
    assert problem(app_server) == ""
