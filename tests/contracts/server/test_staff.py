"""Sign-in, roles, tokens, members and supervisors."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from tests.app_server import AppServer, Concert
from tests.builders import HOUR, a_venue
from tests.staff import PASSWORD

SIGN_IN = "/api/session"


def sign_in_status(app_server: AppServer, email: str, password: str) -> int:
    return app_server.app.test_client().post(SIGN_IN, json={"email": email, "password": password}).status_code


@pytest.fixture
def org(app_server: AppServer) -> str:
    return app_server.organisation("marquee")


def test_a_browser_signs_in_and_out(app_server: AppServer, org: str) -> None:
    app_server.user("olga@marquee.example", org, "owner")
    olga = app_server.browser("Olga@Marquee.example ")
    who = olga.get(SIGN_IN)
    assert (who["role"], who["organisation"]["slug"]) == ("owner", "marquee")
    olga.post("/api/venues", a_venue())
    assert olga.ask("DELETE", SIGN_IN).status_code == 204
    assert olga.ask("GET", "/api/venues").status_code == 401


def test_unsafe_requests_of_a_browser_need_its_csrf_token(app_server: AppServer, org: str) -> None:
    app_server.user("olga@marquee.example", org, "owner")
    olga = app_server.browser("olga@marquee.example")
    olga.headers = {}
    assert olga.refused("POST", "/api/venues", a_venue()) == (403, "bad_csrf")
    olga.headers = {"X-CSRF-Token": "0" * 48}
    assert olga.refused("POST", "/api/venues", a_venue()) == (403, "bad_csrf")
    assert olga.get("/api/venues")["items"] == []


def test_staff_who_visit_a_shop_in_the_same_browser_are_its_guests(app_server: AppServer, org: str) -> None:
    app_server.user("olga@marquee.example", org, "owner")
    olga, here = app_server.browser("olga@marquee.example"), "/api/o/marquee/session"
    olga.headers = {}
    guest = olga.post(here)
    assert guest["csrf_token"] and olga.get(SIGN_IN)["role"] == "owner"
    assert olga.refused("POST", "/api/venues", a_venue()) == (403, "bad_csrf")
    olga.headers = {"X-CSRF-Token": guest["csrf_token"]}
    assert olga.refused("POST", "/api/venues", a_venue()) == (403, "forbidden")
    olga.headers = {"Sec-Fetch-Site": "cross-site"}
    assert olga.refused("POST", here) == (403, "bad_origin")


def test_the_session_cookie_is_hidden_from_scripts_and_expires(app_server: AppServer, org: str) -> None:
    app_server.user("olga@marquee.example", org, "owner")
    answer = app_server.app.test_client().post(SIGN_IN, json={"email": "olga@marquee.example", "password": PASSWORD})
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    olga = app_server.browser("olga@marquee.example")
    app_server.advance(app_server.parts.config.session_hours * HOUR)
    assert olga.ask("GET", "/api/venues").status_code == 401


def test_an_unknown_account_answers_like_a_wrong_password(app_server: AppServer, org: str) -> None:
    app_server.user("olga@marquee.example", org, "owner")
    client = app_server.app.test_client()
    answers = [
        client.post(SIGN_IN, json={"email": email, "password": "wrong guess"}).json["error"]
        for email in ("olga@marquee.example", "nobody@marquee.example")
    ]
    assert answers[0]["message"] == answers[1]["message"] and answers[0]["code"] == answers[1]["code"]


def test_staff_prepare_but_do_not_publish(app_server: AppServer, concert: Concert) -> None:
    org = concert.api.get(SIGN_IN)["organisation"]["id"]
    app_server.user("stan@marquee.example", org, "staff")
    stan = app_server.browser("stan@marquee.example")
    stan.patch(concert.path, {"description": "with strings"})
    for path in ("publish", "cancel", "postpone", "go-live"):
        assert stan.refused("POST", f"{concert.path}/{path}", {}) == (403, "forbidden")
    assert stan.refused("GET", "/api/keys") == (403, "forbidden")
    assert stan.refused("GET", "/api/tokens") == (403, "forbidden")


def test_a_tenant_manager_cancels_only_with_the_tenants_approval(app_server: AppServer, concert: Concert) -> None:
    org = concert.api.get(SIGN_IN)["organisation"]["id"]
    app_server.user("tina@platform.example", platform="tenant_manager")
    tina = app_server.browser("tina@platform.example")
    assert tina.refused("GET", "/api/events") == (403, "no_organisation")
    tina.ask("POST", "/api/session/organisation", {"organisation_id": org})
    tina.get(concert.path)
    assert tina.refused("POST", f"{concert.path}/publish", {}) == (403, "forbidden")
    assert tina.refused("POST", f"{concert.path}/cancel", {}) == (403, "tenant_approval_required")
    assert tina.refused("POST", f"{concert.path}/cancel", {"reason": "storm", "approval": " "})[0] == 403
    concert.api.post(f"{concert.path}/publish", {}, 200)
    written = {"X-Tenant-Approval": "Schreiben%20vom%204.%20M%C3%A4rz%00"}
    tina.post(f"{concert.path}/postpone", {"reason": "storm"}, 200, **written)
    tina.post(f"{concert.path}/cancel", {"reason": "storm", "approval": "mail of 4 July"}, 200)
    with app_server.database.reading() as session:
        called_off = "SELECT approval, reason FROM audit_lines WHERE action IN ('event_postponed', 'event_cancelled')"
        kept = {tuple(row) for row in session.execute(text(called_off))}
    assert kept == {("Schreiben vom 4. März", "storm"), ("mail of 4 July", "storm")}


def test_a_super_admin_acts_in_any_organisation_but_ordinary_users_only_in_theirs(
    app_server: AppServer, org: str
) -> None:
    rivals = app_server.organisation("rivals")
    app_server.user("olga@marquee.example", org, "owner")
    app_server.user("root@platform.example", platform="super_admin")
    olga, root = app_server.browser("olga@marquee.example"), app_server.browser("root@platform.example")
    assert olga.refused("POST", "/api/session/organisation", {"organisation_id": rivals}) == (404, "not_found")
    assert root.ask("POST", "/api/session/organisation", {"organisation_id": rivals}).status_code == 204
    root.post("/api/venues", a_venue(), **{"X-Reason": "the tenant asked for help"})


def test_platform_staff_change_nothing_without_a_reason(app_server: AppServer, concert: Concert) -> None:
    org = concert.api.get(SIGN_IN)["organisation"]["id"]
    for role in ("super_admin", "tenant_manager"):
        app_server.user(f"{role}@platform.example", platform=role)
        api = app_server.browser(f"{role}@platform.example")
        assert api.ask("POST", "/api/session/organisation", {"organisation_id": org}).status_code == 204
        agreed = {"X-Tenant-Approval": "mail of 4 July"}
        answer = api.ask("POST", f"{concert.path}/cancel", {}, **agreed)
        assert answer.json is not None
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "reason_required")
        assert api.get(concert.path)["status"] == "draft"
    root = app_server.browser("super_admin@platform.example")
    root.ask("POST", "/api/session/organisation", {"organisation_id": org})
    root.post(f"{concert.path}/cancel", {"reason": "the roof is not safe"}, 200)
    with app_server.database.reading() as session:
        kept = session.execute(
            text("SELECT actor_kind, reason, approval FROM audit_lines WHERE action = 'event_cancelled'")
        ).one()
    assert tuple(kept) == ("platform", "the roof is not safe", "")


def test_admin_pages_apply_the_same_permissions_to_platform_staff(app_server: AppServer, concert: Concert) -> None:
    """A tenant manager cannot publish through a form what the API refuses, nor cancel without the tenant's approval."""
    org = concert.api.get(SIGN_IN)["organisation"]["id"]
    app_server.user("tina@platform.example", platform="tenant_manager")
    tina = app_server.browser("tina@platform.example")
    tina.ask("POST", "/api/session/organisation", {"organisation_id": org})
    page = f"/admin/events/{concert.event['id']}"
    shown = tina.client.get(page).get_data(as_text=True)
    assert "target=cancelled" in shown and "target=published" not in shown
    asked = tina.client.get(f"{page}/status?target=cancelled").get_data(as_text=True)
    assert 'name="approval"' in asked

    def change_status(**form: str) -> int:
        return tina.client.post(f"{page}/walk", data={"csrf_token": tina.headers["X-CSRF-Token"], **form}).status_code

    assert change_status(target="published", reason="why not", approval="none") == 403
    assert change_status(target="cancelled", reason="storm") == 403
    assert change_status(target="cancelled", approval="mail of 4 July") == 403
    assert change_status(target="cancelled", reason="storm", approval="mail of 4 July") == 302
    assert concert.api.get(concert.path)["status"] == "cancelled"


def test_an_organisation_keeps_an_owner_and_only_owners_make_owners(app_server: AppServer, org: str) -> None:
    owner = app_server.user("olga@marquee.example", org, "owner")
    app_server.user("adam@marquee.example", org, "admin")
    olga, adam = app_server.browser("olga@marquee.example"), app_server.browser("adam@marquee.example")
    assert adam.refused("POST", "/api/invitations", {"email": "nora@marquee.example", "role": "owner"})[0] == 403
    assert adam.refused("DELETE", f"/api/members/{owner}") == (403, "forbidden")
    assert olga.refused("PUT", f"/api/members/{owner}", {"role": "staff"}) == (409, "last_owner")
    app_server.user("nora@marquee.example", org, "owner")
    assert olga.ask("PUT", f"/api/members/{owner}", {"role": "staff"}).status_code == 204
    assert [member["role"] for member in adam.get("/api/members")["items"]] == ["admin", "owner", "staff"]


def test_secrets_are_kept_as_hashes_and_nowhere_else(app_server: AppServer, org: str) -> None:
    app_server.user("olga@marquee.example", org, "owner")
    app_server.browser("olga@marquee.example")
    admin = app_server.api(org)
    token = admin.post("/api/tokens", {"name": "t", "scopes": ["read"]}, **{"Idempotency-Key": "1"})["token"]
    admin.post("/api/supervisors", {"name": "Sue", "pin": "271828"}, **{"Idempotency-Key": "2"})
    dump = _everything(app_server)
    for secret in (token, "271828", PASSWORD):
        assert secret not in dump


def _everything(app_server: AppServer) -> str:
    from sync_server.migrations.tables import metadata

    with app_server.database.reading() as session:
        return "\n".join(
            repr(row) for table in metadata().sorted_tables for row in session.execute(table.select()).all()
        )


def test_the_audit_log_refuses_to_be_changed(app_server: AppServer, org: str) -> None:
    app_server.user("olga@marquee.example", org, "owner")
    app_server.browser("olga@marquee.example")  # now there is a line with an address and a browser
    changes = ["UPDATE audit_lines SET reason = 'nothing happened'", "DELETE FROM audit_lines"]
    if app_server.database.embedded:
        tables = ("audit_lines", "audit_personal")
        changes += [f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1" for table in tables]
    for change in changes:
        with pytest.raises(DBAPIError, match="only ever added"), app_server.database.writing() as session:
            session.execute(text(change))


def test_an_answer_remembered_in_one_organisation_is_not_given_in_another(app_server: AppServer) -> None:
    first, second = app_server.organisation("first"), app_server.organisation("second")
    user = app_server.user("both@example.org", first, "owner")
    app_server.give_role(second, user, "owner")
    browser = app_server.browser("both@example.org")
    browser.post("/api/session/organisation", {"organisation_id": first}, 204)
    mine = browser.ask("POST", "/api/venues", a_venue(), **{"Idempotency-Key": "k"})
    assert mine.status_code == 201
    browser.post("/api/session/organisation", {"organisation_id": second}, 204)
    other = browser.ask("POST", "/api/venues", a_venue(), **{"Idempotency-Key": "k"})
    assert (other.status_code, "Idempotent-Replay" in other.headers) == (201, False)
    assert other.json["id"] != mine.json["id"]
