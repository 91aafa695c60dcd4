"""Customers of a shop as tests know them: a browser that signs in, and what it may then ask."""

from __future__ import annotations

from typing import Any

from flask.testing import FlaskClient

from sync_server.customers.logins import links
from tests.app_server import ApiClient, AppServer

ADA = "ada@buyers.example"


def a_code(app_server: AppServer, organisation_id: str, email: str = ADA) -> str:
    """The code of a link that was mailed to this address."""
    with app_server.database.writing() as session:
        return links.make(session, organisation_id, email, "en", app_server.context())


def by_link(client: FlaskClient, code: str, slug: str = "marquee") -> Any:
    """The response to signing in with this code."""
    return client.post(f"/api/o/{slug}/account/session/link", json={"code": code})


def a_customer(
    app_server: AppServer,
    organisation_id: str,
    email: str = ADA,
    *,
    slug: str = "marquee",
    client: FlaskClient | None = None,
) -> ApiClient:
    """A customer who has just signed in by a link, in this browser or in one of their own."""
    browser = client or app_server.app.test_client()
    response = by_link(browser, a_code(app_server, organisation_id, email), slug)
    assert response.status_code == 200, response.get_data(as_text=True)
    return ApiClient(browser, {"X-CSRF-Token": response.json["csrf_token"]})
