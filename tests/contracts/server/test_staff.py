"""Who gets in, who may do what, and how it is kept."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from sync_server.accounts import service as people
from sync_server.plumbing.principals import SYSTEM, Action
from tests.builders import DAY, HOUR, MINUTE, a_venue
from tests.office import PASSWORD, Desk, Evening, Office

SIGN_IN = "/api/session"


def try_in(office: Office, email: str, password: str) -> int:
    return office.app.test_client().post(SIGN_IN, json={"email": email, "password": password}).status_code


@pytest.fixture
def org(office: Office) -> str:
    return office.organisation("marquee")


def test_a_browser_signs_in_works_and_signs_out(office: Office, org: str) -> None:
    office.user("olga@marquee.example", org, "owner")
    olga = office.browser("Olga@Marquee.example ")
    who = olga.get(SIGN_IN)
    assert (who["role"], who["organisation"]["slug"]) == ("owner", "marquee")
    olga.post("/api/venues", a_venue())
    assert olga.ask("DELETE", SIGN_IN).status_code == 204
    assert olga.ask("GET", "/api/venues").status_code == 401


def test_an_unsafe_request_of_a_browser_needs_the_token_of_its_page(office: Office, org: str) -> None:
    office.user("olga@marquee.example", org, "owner")
    olga = office.browser("olga@marquee.example")
    olga.headers = {}
    assert olga.refused("POST", "/api/venues", a_venue()) == (403, "bad_csrf")
    olga.headers = {"X-CSRF-Token": "0" * 48}
    assert olga.refused("POST", "/api/venues", a_venue()) == (403, "bad_csrf")
    assert olga.get("/api/venues")["items"] == []


def test_the_cookie_cannot_be_read_by_scripts_and_ends_by_itself(office: Office, org: str) -> None:
    office.user("olga@marquee.example", org, "owner")
    answer = office.app.test_client().post(SIGN_IN, json={"email": "olga@marquee.example", "password": PASSWORD})
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    olga = office.browser("olga@marquee.example")
    office.advance(office.parts.config.session_hours * HOUR)
    assert olga.ask("GET", "/api/venues").status_code == 401


def test_guessing_a_password_is_slowed_down_for_that_account_only(office: Office, org: str) -> None:
    office.user("olga@marquee.example", org, "owner")
    office.user("stan@marquee.example", org)
    assert [try_in(office, "olga@marquee.example", "wrong guess") for _ in range(6)] == [401] * 5 + [429]
    assert try_in(office, "olga@marquee.example", PASSWORD) == 429
    assert try_in(office, "stan@marquee.example", PASSWORD) == 200
    office.advance(16 * MINUTE)
    assert try_in(office, "olga@marquee.example", PASSWORD) == 200


def test_a_crowd_that_guesses_at_the_same_moment_has_no_more_guesses(office: Office, org: str) -> None:
    office.user("olga@marquee.example", org, "owner")
    start = threading.Barrier(16)

    def guess(turn: int) -> int:
        start.wait(60)
        return try_in(office, "olga@marquee.example", f"wrong guess {turn}")

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(guess, range(16)))
    assert set(answers) <= {401, 429} and answers.count(401) <= 5
    assert try_in(office, "olga@marquee.example", PASSWORD) == 429
    office.advance(16 * MINUTE)
    assert [try_in(office, "olga@marquee.example", PASSWORD) for _ in range(8)] == [200] * 8  # no try counts for ever


def test_an_unknown_address_answers_like_a_wrong_password(office: Office, org: str) -> None:
    office.user("olga@marquee.example", org, "owner")
    client = office.app.test_client()
    answers = [
        client.post(SIGN_IN, json={"email": email, "password": "wrong guess"}).json["error"]
        for email in ("olga@marquee.example", "nobody@marquee.example")
    ]
    assert answers[0]["message"] == answers[1]["message"] and answers[0]["code"] == answers[1]["code"]


def test_staff_prepare_but_do_not_publish(office: Office, evening: Evening) -> None:
    org = evening.desk.get(SIGN_IN)["organisation"]["id"]
    office.user("stan@marquee.example", org, "staff")
    stan = office.browser("stan@marquee.example")
    stan.patch(evening.path, {"description": "with strings"})
    for path in ("publish", "cancel", "postpone", "go-live"):
        assert stan.refused("POST", f"{evening.path}/{path}", {}) == (403, "forbidden")
    assert stan.refused("GET", "/api/keys") == (403, "forbidden")
    assert stan.refused("GET", "/api/tokens") == (403, "forbidden")


def test_a_tenant_manager_cancels_only_with_the_tenants_approval(office: Office, evening: Evening) -> None:
    org = evening.desk.get(SIGN_IN)["organisation"]["id"]
    office.user("tina@platform.example", platform="tenant_manager")
    tina = office.browser("tina@platform.example")
    assert tina.refused("GET", "/api/events") == (403, "no_organisation")
    tina.ask("POST", "/api/session/organisation", {"organisation_id": org})
    tina.get(evening.path)
    assert tina.refused("POST", f"{evening.path}/publish", {}) == (403, "forbidden")
    assert tina.refused("POST", f"{evening.path}/cancel", {}) == (403, "tenant_approval_required")
    assert tina.refused("POST", f"{evening.path}/cancel", {"reason": "storm", "approval": " "})[0] == 403
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    written = {"X-Tenant-Approval": "Schreiben%20vom%204.%20M%C3%A4rz%00"}
    tina.post(f"{evening.path}/postpone", {"reason": "storm"}, 200, **written)
    tina.post(f"{evening.path}/cancel", {"reason": "storm", "approval": "mail of 4 July"}, 200)
    with office.database.reading() as session:
        called_off = "SELECT approval, reason FROM audit_lines WHERE action IN ('event_postponed', 'event_cancelled')"
        kept = {tuple(row) for row in session.execute(text(called_off))}
    assert kept == {("Schreiben vom 4. März", "storm"), ("mail of 4 July", "storm")}


def test_a_super_admin_acts_in_any_organisation_but_ordinary_users_only_in_theirs(office: Office, org: str) -> None:
    rivals = office.organisation("rivals")
    office.user("olga@marquee.example", org, "owner")
    office.user("root@platform.example", platform="super_admin")
    olga, root = office.browser("olga@marquee.example"), office.browser("root@platform.example")
    assert olga.refused("POST", "/api/session/organisation", {"organisation_id": rivals}) == (404, "not_found")
    assert root.ask("POST", "/api/session/organisation", {"organisation_id": rivals}).status_code == 204
    root.post("/api/venues", a_venue(), **{"X-Reason": "the tenant asked for help"})


def test_who_acts_from_outside_says_why_or_nothing_happens(office: Office, evening: Evening) -> None:
    org = evening.desk.get(SIGN_IN)["organisation"]["id"]
    for role in ("super_admin", "tenant_manager"):
        office.user(f"{role}@platform.example", platform=role)
        desk = office.browser(f"{role}@platform.example")
        assert desk.ask("POST", "/api/session/organisation", {"organisation_id": org}).status_code == 204
        agreed = {"X-Tenant-Approval": "mail of 4 July"}
        answer = desk.ask("POST", f"{evening.path}/cancel", {}, **agreed)
        assert answer.json is not None
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "reason_required")
        assert desk.get(evening.path)["status"] == "draft"
    root = office.browser("super_admin@platform.example")
    root.ask("POST", "/api/session/organisation", {"organisation_id": org})
    root.post(f"{evening.path}/cancel", {"reason": "the roof is not safe"}, 200)
    with office.database.reading() as session:
        kept = session.execute(
            text("SELECT actor_kind, reason, approval FROM audit_lines WHERE action = 'event_cancelled'")
        ).one()
    assert tuple(kept) == ("platform", "the roof is not safe", "")


def test_pages_of_the_platforms_staff_obey_the_same_table(office: Office, evening: Evening) -> None:
    """A tenant manager cannot publish through a form what the API refuses, nor cancel without the tenant's word."""
    org = evening.desk.get(SIGN_IN)["organisation"]["id"]
    office.user("tina@platform.example", platform="tenant_manager")
    tina = office.browser("tina@platform.example")
    tina.ask("POST", "/api/session/organisation", {"organisation_id": org})
    page = f"/admin/events/{evening.event['id']}"
    shown = tina.client.get(page).get_data(as_text=True)
    assert 'value="cancelled"' in shown and 'value="published"' not in shown and 'name="approval"' in shown

    def walk(**form: str) -> int:
        return tina.client.post(f"{page}/walk", data={"csrf_token": tina.headers["X-CSRF-Token"], **form}).status_code

    assert walk(target="published", reason="why not", approval="none") == 403
    assert walk(target="cancelled", reason="storm") == 403
    assert walk(target="cancelled", approval="mail of 4 July") == 403
    assert walk(target="cancelled", reason="storm", approval="mail of 4 July") == 302
    assert evening.desk.get(evening.path)["status"] == "cancelled"


def test_tokens_do_what_they_were_made_for_until_they_end_or_are_revoked(office: Office, org: str) -> None:
    admin = office.desk(org)
    made = admin.post("/api/tokens", {"name": "box office", "scopes": ["read"], "ends_at": office.now + DAY})
    reader = Desk(office.app.test_client(), {"Authorization": f"Bearer {made['token']}"})
    reader.get("/api/events")
    assert reader.refused("POST", "/api/venues", a_venue()) == (403, "forbidden")
    listed = admin.get("/api/tokens")["items"]
    assert all(item["token"] is None for item in listed)
    assert any(item["used_at"] for item in listed if item["id"] == made["id"])
    office.advance(DAY)
    assert reader.refused("GET", "/api/events") == (401, "bad_token")
    other = admin.post("/api/tokens", {"name": "other", "scopes": ["read"]})
    assert admin.ask("DELETE", f"/api/tokens/{other['id']}").status_code == 204
    gone = Desk(office.app.test_client(), {"Authorization": f"Bearer {other['token']}"})
    assert gone.refused("GET", "/api/events") == (401, "bad_token")


def test_nobody_gives_a_token_more_than_they_may_themselves(office: Office, org: str) -> None:
    limited = office.desk(org, [Action.MANAGE_TOKENS.value, Action.READ.value])
    body = {"name": "more", "scopes": ["manage_keys"]}
    assert limited.refused("POST", "/api/tokens", body) == (403, "forbidden")
    assert limited.refused("POST", "/api/tokens", {"name": "odd", "scopes": ["fly"]})[0] == 400
    read = {"name": "short", "scopes": ["read", "manage_tokens"]}
    assert limited.refused("POST", "/api/tokens", read | {"ends_at": office.now})[0] == 400
    made = limited.post("/api/tokens", read | {"ends_at": office.now + DAY})
    short = Desk(office.app.test_client(), {"Authorization": f"Bearer {made['token']}"})
    assert short.refused("POST", "/api/tokens", read | {"ends_at": office.now + DAY + 1}) == (403, "forbidden")
    child = short.post("/api/tokens", read)  # nor does it outlive who made it
    assert (child["ends_at"], child["created_by"]) == (made["ends_at"], made["id"])


def test_an_organisation_keeps_an_owner_and_only_owners_make_owners(office: Office, org: str) -> None:
    owner = office.user("olga@marquee.example", org, "owner")
    office.user("adam@marquee.example", org, "admin")
    olga, adam = office.browser("olga@marquee.example"), office.browser("adam@marquee.example")
    new = {"email": "nora@marquee.example", "role": "owner", "name": "Nora", "password": "a long enough one"}
    assert adam.refused("POST", "/api/members", new) == (403, "forbidden")
    assert adam.refused("DELETE", f"/api/members/{owner}") == (403, "forbidden")
    assert olga.refused("PUT", f"/api/members/{owner}", {"role": "staff"}) == (409, "last_owner")
    nora = olga.post("/api/members", new)
    assert olga.ask("PUT", f"/api/members/{owner}", {"role": "staff"}).status_code == 204
    assert nora["role"] == "owner" and len(adam.get("/api/members")["items"]) == 3


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaaaaaa"])
def test_passwords_that_are_easily_guessed(office: Office, org: str, password: str) -> None:
    body = {"email": "x@marquee.example", "role": "staff", "name": "X", "password": password}
    assert office.desk(org).refused("POST", "/api/members", body)[0] == 400


def test_secrets_are_kept_as_hashes_and_nowhere_else(office: Office, org: str) -> None:
    office.user("olga@marquee.example", org, "owner")
    office.browser("olga@marquee.example")
    admin = office.desk(org)
    token = admin.post("/api/tokens", {"name": "t", "scopes": ["read"]}, **{"Idempotency-Key": "1"})["token"]
    admin.post("/api/supervisors", {"name": "Sue", "pin": "271828"}, **{"Idempotency-Key": "2"})
    dump = _everything(office)
    for secret in (token, "271828", PASSWORD):
        assert secret not in dump


def _everything(office: Office) -> str:
    from sync_server.migrations.tables import metadata

    with office.database.reading() as session:
        return "\n".join(
            repr(row) for table in metadata().sorted_tables for row in session.execute(table.select()).all()
        )


def test_the_audit_log_refuses_to_be_changed(office: Office, org: str) -> None:
    office.user("olga@marquee.example", org, "owner")
    office.browser("olga@marquee.example")  # now there is a line with an address and a browser
    changes = ["UPDATE audit_lines SET reason = 'nothing happened'", "DELETE FROM audit_lines"]
    if office.database.embedded:
        tables = ("audit_lines", "audit_personal")
        changes += [f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1" for table in tables]
    for change in changes:
        with pytest.raises(DBAPIError, match="only ever added"), office.database.writing() as session:
            session.execute(text(change))


def test_an_answer_remembered_in_one_organisation_is_not_given_in_another(office: Office) -> None:
    first, second = office.organisation("first"), office.organisation("second")
    office.user("both@example.org", first, "owner")
    with office.database.writing() as session:
        user = session.execute(text("SELECT id FROM users WHERE email = 'both@example.org'")).scalar_one()
        people.give_role(session, second, user, "owner", giver=None, actor=SYSTEM, now=office.now)
    browser = office.browser("both@example.org")
    browser.post("/api/session/organisation", {"organisation_id": first}, 204)
    mine = browser.ask("POST", "/api/venues", a_venue(), **{"Idempotency-Key": "k"})
    assert mine.status_code == 201
    browser.post("/api/session/organisation", {"organisation_id": second}, 204)
    other = browser.ask("POST", "/api/venues", a_venue(), **{"Idempotency-Key": "k"})
    assert (other.status_code, other.json["error"]["code"]) == (409, "idempotency_key_reused")
