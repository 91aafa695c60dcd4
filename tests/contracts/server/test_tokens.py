"""API tokens: their scopes and their end, and that they never outlive or exceed the member who made them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, text

from sync_server.plumbing.requests.principals import Action
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, MINUTE, a_venue

BOX_OFFICE = {"name": "box office", "scopes": ["read", "edit_venues", "manage_members", "manage_tokens"]}


@pytest.fixture
def org(app_server: AppServer) -> str:
    return app_server.organisation("marquee")


@pytest.fixture
def olga(app_server: AppServer, org: str) -> ApiClient:
    app_server.user("olga@marquee.example", org, "owner")
    return app_server.browser("olga@marquee.example")


@pytest.fixture
def adam(app_server: AppServer, org: str) -> ApiClient:
    """An admin, whom Olga may demote or remove."""
    app_server.user("adam@marquee.example", org, "admin")
    return app_server.browser("adam@marquee.example")


@pytest.fixture
def other_process(app_server: AppServer, database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A second process on the same database, with caches of its own."""
    made = AppServer(database_url, tmp_path, fresh=False)
    yield made
    made.close()


def bearer(app_server: AppServer, made: dict[str, str]) -> ApiClient:
    """A program that uses this token."""
    return ApiClient(app_server.app.test_client(), {"Authorization": f"Bearer {made['token']}"})


def id_of(client: ApiClient) -> str:
    return str(client.get("/api/session")["id"])


def use_of(admin: ApiClient, token_id: str) -> dict[str, str]:
    return next(item for item in admin.get("/api/tokens")["items"] if item["id"] == token_id)


def test_tokens_have_their_scopes_until_they_expire_or_are_revoked(app_server: AppServer, org: str) -> None:
    admin = app_server.api(org)
    made = admin.post("/api/tokens", {"name": "box office", "scopes": ["read"], "ends_at": app_server.now + DAY})
    reader = bearer(app_server, made)
    reader.get("/api/events")
    assert reader.refused("POST", "/api/venues", a_venue()) == (403, "forbidden")
    listed = admin.get("/api/tokens")["items"]
    assert all(item["token"] is None for item in listed)
    assert any(item["used_at"] for item in listed if item["id"] == made["id"])
    app_server.advance(DAY)
    assert reader.refused("GET", "/api/events") == (401, "bad_token")
    other = admin.post("/api/tokens", {"name": "other", "scopes": ["read"]})
    assert admin.ask("DELETE", f"/api/tokens/{other['id']}").status_code == 204
    gone = bearer(app_server, other)
    assert gone.refused("GET", "/api/events") == (401, "bad_token")


def test_nobody_grants_a_token_more_than_their_own_permissions(app_server: AppServer, org: str) -> None:
    limited = app_server.api(org, [Action.MANAGE_TOKENS.value, Action.READ.value])
    body = {"name": "more", "scopes": ["manage_keys"]}
    assert limited.refused("POST", "/api/tokens", body) == (403, "forbidden")
    assert limited.refused("POST", "/api/tokens", {"name": "odd", "scopes": ["fly"]})[0] == 400
    read = {"name": "short", "scopes": ["read", "manage_tokens"]}
    assert limited.refused("POST", "/api/tokens", read | {"ends_at": app_server.now})[0] == 400
    made = limited.post("/api/tokens", read | {"ends_at": app_server.now + DAY})
    short = bearer(app_server, made)
    assert short.refused("POST", "/api/tokens", read | {"ends_at": app_server.now + DAY + 1}) == (403, "forbidden")
    child = short.post("/api/tokens", read)  # nor does it outlive who made it
    assert (child["ends_at"], child["created_by"]) == (made["ends_at"], made["id"])


def test_a_removed_member_takes_his_tokens_along_in_every_process(
    app_server: AppServer, other_process: AppServer, olga: ApiClient, adam: ApiClient
) -> None:
    made = adam.post("/api/tokens", BOX_OFFICE)
    child = bearer(app_server, made).post("/api/tokens", {"name": "door list", "scopes": ["read"]})
    programs = [bearer(server, one) for server in (app_server, other_process) for one in (made, child)]
    for program in programs:
        program.get("/api/events")
    assert olga.ask("DELETE", f"/api/members/{id_of(adam)}").status_code == 204
    assert [program.refused("GET", "/api/events") for program in programs] == [(401, "bad_token")] * 4


def test_tokens_of_a_member_who_left_stay_revoked_when_he_returns(
    app_server: AppServer, olga: ApiClient, adam: ApiClient, org: str
) -> None:
    made, adams_id = adam.post("/api/tokens", BOX_OFFICE), id_of(adam)
    olga.ask("DELETE", f"/api/members/{adams_id}")
    app_server.give_role(org, adams_id, "admin")
    adam.get("/api/events")
    assert bearer(app_server, made).refused("GET", "/api/events") == (401, "bad_token")
    assert use_of(olga, made["id"])["revoked_at"] is not None


def test_a_token_never_may_more_than_its_maker_may_now(
    app_server: AppServer, other_process: AppServer, olga: ApiClient, adam: ApiClient
) -> None:
    made = adam.post("/api/tokens", BOX_OFFICE)
    programs = [bearer(server, made) for server in (app_server, other_process)]
    assert olga.ask("PUT", f"/api/members/{id_of(adam)}", {"role": "staff"}).status_code == 204
    for program in programs:
        program.get("/api/events")
        for path in ("/api/invitations", "/api/tokens", "/api/venues"):
            assert program.refused("POST", path, {}) == (403, "forbidden")
    olga.patch("/api/organisation/staff-policy", {"edit_venues": True})
    programs[1].post("/api/venues", a_venue())
    assert olga.ask("PUT", f"/api/members/{id_of(adam)}", {"role": "admin"}).status_code == 204
    programs[0].get("/api/members")


def test_a_closed_login_ends_its_tokens(app_server: AppServer, olga: ApiClient, adam: ApiClient) -> None:
    program = bearer(app_server, adam.post("/api/tokens", BOX_OFFICE))
    with app_server.database.writing() as session:
        session.execute(text("UPDATE users SET active = :no WHERE email LIKE 'adam@%'"), {"no": False})
    assert program.refused("GET", "/api/events") == (401, "bad_token")


def test_no_token_makes_an_owner_even_if_an_owner_made_it(app_server: AppServer, olga: ApiClient) -> None:
    program = bearer(app_server, olga.post("/api/tokens", BOX_OFFICE))
    assert program.refused("PUT", f"/api/members/{id_of(olga)}", {"role": "admin"}) == (403, "forbidden")


def test_who_acts_from_outside_makes_no_token_that_would_act_without_a_reason(app_server: AppServer, org: str) -> None:
    app_server.user("root@platform.example", platform="super_admin")
    root = app_server.browser("root@platform.example")
    root.post("/api/session/organisation", {"organisation_id": org}, 204)
    answer = root.ask("POST", "/api/tokens", {"name": "x", "scopes": ["read"]}, **{"X-Reason": "asked"})
    assert (answer.status_code, answer.json and answer.json["error"]["code"]) == (409, "not_a_member")


def test_revoking_a_token_revokes_those_made_with_it(app_server: AppServer, olga: ApiClient) -> None:
    first = olga.post("/api/tokens", BOX_OFFICE)
    second = bearer(app_server, first).post("/api/tokens", BOX_OFFICE)
    third = bearer(app_server, second).post("/api/tokens", {"name": "leaf", "scopes": ["read"]})
    beside = olga.post("/api/tokens", {"name": "beside", "scopes": ["read"]})
    assert olga.ask("DELETE", f"/api/tokens/{first['id']}").status_code == 204
    for ended in (second, third):
        assert bearer(app_server, ended).refused("GET", "/api/events") == (401, "bad_token")
    bearer(app_server, beside).get("/api/events")


def test_a_token_ends_by_itself_and_lasts_no_longer_than_the_server_allows(
    app_server: AppServer, olga: ApiClient
) -> None:
    made = olga.post("/api/tokens", {"name": "quarter", "scopes": ["read"]})
    longest = app_server.parts.config.token_days
    late = {"name": "for ever", "scopes": ["read"], "ends_at": app_server.now + longest * DAY + 1}
    assert olga.refused("POST", "/api/tokens", late) == (400, "invalid_request")
    olga.post("/api/tokens", late | {"ends_at": app_server.now + longest * DAY})
    program = bearer(app_server, made)
    app_server.advance(90 * DAY - 1)
    program.get("/api/events")
    app_server.advance(1)
    assert program.refused("GET", "/api/events") == (401, "bad_token")


def test_last_use_is_shown_and_written_once_a_minute(app_server: AppServer, olga: ApiClient) -> None:
    made = olga.post("/api/tokens", {"name": "poller", "scopes": ["read"]})
    assert use_of(olga, made["id"])["used_at"] is None
    program, written = bearer(app_server, made), []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE api_tokens"):
            written.append(app_server.now)

    event.listen(app_server.database.engine, "before_cursor_execute", note)
    first = app_server.now
    for _ in range(4):
        for _ in range(3):
            program.get("/api/events")
        app_server.advance(MINUTE // 2)
    assert written == [first, first + 3 * MINUTE // 2]
    assert use_of(olga, made["id"])["used_at"] is not None
