"""Bodies that are no objects, ids of other organisations and endless numbers, at every route that takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from sync_server.accounts.public_routes import PUBLIC_ROUTES, Audience
from tests.app_server import AppServer
from tests.contracts.server.test_roles import Organisation, Route, routes

ENDLESS = "9" * 5_000
NO_REFERENCES = {"message_id", "seat_id", "companion_seat_id", "pricing_rule_id", "customer_id"}
"""Names that organisers choose, or that mean nothing to this server."""


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """Bodies are judged before any database is asked, so one kind is enough."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def tenant(app_server: AppServer) -> Organisation:
    return Organisation(app_server)


def path_of(route: Route, ids: dict[str, str]) -> str:
    return re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", lambda gap: ids.get(gap[1], "1"), route.rule.rule)


def described(route: Route) -> str:
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route.rule.rule)


def operations(tenant: Organisation) -> Iterator[tuple[Route, dict[str, Any]]]:
    """Every route that takes JSON, with the schema of its body."""
    document = tenant.api.get("/openapi.json")
    for route in routes(tenant.app_server):
        operation = document["paths"].get(described(route), {}).get(route.method.lower(), {})
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        public = PUBLIC_ROUTES.get(route.endpoint)
        if public is not None and public.who is Audience.CUSTOMER:
            continue  # nobody else gets so far: tests/contracts/customers/test_signing_in.py
        if content is not None:
            yield route, resolved(document, content["schema"])


def resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    found: Any = document
    for step in schema.get("$ref", "#").removeprefix("#").strip("/").split("/"):
        found = found[step] if step else schema
    return dict(found)


def test_a_body_that_is_no_object_changes_nothing_anywhere(tenant: Organisation) -> None:
    """`null` once cancelled an event: it passed for an object without fields."""
    before, asked = tenant.everything(), 0
    for route, _ in operations(tenant):
        for body in (b"null", b"[]", b"[{}]", b'"reason"', b"17", b"true"):
            headers = {**tenant.api.headers, "Content-Type": "application/json"}
            response = tenant.api.client.open(
                path_of(route, tenant.ids), method=route.method, data=body, headers=headers
            )
            # Routes of shops ask for the shop first, and this one does not exist.
            expected = {400, 404} if "<slug>" in route.rule.rule else {400}
            assert response.status_code in expected, f"{route} {body!r}: {response.status_code}"
            asked += 1
    assert asked > 200
    assert tenant.everything() == before


def test_no_field_takes_an_id_of_another_organisation(tenant: Organisation) -> None:
    foreign, asked = Organisation(tenant.app_server, "rivals"), set()
    for route, schema in operations(tenant):
        for field in schema.get("properties", {}):
            if not field.endswith("_id") or field in NO_REFERENCES:
                continue
            theirs = next((id for name, id in foreign.ids.items() if field.endswith(name)), foreign.ids["event_id"])
            body = tenant.bodies.body(described(route), route.method, tenant.ids)
            response = tenant.api.ask(route.method, path_of(route, tenant.ids), {**body, field: theirs})
            assert response.status_code in {400, 403, 404, 409}, f"{route} {field}: {response.status_code}"
            assert theirs not in str(tenant.everything()), f"{route} {field}"
            asked.add(field)
    assert {"venue_id", "owner_id", "event_id", "recurrence_group_id", "layout_id"} <= asked


def test_no_endless_number_is_an_error_of_the_server(tenant: Organisation) -> None:
    document = tenant.api.get("/openapi.json")
    for route in routes(tenant.app_server):
        for argument in route.rule.arguments:
            response = tenant.api.ask(route.method, path_of(route, {**tenant.ids, argument: ENDLESS}))
            assert response.status_code < 500, f"{route} {argument}"
            response.close()
        operation = document["paths"].get(described(route), {}).get(route.method.lower(), {})
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "query":
                path = f"{path_of(route, tenant.ids)}?{quote(parameter['name'])}={ENDLESS}"
                assert tenant.api.ask(route.method, path).status_code < 500, f"{route} {parameter['name']}"
    for route, schema in operations(tenant):
        body = b",".join(b'"%s":%s' % (name.encode(), ENDLESS.encode()) for name in schema.get("properties", {}))
        headers = {**tenant.api.headers, "Content-Type": "application/json"}
        path = path_of(route, tenant.ids)
        response = tenant.api.client.open(path, method=route.method, data=b"{%s}" % body, headers=headers)
        assert response.status_code in {400, 404} or not body, f"{route}: {response.status_code}"


def test_a_form_with_an_endless_number_is_refused(tenant: Organisation) -> None:
    tenant.app_server.user("olga@marquee.example", tenant.organisation, "owner")
    olga = tenant.app_server.browser("olga@marquee.example")
    event = tenant.ids["event_id"]
    form = {"event": event, f"gate-{event}": ENDLESS, "csrf_token": olga.headers["X-CSRF-Token"]}
    for route in routes(tenant.app_server):
        if route.rule.rule.startswith("/admin/devices/") and route.method == "POST":
            assert olga.client.post(path_of(route, tenant.ids), data=form).status_code < 500, str(route)
