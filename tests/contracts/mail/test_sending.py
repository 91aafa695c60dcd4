"""Mails: written with the change, sent once by the worker, tried again or given up, and erased."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select, text, update

from sync_server.accounts import invitations
from sync_server.accounts.models import OrganisationRow
from sync_server.mail import bounces, letters, service
from sync_server.mail.letters import Letter
from sync_server.mail.models import MailRow
from sync_server.mail.sender import MailSender
from sync_server.mail.smtp import MailServer, Unreachable
from sync_server.order_mails.messages import LANGUAGES
from sync_server.plumbing.telemetry import logs
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, HOUR, MINUTE
from tests.contracts.mail.conftest import MakeServer
from tests.services.mail_server import USER, WORD, MailBox

NORA = "nora@box-office.example"
HERS = "what nora chose herself"


def invite(api: ApiClient, email: str = NORA) -> Any:
    return api.post("/api/invitations", {"email": email, "role": "staff"})


def rows(app_server: AppServer) -> list[MailRow]:
    with app_server.database.reading() as session:
        return list(session.scalars(select(MailRow).order_by(MailRow.id)))


def test_an_invitation_arrives_and_its_link_leads_to_a_membership(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox
) -> None:
    assert invite(olga)["mail"] == "waiting"
    assert mail_box.arrived == []
    app_server.run_worker()
    app_server.run_worker()
    (mail,) = mail_box.arrived
    assert (mail["To"], mail["From"]) == (NORA, "gatehouse@gate.example")
    assert mail["Subject"] == "Marquee invites you to Gatehouse"
    base, _, code = mail_box.link().partition("#")
    assert base == "https://gate.example/admin/invitation"
    accepted = {"code": code, "name": "Nora", "password": HERS}
    assert app_server.app.test_client().post("/api/invitations/accept", json=accepted).status_code == 200
    assert NORA in [member["email"] for member in olga.get("/api/members")["items"]]


def test_a_mail_speaks_the_language_of_its_organisation_and_escapes_its_name(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox
) -> None:
    with app_server.database.writing() as session:
        row = session.scalars(select(OrganisationRow)).one()
        row.language, row.name = "de", "<b>Zelt</b> & Co"
    invite(olga)
    app_server.run_worker()
    plain, html = (mail_box.arrived[0].get_body((kind,)) for kind in ("plain", "html"))
    assert plain and "<b>Zelt</b> & Co lädt Sie ein" in plain.get_content() and "als Mitarbeiter" in plain.get_content()
    assert html and "&lt;b&gt;Zelt&lt;/b&gt; &amp; Co lädt" in html.get_content() and "<b>" not in html.get_content()


def test_every_template_exists_in_every_language() -> None:
    assert letters.languages() == set(LANGUAGES)
    folder = Path(letters.__file__).with_name("templates")
    names = {file.name.split(".")[0] for file in folder.glob("*.*.*")}
    for name in names:
        for language in letters.languages():
            assert all((folder / f"{name}.{language}.{kind}").is_file() for kind in ("txt", "html"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "template", ["customer_sign_in", "ticket_transfer", "invitation", "password", "webhook_paused"]
)
def test_people_are_written_in_their_own_language(template: str, language: str) -> None:
    names = ("organisation", "minutes", "link", "event", "giver", "days", "hours", "host", "description", "kept")
    values = dict.fromkeys((*names, "webhook"), "x") | {"role": "staff", "because": "gone"}
    own, default = (letters.rendered(Letter(template, NORA, values, chosen)) for chosen in (language, "none"))
    assert f'lang="{language}"' in own.html
    assert (own.text == default.text) == (language == "en")


def test_nothing_is_sent_for_what_was_rolled_back(app_server: AppServer, mail_box: MailBox) -> None:
    letter = Letter("password", NORA, {"link": "https://gate.example/#x", "hours": 2})
    with pytest.raises(RuntimeError), app_server.database.writing() as session:
        later = app_server.now + HOUR
        service.post(session, letter, app_server.parts.sealer, app_server.context(), ends_at=later)
        raise RuntimeError
    app_server.run_worker()
    assert (rows(app_server), mail_box.arrived) == ([], [])


def test_neither_address_nor_code_stays_in_the_table_or_gets_into_a_log(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("debug")
    mail_box.refusals[NORA] = "450 4.2.1 nora@box-office.example is busy"
    invite(olga)
    app_server.run_worker()
    (waiting,) = rows(app_server)
    kept = waiting.sealed or b""
    assert kept and NORA.encode() not in kept and b"invitation" not in kept
    mail_box.refusals.clear()
    app_server.advance(HOUR)
    app_server.run_worker()
    code = mail_box.link().partition("#")[2]
    (sent,) = rows(app_server)
    assert (sent.state, sent.sealed, sent.due_at) == ("sent", None, None)
    logged = capsys.readouterr().err
    assert "mail_sent" in logged and "mail_waiting" in logged
    assert NORA not in logged and code not in logged
    with app_server.database.reading() as session:
        everything = repr(session.execute(text("SELECT * FROM mails")).all())
    assert NORA not in everything and code not in everything


def test_a_refused_address_is_given_up_at_once_and_the_inviter_is_told(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox
) -> None:
    mail_box.refusals[NORA] = "550 5.1.1 nobody of this name"
    invite(olga)
    invite(olga, "stan@box-office.example")
    for _ in range(2):
        app_server.run_worker()
        app_server.advance(HOUR)
    assert [mail["To"] for mail in mail_box.arrived] == ["stan@box-office.example"]
    olga = app_server.browser("olga@marquee.example")
    told = {item["email"]: item["mail"] for item in olga.get("/api/invitations")["items"]}
    assert told == {NORA: "failed 550 5.1.1", "stan@box-office.example": "sent"}


def test_a_mail_server_that_is_away_is_tried_again_after_growing_pauses(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox
) -> None:
    mail_box.stop()
    invite(olga)
    pauses = []
    for _ in range(5):
        app_server.run_worker()
        (waiting,) = rows(app_server)
        assert waiting.state == "waiting" and waiting.due_at is not None and waiting.problem == "away"
        pauses.append(waiting.due_at - app_server.now)
        app_server.run_worker()  # not before its time
        assert rows(app_server)[0].attempts == len(pauses)
        app_server.advance(pauses[-1])
    assert pauses[0] < MINUTE and all(later > earlier for earlier, later in zip(pauses, pauses[2:], strict=False))
    mail_box.start()
    app_server.run_worker()
    assert len(mail_box.arrived) == 1 and rows(app_server)[0].state == "sent"


def test_a_mail_that_cannot_be_written_holds_up_no_other(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox
) -> None:
    invite(olga)
    with app_server.database.writing() as session:
        session.execute(update(MailRow).values(sealed=b"sealed with another key", due_at=MailRow.due_at - 1))
    invite(olga, "stan@box-office.example")
    app_server.run_worker()
    assert [mail["To"] for mail in mail_box.arrived] == ["stan@box-office.example"]
    assert {(row.state, row.problem) for row in rows(app_server)} == {("waiting", "unreadable"), ("sent", "")}
    app_server.advance(8 * DAY)
    app_server.run_worker()
    assert {row.state for row in rows(app_server)} == {"failed", "sent"}


def test_a_mail_is_given_up_when_its_link_has_ended(app_server: AppServer, olga: ApiClient, mail_box: MailBox) -> None:
    mail_box.refusals[NORA] = "451 4.7.1 later"
    invite(olga)
    app_server.advance(7 * DAY - 10_000)
    app_server.run_worker()
    (gone,) = rows(app_server)
    assert (gone.state, gone.problem, gone.sealed, gone.due_at) == ("failed", "451 4.7.1", None, None)


def test_of_several_workers_one_sends_and_another_takes_over_from_one_that_died(
    make_server: MakeServer, app_server: AppServer, olga: ApiClient, mail_box: MailBox
) -> None:
    invite(olga)
    other = make_server()
    assert len(MailSender(app_server.parts)._claim()) == 1  # and dies
    other.run_worker()
    assert mail_box.arrived == []
    other.advance(20 * MINUTE)
    other.run_worker()
    assert len(mail_box.arrived) == 1


@pytest.mark.parametrize("scheme", ["smtps", "smtp"])
def test_a_mail_server_with_encryption_and_a_password(
    make_server: MakeServer, mail_box: MailBox, tmp_path: Path, scheme: str
) -> None:
    mail_box.stop()
    certificate = mail_box.start_encrypted(tmp_path, at_once=scheme == "smtps")
    (tmp_path / "word").write_text(WORD + "\n")
    settings = {"mail_url": f"{scheme}://{USER}@localhost:{mail_box.port}", "mail_tls": "starttls"}
    trusted = settings | {"mail_ca_file": certificate, "mail_password_file": tmp_path / "word"}
    app_server = make_server(**trusted)
    invite(app_server.api(app_server.organisation("marquee")))
    app_server.run_worker()
    assert len(mail_box.arrived) == 1
    for changed, problem in (
        ({"mail_ca_file": None}, "certificate"),
        ({"mail_password_file": None}, "user name or password"),
    ):
        config = app_server.parts.config.model_copy(update=changed)
        with pytest.raises(Unreachable, match=problem) as refused, MailServer(config).connected():
            pass
        assert WORD not in str(refused.value)


def test_without_encryption_nothing_goes_to_another_machine(app_server: AppServer, mail_box: MailBox) -> None:
    config = app_server.parts.config.model_copy(update={"mail_tls": "starttls"})
    with pytest.raises(Unreachable, match="STARTTLS"), MailServer(config).connected():
        pass


def test_a_mail_that_comes_back_is_noted(app_server: AppServer, olga: ApiClient, mail_box: MailBox) -> None:
    invite(olga)
    app_server.run_worker()
    notification = _notification(mail_box.arrived[0]["Message-ID"], "failed", "5.1.1")
    bounce = bounces.read(io.BytesIO(notification))
    assert bounce is not None
    with app_server.database.writing() as session:
        assert service.note_bounce(session, bounce.message_id, bounce.status, app_server.now)
        assert not service.note_bounce(session, "<somebody@elsewhere.example>", "5.1.1", app_server.now)
    assert olga.get("/api/invitations")["items"][0]["mail"] == "bounced 5.1.1"
    assert bounces.read(io.BytesIO(_notification("<x@y>", "delayed", "4.4.1"))) is None
    assert bounces.read(io.BytesIO(b"Subject: holidays\n\nI am away.")) is None


def _notification(message_id: str, action: str, status: str) -> bytes:
    lines = [
        "From: MAILER-DAEMON@mail.example",
        "Message-ID: <its-own@mail.example>",
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
        "",
        "--b",
        "Content-Type: text/plain",
        "",
        "It could not be delivered.",
        "--b",
        "Content-Type: message/delivery-status",
        "",
        "Reporting-MTA: dns; mail.example",
        "",
        f"Final-Recipient: rfc822; {NORA}",
        f"Action: {action}",
        f"Status: {status}",
        "",
        "--b",
        "Content-Type: text/rfc822-headers",
        "",
        f"To: {NORA}",
        f"Message-ID: {message_id}",
        "",
        "--b--",
    ]
    return "\r\n".join(lines).encode()


def test_asking_for_a_link_tells_nothing_about_an_address(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox
) -> None:
    statements: list[list[str]] = []
    event.listen(
        app_server.database.engine,
        "before_cursor_execute",
        lambda _connection, _cursor, statement, *_: statements[-1].append(statement),
    )
    client, answers = app_server.app.test_client(), []
    for email in ("olga@marquee.example", "nobody@marquee.example"):
        statements.append([])
        origin = {"REMOTE_ADDR": f"192.0.2.{len(statements)}"}
        answer = client.post("/api/password/link", json={"email": email}, environ_base=origin)
        answers.append((answer.status_code, answer.json))
    assert answers[0] == answers[1] and answers[0][0] == 202
    assert statements[0] == statements[1]
    app_server.run_worker()
    assert [mail["To"] for mail in mail_box.arrived] == ["olga@marquee.example"]
    code = mail_box.link().partition("#")[2]
    chosen = client.post("/api/password/by-link", json={"code": code, "password": HERS})
    assert chosen.status_code == 204 and olga.ask("GET", "/api/events").status_code == 401


def test_who_asks_for_links_again_and_again_is_slowed_down(
    app_server: AppServer, olga: ApiClient, mail_box: MailBox
) -> None:
    client = app_server.app.test_client()

    def ask(address: str) -> Any:
        return client.post(
            "/api/password/link", json={"email": "olga@marquee.example"}, environ_base={"REMOTE_ADDR": address}
        )

    assert {ask(f"192.0.2.{number}").status_code for number in range(6)} == {202}
    for _ in range(2):
        app_server.run_worker()
    assert len(mail_box.arrived) == 3
    statuses = [ask("198.51.100.7").status_code for _ in range(12)]
    assert statuses == [202] * 10 + [429] * 2
    app_server.advance(10_000)
    assert ask("198.51.100.7").status_code == 202
    assert ask("198.51.100.7").headers["Retry-After"] == "20"


def test_without_a_mail_server_links_are_handed_over(database_url: str, tmp_path: Path) -> None:
    made = AppServer(database_url, tmp_path)
    try:
        answer = invite(made.api(made.organisation("marquee")))
        assert answer["mail"] == "" and "No mail is set up" in answer["message"]
        assert "gatehouse-server invite" in answer["message"]
        asked = made.app.test_client().post("/api/password/link", json={"email": NORA}).json
        assert asked and "reset-link" in asked["message"] and rows(made) == []
        with made.database.reading() as session:
            assert len(invitations.open_invitations(session, _only(session), made.now)) == 1
    finally:
        made.close()


def _only(session: Any) -> str:
    return str(session.scalars(select(OrganisationRow.id)).one())
