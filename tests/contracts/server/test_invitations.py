"""Becoming a member: by a one-time link, with one's own password, and only if one wants to."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import event, select, text
from werkzeug.test import TestResponse

from sync_server.accounts import invitations, queries
from sync_server.accounts.models import MembershipRow, UserRow
from sync_server.accounts.sign_in import password_links
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, HOUR
from tests.staff import PASSWORD

SIGN_IN, ACCEPT = "/api/session", "/api/invitations/accept"
NORA = "nora@box-office.example"
HERS = "what nora chose herself"


@pytest.fixture
def org(app_server: AppServer) -> str:
    return app_server.organisation("marquee")


@pytest.fixture
def rivals(app_server: AppServer) -> str:
    return app_server.organisation("rivals")


@pytest.fixture
def olga(app_server: AppServer, org: str) -> ApiClient:
    app_server.user("olga@marquee.example", org, "owner")
    return app_server.browser("olga@marquee.example")


def link_to(app_server: AppServer, organisation_id: str, email: str = NORA, role: str = "staff") -> str:
    """The code of an invitation's link, as the operator may hand it over."""
    with app_server.database.writing() as session:
        return invitations.invite(
            session, organisation_id, email=email, role=role, by=None, context=app_server.context()
        )[1]


def ask(app_server: AppServer, path: str, **body: Any) -> TestResponse:
    return app_server.app.test_client().post(path, json=body)


def code_of(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"] if answer.json else ""


def role_of(app_server: AppServer, email: str, organisation_id: str) -> str | None:
    with app_server.database.reading() as session:
        here = MembershipRow.organisation_id == organisation_id, UserRow.email == email
        return session.execute(
            select(MembershipRow.role).join(UserRow, UserRow.id == MembershipRow.user_id).where(*here)
        ).scalar_one_or_none()


def test_the_invited_person_chooses_name_and_password(app_server: AppServer, org: str) -> None:
    code = link_to(app_server, org, role="admin")
    offered = ask(app_server, "/api/invitations/preview", code=code).json
    assert offered == {"organisation": "Marquee", "role": "admin", "email": NORA, "has_login": False}
    assert role_of(app_server, NORA, org) is None
    client = app_server.app.test_client()
    assert client.post(ACCEPT, json={"code": code, "name": "Nora", "password": HERS}).status_code == 200
    who = client.get(SIGN_IN).json
    assert who and (who["name"], who["role"], who["organisation"]["slug"]) == ("Nora", "admin", "marquee")


def test_who_invites_an_address_never_signs_in_as_its_owner(app_server: AppServer, org: str, rivals: str) -> None:
    """A invites somebody who works for B with a password of A's choice; B invites the same address later."""
    olga = app_server.api(org)
    taken_over = {"email": NORA, "role": "staff", "name": "Nora", "password": "chosen by marquee"}
    assert olga.ask("POST", "/api/members", taken_over).status_code == 405
    assert olga.ask("POST", "/api/invitations", taken_over).status_code == 400
    made = olga.post("/api/invitations", {"email": NORA, "role": "staff"})
    assert "#" not in str(made) and "code" not in made
    first, second = link_to(app_server, org), link_to(app_server, rivals)
    assert ask(app_server, ACCEPT, code=second, name="Nora", password=HERS).status_code == 200
    assert code_of(ask(app_server, ACCEPT, code=first, name="Nora", password="chosen by marquee"))[0] == 401
    assert role_of(app_server, NORA, org) is None
    assert ask(app_server, SIGN_IN, email=NORA, password="chosen by marquee").status_code == 401
    assert ask(app_server, ACCEPT, code=first, password=HERS).status_code == 200
    assert role_of(app_server, NORA, org) == "staff"


def test_who_is_signed_in_accepts_without_a_password_and_only_for_themselves(
    app_server: AppServer, org: str, rivals: str
) -> None:
    app_server.user(NORA, rivals, "owner")
    app_server.user("eve@rivals.example", rivals, "owner")
    eve, nora = app_server.browser("eve@rivals.example"), app_server.browser(NORA)
    code = link_to(app_server, org)
    assert eve.refused("POST", ACCEPT, {"code": code}) == (401, "bad_credentials")
    nora.post(ACCEPT, {"code": code}, 200)
    assert nora.get(SIGN_IN)["organisation"]["slug"] == "marquee"
    assert role_of(app_server, "eve@rivals.example", org) is None


def test_somebody_elses_browser_is_not_moved_into_the_organisation(
    app_server: AppServer, org: str, rivals: str
) -> None:
    """Eve opens the link of an address without a login in her own browser: it becomes Nora's session."""
    app_server.user("eve@rivals.example", rivals, "owner")
    eve = app_server.browser("eve@rivals.example")
    eve.post(ACCEPT, {"code": link_to(app_server, org), "name": "Nora", "password": HERS}, 200)
    who = eve.get(SIGN_IN)
    assert (who["name"], who["organisation"]["slug"]) == ("Nora", "marquee")


def test_a_link_works_once_for_a_week_and_until_it_is_withdrawn_or_replaced(
    app_server: AppServer, org: str, olga: ApiClient
) -> None:
    ended = (404, "invitation_ended")
    used = link_to(app_server, org)
    ask(app_server, ACCEPT, code=used, name="Nora", password=HERS)
    assert code_of(ask(app_server, ACCEPT, code=used, password=HERS)) == ended
    replaced = link_to(app_server, org, "stan@marquee.example")
    late = link_to(app_server, org, "stan@marquee.example")
    assert code_of(ask(app_server, ACCEPT, code=replaced, name="Stan", password=HERS)) == ended
    app_server.advance(7 * DAY)
    assert code_of(ask(app_server, ACCEPT, code=late, name="Stan", password=HERS)) == ended
    olga = app_server.browser("olga@marquee.example")
    withdrawn = link_to(app_server, org, "stan@marquee.example")
    (listed,) = olga.get("/api/invitations")["items"]
    assert olga.ask("DELETE", f"/api/invitations/{listed['id']}").status_code == 204
    assert code_of(ask(app_server, ACCEPT, code=withdrawn, name="Stan", password=HERS)) == ended
    assert olga.get("/api/invitations")["items"] == []


def test_of_two_who_accept_at_once_one_becomes_a_member(app_server: AppServer, org: str) -> None:
    code, start = link_to(app_server, org), threading.Barrier(6)

    def accept(number: int) -> int:
        start.wait(60)
        return ask(app_server, ACCEPT, code=code, name="Nora", password=f"{HERS} {number}").status_code

    with ThreadPoolExecutor(6) as pool:
        answers = sorted(pool.map(accept, range(6)))
    assert answers[0] == 200 and set(answers[1:]) <= {401, 404, 409}


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaaaaaa"])
def test_a_password_that_is_easily_guessed_leaves_the_invitation_open(
    app_server: AppServer, org: str, password: str
) -> None:
    code = link_to(app_server, org)
    assert ask(app_server, ACCEPT, code=code, name="Nora", password=password).status_code == 400
    assert ask(app_server, ACCEPT, code=code, name="Nora", password=HERS).status_code == 200


def test_an_invitation_does_not_outlive_the_rights_of_its_maker(
    app_server: AppServer, org: str, olga: ApiClient
) -> None:
    app_server.user("adam@marquee.example", org, "admin")
    adam = app_server.browser("adam@marquee.example")
    with app_server.database.writing() as session:
        by = queries.acting_for(session, org, adam.get(SIGN_IN)["id"])
        _, code = invitations.invite(session, org, email=NORA, role="admin", by=by, context=app_server.context())
    olga.ask("DELETE", f"/api/members/{adam.get(SIGN_IN)['id']}")
    assert code_of(ask(app_server, ACCEPT, code=code, name="Nora", password=HERS)) == (404, "invitation_ended")


def test_inviting_tells_nothing_about_an_address(app_server: AppServer, olga: ApiClient, rivals: str) -> None:
    app_server.user("known@rivals.example", rivals)
    statements: list[list[str]] = []
    event.listen(
        app_server.database.engine,
        "before_cursor_execute",
        lambda _connection, _cursor, statement, *_: statements[-1].append(statement),
    )
    answers = []
    for email in ("known@rivals.example", "unknown@rivals.example"):
        statements.append([])
        answers.append(olga.post("/api/invitations", {"email": email, "role": "staff"}))
    assert statements[0] == statements[1]
    said = [str(answer | {"id": ""}).replace("unknown@", "known@") for answer in answers]
    assert said[0] == said[1]


def test_an_organisation_cannot_flood_the_world_with_invitations(app_server: AppServer, org: str) -> None:
    with app_server.database.writing() as session:
        for number in range(100):
            invitations.invite(
                session, org, email=f"{number}@x.example", role="staff", by=None, context=app_server.context()
            )
    answer = app_server.api(org).ask("POST", "/api/invitations", {"email": NORA, "role": "staff"})
    assert (code_of(answer), "Retry-After" in answer.headers) == ((429, "rate_limited"), True)


def reset_link(app_server: AppServer, user_id: str) -> str:
    with app_server.database.writing() as session:
        return password_links.make(session, user_id, app_server.context())


def test_a_password_link_works_once_and_ends_all_sessions(app_server: AppServer, olga: ApiClient) -> None:
    olgas_id = olga.get(SIGN_IN)["id"]
    first, second = reset_link(app_server, olgas_id), reset_link(app_server, olgas_id)
    link = "/api/password/by-link"
    assert ask(app_server, link, code=first, password="short").status_code == 400
    assert ask(app_server, link, code=first, password=HERS).status_code == 204
    assert olga.refused("GET", "/api/events") == (401, "unauthenticated")
    for ended in (first, second):
        assert code_of(ask(app_server, link, code=ended, password="another one of hers")) == (404, "link_ended")
    assert ask(app_server, SIGN_IN, email="olga@marquee.example", password=PASSWORD).status_code == 401
    assert ask(app_server, SIGN_IN, email="olga@marquee.example", password=HERS).status_code == 200
    late = reset_link(app_server, olgas_id)
    app_server.advance(2 * HOUR)
    assert code_of(ask(app_server, link, code=late, password=HERS)) == (404, "link_ended")


def test_a_login_without_a_password_lets_nobody_in(app_server: AppServer) -> None:
    from sync_server.accounts.sign_in import logins

    with app_server.database.writing() as session:
        logins.create_login(session, email=NORA, name="Nora", context=app_server.context())
    for guess in ("", " ", "nobody", HERS):
        assert ask(app_server, SIGN_IN, email=NORA, password=guess).status_code in {400, 401}


def test_what_has_ended_is_deleted(app_server: AppServer, org: str, olga: ApiClient) -> None:
    link_to(app_server, org)
    reset_link(app_server, olga.get(SIGN_IN)["id"])
    app_server.advance(40 * DAY)
    app_server.run_worker()
    with app_server.database.reading() as session:
        left = [session.execute(text(f"SELECT count(*) FROM {t}")).scalar() for t in ("invitations", "password_links")]
    assert left == [0, 0]


def csrf_free(client: FlaskClient, path: str, **form: str) -> TestResponse:
    return client.post(path, data=form, headers={"Sec-Fetch-Site": "same-origin"})


def test_the_pages_accept_an_invitation(app_server: AppServer, org: str) -> None:
    client, code = app_server.app.test_client(), link_to(app_server, org)
    assert "data-one-time-code" in client.get("/admin/invitation").get_data(as_text=True)
    shown = csrf_free(client, "/admin/invitation", code=code).get_data(as_text=True)
    assert "Join Marquee" in shown and NORA in shown and "new-password" in shown
    weak = csrf_free(client, "/admin/invitation/accept", code=code, name="Nora", password="short")
    assert weak.status_code == 400 and "ten characters" in weak.get_data(as_text=True)
    done = csrf_free(client, "/admin/invitation/accept", code=code, name="Nora", password=HERS)
    assert (done.status_code, done.location) == (302, "/admin/")
    assert client.get("/admin/").status_code == 200
    assert csrf_free(app_server.app.test_client(), "/admin/invitation", code=code).status_code == 404
