"""Whatever is answered, a browser is told to run, frame, guess and keep nothing that we did not mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.office import Evening, Office

EVERYWHERE = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"}
STRANGERS = (
    "/",
    "/api/nowhere",
    "/api/venues",
    "/api/events",
    "/admin/",
    "/admin/login",
    "/admin/nowhere",
    "/docs",
    "/openapi.json",
    "/healthz",
    "/static/house.css",
    "/static/nothing",
    "/images/x/320.webp",
    "/sync/v1/hello",
)


@pytest.fixture
def shielded(sqlite_url: str, tmp_path: Path) -> Iterator[Office]:
    """A server that is reached by TLS."""
    made = Office(sqlite_url, tmp_path, base_url="https://tickets.example")
    yield made
    made.close()


@pytest.mark.parametrize("path", STRANGERS)
def test_every_answer_says_what_a_browser_may_do_with_it(shielded: Office, path: str) -> None:
    answer = shielded.app.test_client().get(path)
    assert EVERYWHERE.items() <= dict(answer.headers).items()
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'unsafe" not in policy
    assert answer.headers["Strict-Transport-Security"].startswith("max-age=")
    assert answer.headers["Cache-Control"]


def test_what_was_told_to_one_person_is_kept_by_no_browser(evening: Evening) -> None:
    for path in ("/api/session", evening.path, f"{evening.path}/tickets", "/api/members", "/api/tokens"):
        answer = evening.desk.ask("GET", path)
        assert answer.status_code == 200 and "no-store" in answer.headers["Cache-Control"], path


def test_cookies_are_shown_to_no_script_and_sent_by_no_other_site(shielded: Office) -> None:
    organisation = shielded.organisation("marquee")
    shielded.user("owner@marquee.example", organisation, "owner")
    signed_in = shielded.app.test_client().post(
        "/api/session", json={"email": "owner@marquee.example", "password": "four walls and a roof"}
    )
    come_in = shielded.app.test_client().post("/api/o/marquee/session")
    for answer in (signed_in, come_in):
        flags = {part.strip() for part in answer.headers["Set-Cookie"].split(";")}
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= flags
