"""Security headers of every response, and cookie flags."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer, Concert

ALWAYS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"}
PATHS = (
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
    "/static/desk.css",
    "/static/nothing",
    "/images/x/320.webp",
    "/sync/v1/hello",
)


@pytest.fixture
def https_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server behind HTTPS."""
    made = AppServer(sqlite_url, tmp_path, base_url="https://tickets.example")
    yield made
    made.close()


@pytest.mark.parametrize("path", PATHS)
def test_every_response_has_security_headers(https_server: AppServer, path: str) -> None:
    response = https_server.app.test_client().get(path)
    assert ALWAYS.items() <= dict(response.headers).items()
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'unsafe" not in policy
    assert response.headers["Strict-Transport-Security"].startswith("max-age=")
    assert response.headers["Cache-Control"]


def test_personal_responses_are_not_cached(concert: Concert) -> None:
    for path in ("/api/session", concert.path, f"{concert.path}/tickets", "/api/members", "/api/tokens"):
        response = concert.api.ask("GET", path)
        assert response.status_code == 200 and "no-store" in response.headers["Cache-Control"], path


def test_cookies_are_hidden_from_scripts_and_other_sites(https_server: AppServer) -> None:
    organisation = https_server.organisation("marquee")
    https_server.user("owner@marquee.example", organisation, "owner")
    signed_in = https_server.app.test_client().post(
        "/api/session", json={"email": "owner@marquee.example", "password": "four walls and a roof"}
    )
    guest = https_server.app.test_client().post("/api/o/marquee/session")
    for response in (signed_in, guest):
        flags = {part.strip() for part in response.headers["Set-Cookie"].split(";")}
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= flags
