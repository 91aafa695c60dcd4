"""What must hold for every route of the API, including future ones."""

from __future__ import annotations

import re

from werkzeug.routing import Rule

from sync_server.accounts.public_routes import PARTLY_PUBLIC, PUBLIC_ROUTES, Audience
from tests.app_server import AppServer

OPEN_TO_ALL = {*PARTLY_PUBLIC, *(name for name, route in PUBLIC_ROUTES.items() if route.who is Audience.ANYBODY)}
"""By endpoint."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def api_routes(app_server: AppServer) -> list[tuple[str, Rule]]:
    rules = [rule for rule in app_server.app.url_map.iter_rules() if rule.rule.startswith("/api/")]
    return [(method, rule) for rule in rules for method in METHODS if method in (rule.methods or ())]


def filled(rule: Rule) -> str:
    """The path with a value for every parameter."""
    return re.sub(r"<[^>]+>", "1", rule.rule)


def test_nobody_gets_anything_without_signing_in(app_server: AppServer) -> None:
    stranger = app_server.app.test_client()
    routes = api_routes(app_server)
    assert len(routes) > 50
    for method, rule in routes:
        if rule.endpoint not in OPEN_TO_ALL:
            response = stranger.open(filled(rule), method=method, json={})
            assert response.status_code == 401, (method, rule.rule, response.status_code)


READ_ONLY_POSTS = {
    "/api/events/<event_id>/layout/best-seats",
    "/api/events/<event_id>/layout/picked-seats",
    "/api/events/<event_id>/mails/preview",
}
"""Searches and previews whose parameters do not fit into a URL; the permission to read is enough."""


def test_a_token_that_may_only_read_changes_nothing(app_server: AppServer) -> None:
    reader = app_server.api(app_server.organisation("marquee"), ["read"])
    for method, rule in api_routes(app_server):
        if method != "GET" and rule.rule not in READ_ONLY_POSTS and rule.endpoint not in PUBLIC_ROUTES:
            status = reader.ask(method, filled(rule), {}).status_code
            assert status in {403, 404}, (method, rule.rule, status)


def test_a_request_from_another_site_signs_nobody_in(app_server: AppServer) -> None:
    client = app_server.app.test_client()
    response = client.post(
        "/api/session", json={"email": "x", "password": "y"}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert (response.status_code, response.json["error"]["code"] if response.json else "") == (403, "bad_origin")
