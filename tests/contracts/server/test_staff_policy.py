"""What staff may do is their organisation's policy, which owners and admins change."""

from __future__ import annotations

import pytest

from tests.app_server import ApiClient, AppServer, a_concert
from tests.builders import a_venue

POLICY = "/api/organisation/staff-policy"


@pytest.fixture
def org(app_server: AppServer) -> str:
    return app_server.organisation("marquee")


def client(app_server: AppServer, org: str, name: str, role: str) -> ApiClient:
    app_server.user(f"{name}@marquee.example", org, role)
    return app_server.browser(f"{name}@marquee.example")


def test_staff_get_what_the_organisation_grants_from_their_next_request_on(app_server: AppServer, org: str) -> None:
    olga, stan = client(app_server, org, "olga", "owner"), client(app_server, org, "stan", "staff")
    assert stan.get(POLICY)["edit_venues"] is False
    assert stan.refused("POST", "/api/venues", a_venue()) == (403, "forbidden")
    granted = olga.patch(POLICY, {"edit_venues": True})
    assert granted == stan.get(POLICY) == {**granted, "edit_venues": True, "change_status": False}
    stan.post("/api/venues", a_venue())
    olga.patch(POLICY, {"edit_venues": False, "issue_tickets": False})
    assert stan.refused("POST", "/api/venues", a_venue()) == (403, "forbidden")
    lines = [line for line in olga.get("/api/audit")["items"] if line["action"] == "staff_policy_changed"]
    taken = {"edit_venues": False, "issue_tickets": False}
    assert ({"edit_venues": True, "issue_tickets": True}, taken) in [(line["before"], line["after"]) for line in lines]


def test_whoever_may_change_the_status_may_call_off(app_server: AppServer, org: str) -> None:
    olga, stan = client(app_server, org, "olga", "owner"), client(app_server, org, "stan", "staff")
    concert = a_concert(olga)
    assert stan.refused("POST", f"{concert.path}/publish") == (403, "forbidden")
    olga.patch(POLICY, {"change_status": True})
    stan.post(f"{concert.path}/publish", {}, 200)
    stan.post(f"{concert.path}/cancel", {}, 200)


def test_staff_cannot_grant_themselves_anything(app_server: AppServer, org: str) -> None:
    stan = client(app_server, org, "stan", "staff")
    assert stan.refused("PATCH", POLICY, {"edit_venues": True}) == (403, "forbidden")


def test_the_policy_of_one_organisation_means_nothing_in_another(app_server: AppServer, org: str) -> None:
    client(app_server, org, "olga", "owner").patch(POLICY, {"edit_venues": True})
    rivals = app_server.organisation("rivals")
    app_server.user("rob@rivals.example", rivals, "staff")
    assert app_server.browser("rob@rivals.example").refused("POST", "/api/venues", a_venue()) == (403, "forbidden")
