"""Every route of the server with every role, in its own and in another organisation, against the table of roles."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import text
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from sync_server.accounts.public_routes import PARTLY_PUBLIC, PUBLIC_ROUTES, Audience
from sync_server.accounts.rules import GUEST_ACTIONS, IMPLIED_SCOPES, PLATFORM_ACTIONS, POLICY
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.sql.tables import Base
from sync_server.plumbing.web import required_action
from tests.app_server import ApiClient, AppServer, a_concert
from tests.builders import a_gate, a_zone
from tests.contracts.server.request_bodies import Bodies

METHODS = ("GET", "PUT", "PATCH", "POST", "DELETE")
PLATFORM = ("super_admin", "tenant_manager")
FROM_OUTSIDE = {"X-Reason": "asked by the tenant", "X-Tenant-Approval": "mail of 4 July"}
READ_FIRST = {"seating.read_file", "seating.create", "seating.redraw", "seating.add_version"}
"""These validate the layout in the body before looking up anything, so they response 400 for an invalid route."""
OWN_NUMBERS = {"tickets.keys.distrust", "tickets.keys.revoke"}
"""Keys are numbered within their organisation: the caller's own has the same number, and is meant."""
LAST = ("revoke", "cancel", "archive", "walk")
"""URL endings of actions that destroy test data, and so run last."""
NO_ROLES = {Audience.GATE, Audience.GUEST, Audience.CUSTOMER}
SESSION_CHANGES = {
    "sign_in",
    "sign_in_by_link",
    "sign_in_by_password",
    "sign_in_by_passkey",
    "sign_out",
    "switch_organisation",
    "choose_organisation",
}
"""View functions that change who the caller is."""


@dataclass(frozen=True)
class Route:
    """One method of one URL rule."""

    method: str
    rule: Rule
    action: Action | None

    @property
    def endpoint(self) -> str:
        return self.rule.endpoint

    def __str__(self) -> str:
        return f"{self.method} {self.rule.rule} ({self.endpoint})"


def routes(app_server: AppServer) -> list[Route]:
    """All routes; those that destroy test data come last."""
    views = app_server.app.view_functions
    found = [
        Route(method, rule, required_action(views[rule.endpoint]))
        for rule in app_server.app.url_map.iter_rules()
        for method in METHODS
        if method in (rule.methods or ())
    ]

    def order(route: Route) -> tuple[bool, int, str]:
        return route.rule.rule.endswith(LAST), METHODS.index(route.method), route.rule.rule

    return sorted(found, key=order)


class Organisation:
    """An organisation with one of everything that routes can refer to."""

    def __init__(self, app_server: AppServer, slug: str = "marquee") -> None:
        self.app_server = app_server
        self.organisation = app_server.organisation(slug)
        self.api = api = app_server.api(self.organisation)
        concert = a_concert(api)
        api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
        api.post(f"{concert.path}/zones", a_zone())
        device = api.post("/api/devices", {"name": "North"})
        api.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
        token = api.post("/api/tokens", {"name": "box office", "scopes": ["read"]})
        invitation = api.post("/api/invitations", {"email": "nora@marquee.example", "role": "staff"})
        with app_server.database.reading() as session:
            facts = text("SELECT message_id FROM outbox WHERE organisation_id = :organisation")
            message = session.execute(facts, {"organisation": self.organisation}).scalars().first()
        sale = {"places": [{"ticket_type": 1, "count": 1}], "method": "cash"}
        self.ids: dict[str, str] = {
            "slug": slug,
            "order_id": api.post(f"{concert.path}/sales", sale)["id"],
            "event_id": concert.event["id"],
            "venue_id": concert.venue["id"],
            "ticket_id": concert.ticket()["id"],
            "device_id": device["id"],
            "token_id": token["id"],
            "invitation_id": invitation["id"],
            "user_id": app_server.user(f"stan@{slug}.example", self.organisation, "staff"),
            "key_id": str(api.get("/api/keys")["items"][0]["id"]),
            "message_id": str(message),
            "number": "1",
            "webhook_id": api.post("/api/webhooks", {"url": "https://shop.example.org/", "facts": ["*"]})["id"],
        }
        self.bodies = Bodies(api.get("/openapi.json"))

    def copied_to(self, app_server: AppServer) -> Organisation:
        """The same organisation at a server with a copy of its database."""
        other = copy(self)
        other.app_server, other.api = app_server, ApiClient(app_server.app.test_client(), self.api.headers)
        return other

    def ask(self, api: ApiClient, route: Route, **headers: str) -> TestResponse:
        """Call a route with the ids of this organisation."""
        path = re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", lambda gap: self.ids.get(gap[1], "1"), route.rule.rule)
        described = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route.rule.rule)
        body = self.bodies.body(described, route.method, self.ids)
        path += "?" + urlencode(self.bodies.query(described, route.method, self.ids))
        if route.rule.rule.startswith("/admin/") and route.method == "POST":
            fields = {"name": "South", "target": "cancelled", "note": "looked at", "reason": "storm"}
            form = fields | {"csrf_token": api.headers.get("X-CSRF-Token", "")}
            response = api.client.post(path, data=form, headers=api.headers | headers)
        else:
            response = api.ask(route.method, path, body if route.method != "GET" else None, **headers)
        response.close()
        return response

    def knows(self, route: Route) -> bool:
        """Whether this organisation has everything that the route refers to."""
        return bool(route.rule.arguments) and route.rule.arguments <= self.ids.keys()

    def everything(self) -> dict[str, list[Any]]:
        """All rows of the organisation."""
        with self.app_server.database.reading() as session:
            return {
                table.name: sorted(
                    map(repr, session.execute(table.select().where(table.c.organisation_id == self.organisation)))
                )
                for table in Base.metadata.tables.values()
                if "organisation_id" in table.c
            }


@pytest.fixture(scope="module")
def first_tenant(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Organisation:
    """Made once, and then only copied; its server is closed."""
    folder = tmp_path_factory.mktemp("first")
    shutil.copyfile(migrated_sqlite, folder / "gatehouse.db")
    app_server = AppServer(f"sqlite:///{folder / 'gatehouse.db'}", folder)
    made = Organisation(app_server)
    app_server.close()
    return made


@pytest.fixture
def app_server(first_tenant: Organisation, tmp_path: Path) -> Iterator[AppServer]:
    """Permissions are checked before any database access, so one kind of database is enough."""
    for file in first_tenant.app_server.folder.glob("gatehouse.db*"):
        shutil.copyfile(file, tmp_path / file.name)
    made = AppServer(f"sqlite:///{tmp_path / 'gatehouse.db'}", tmp_path, fresh=False)
    yield made
    made.close()


@pytest.fixture
def tenant(first_tenant: Organisation, app_server: AppServer) -> Organisation:
    return first_tenant.copied_to(app_server)


def refused(response: TestResponse) -> bool:
    """Whether the request was refused because of the caller's role."""
    if response.status_code != 403:
        return False
    return response.json is None or response.json["error"]["code"] == "forbidden"


def describe(response: TestResponse) -> str:
    """The response, for assertion messages."""
    return f"{response.status_code} {response.json}"


def signed_in(tenant: Organisation, role: str) -> ApiClient:
    """A client with this role in the organisation."""
    app_server = tenant.app_server
    if role in PLATFORM:
        app_server.user(f"{role}@platform.example", platform=role)
        api = app_server.browser(f"{role}@platform.example")
        assert api.ask("POST", "/api/session/organisation", {"organisation_id": tenant.organisation}).status_code == 204
        return api
    app_server.user(f"{role}@marquee.example", tenant.organisation, role)
    return app_server.browser(f"{role}@marquee.example")


def test_every_route_declares_its_permission(app_server: AppServer) -> None:
    """A route that fails here lacks @requires(Action…), or an entry in accounts/public_routes.py."""
    undeclared = [
        str(route) for route in routes(app_server) if route.action is None and route.endpoint not in PUBLIC_ROUTES
    ]
    assert undeclared == []
    both = [str(route) for route in routes(app_server) if route.action is not None and route.endpoint in PUBLIC_ROUTES]
    assert both == []
    known = {route.endpoint for route in routes(app_server)}
    assert set(PUBLIC_ROUTES) - known == set(), "public routes that no longer exist"


def test_anonymous_requests_are_refused(tenant: Organisation) -> None:
    stranger = ApiClient(tenant.app_server.app.test_client(), {})
    for route in routes(tenant.app_server):
        if route.action is None or (route.method == "GET" and route.endpoint in PARTLY_PUBLIC):
            continue
        response = tenant.ask(stranger, route)
        if route.rule.rule.startswith("/admin/"):
            assert (response.status_code, response.location.split("?")[0]) == (302, "/admin/login"), str(route)
        else:
            assert response.status_code == 401, f"{route}: {response.status_code}"


@pytest.mark.parametrize("role", list(POLICY))
def test_a_role_has_exactly_the_permissions_of_the_table(tenant: Organisation, role: str) -> None:
    api = signed_in(tenant, role)
    for route in routes(tenant.app_server):
        if route.endpoint.split(".")[-1] in SESSION_CHANGES or (
            route.action is None and PUBLIC_ROUTES[route.endpoint].who in NO_ROLES
        ):
            continue
        response = tenant.ask(api, route, **(FROM_OUTSIDE if role in PLATFORM else {}))
        allowed = route.action is None or route.action in POLICY[role]
        assert refused(response) is not allowed, f"{role} {route}: {describe(response)}"
        if allowed:
            assert response.status_code not in {401, 500}, f"{role} {route}: {describe(response)}"


def test_a_guest_may_hold_and_buy_and_nothing_else(tenant: Organisation) -> None:
    client = tenant.app_server.app.test_client()
    came = client.post("/api/o/marquee/session")
    assert came.json is not None
    token = next(value for name, value in came.json.items() if "csrf" in name)
    guest = ApiClient(client, {"X-CSRF-Token": token})
    for route in routes(tenant.app_server):
        shown = route.method == "GET" and route.endpoint in PARTLY_PUBLIC
        if route.action is None or shown or route.rule.rule.startswith("/admin/"):
            continue
        response = tenant.ask(guest, route)
        assert refused(response) is (route.action not in GUEST_ACTIONS), f"guest {route}: {describe(response)}"


@pytest.mark.parametrize("action", list(Action))
def test_a_token_has_exactly_the_permissions_of_its_scope(tenant: Organisation, action: Action) -> None:
    api = tenant.app_server.api(tenant.organisation, [action.value])
    for route in routes(tenant.app_server):
        if route.action is None or route.rule.rule.startswith("/admin/"):
            continue
        allowed = action in {route.action, IMPLIED_SCOPES.get(route.action)}
        response = tenant.ask(api, route)
        assert refused(response) is not allowed, f"{action} {route}: {describe(response)}"


def test_an_owner_of_another_organisation_sees_and_changes_nothing(tenant: Organisation) -> None:
    """Every route answers 404, and no row of the organisation changes.

    Where this fails with 400, request_bodies.py makes no valid body for the route.
    """
    app_server = tenant.app_server
    foreign = app_server.organisation("rivals")
    app_server.user("rita@rivals.example", foreign, "owner")
    rita = app_server.browser("rita@rivals.example")
    before = tenant.everything()
    asked = [route for route in routes(app_server) if route.action is not None and route.rule.arguments]
    for route in asked:
        theirs = tenant.ask(rita, route)
        if route.endpoint in OWN_NUMBERS:
            assert theirs.status_code in {200, 302, 409}, f"{route}: {describe(theirs)}"
        elif route.action in PLATFORM_ACTIONS:
            assert theirs.status_code == 403, f"{route}: {describe(theirs)}"
        elif tenant.knows(route) and route.endpoint not in READ_FIRST:
            assert theirs.status_code == 404, f"{route}: {describe(theirs)}"
        else:
            assert theirs.status_code in {400, 404, 405, 409}, f"{route}: {describe(theirs)}"
    assert len(asked) > 50
    assert tenant.everything() == before


def test_only_owners_change_owners(tenant: Organisation) -> None:
    """The only thing that an owner may do and an admin may not."""
    adam = signed_in(tenant, "admin")
    owner = tenant.app_server.user("olga@marquee.example", tenant.organisation, "owner")
    assert adam.refused("PUT", f"/api/members/{owner}", {"role": "staff"}) == (403, "forbidden")
    assert adam.refused("DELETE", f"/api/members/{owner}") == (403, "forbidden")
