"""Personal values are erased from the audit log; the log stays intact."""

from __future__ import annotations

import json

import pytest
from msgspec import structs
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from sync_server.accounts import service as people
from sync_server.audit import erasure, rules
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.requests.principals import Actor
from tests.app_server import AppServer
from tests.contracts.server.test_audit_sealing import MARQUEE, RIVALS, proof, seal

DAY = 24 * 3_600_000


def note(app_server: AppServer, actor: str, *, organisation: str | None = MARQUEE, ip: str = "192.0.2.7") -> None:
    who = Actor("user", actor, ip, "a browser")
    with app_server.database.writing() as session:
        record(
            session,
            AuditLine(structs.replace(app_server.context(), actor=who), "ticket_blocked", "ticket", "1", organisation),
        )


def stored(app_server: AppServer) -> list[str]:
    """The personal values still in the database."""
    with app_server.database.reading() as session:
        found = session.execute(text("SELECT content FROM audit_personal ORDER BY line_id, part")).scalars()
        return [content for content in found if content is not None]


def erase(app_server: AppServer, kind: str, id: str, organisation: str | None = None) -> int:
    with app_server.database.writing() as session:
        return erasure.erase_person(
            session, kind, id, app_server.context(), reason="asked for", organisation_id=organisation
        )


def everything(app_server: AppServer) -> str:
    with app_server.database.reading() as session:
        return "\n".join(
            repr(session.execute(text(f"SELECT * FROM {table}")).all())
            for table in ("audit_lines", "audit_personal", "audit_chains")
        )


def test_a_persons_addresses_are_erased_and_the_chain_stays_intact(app_server: AppServer) -> None:
    note(app_server, "olga")
    note(app_server, "stan", ip="192.0.2.99")
    seal(app_server)
    assert erase(app_server, "user", "olga") == 1
    seal(app_server)
    found = proof(app_server, MARQUEE)
    assert (found.broken, found.erased, found.reached.seq) == (None, 1, 3)
    assert "192.0.2.7" not in everything(app_server) and "192.0.2.99" in everything(app_server)


def test_values_erased_before_their_line_was_sealed(app_server: AppServer) -> None:
    note(app_server, "olga")
    assert erase(app_server, "user", "olga") == 1
    seal(app_server)
    assert (proof(app_server, MARQUEE).broken, proof(app_server, MARQUEE).erased) == (None, 1)


def test_a_second_erasure_finds_nothing_and_writes_nothing(app_server: AppServer) -> None:
    note(app_server, "olga")
    assert erase(app_server, "user", "olga") == 1
    assert erase(app_server, "user", "olga") == 0
    seal(app_server)
    assert proof(app_server, MARQUEE).reached.seq == 2


def test_an_erasure_is_logged_in_the_chain_of_each_organisation(app_server: AppServer) -> None:
    note(app_server, "olga", organisation=MARQUEE)
    note(app_server, "olga", organisation=RIVALS)
    note(app_server, "olga", organisation=None)
    assert erase(app_server, "user", "olga") == 3
    told = text("SELECT organisation_id, subject_id, reason FROM audit_lines WHERE action = :action")
    with app_server.database.reading() as session:
        lines = {tuple(row) for row in session.execute(told, {"action": erasure.ERASED})}
    assert lines == {(where, "olga", "asked for") for where in (MARQUEE, RIVALS, rules.INSTALLATION)}


def test_an_erasure_in_one_organisation_leaves_the_others_alone(app_server: AppServer) -> None:
    note(app_server, "olga", organisation=MARQUEE)
    note(app_server, "olga", organisation=RIVALS)
    assert erase(app_server, "user", "olga", MARQUEE) == 1
    assert len(stored(app_server)) == 1


def test_old_values_are_erased_and_recent_ones_stay(app_server: AppServer) -> None:
    note(app_server, "olga", ip="192.0.2.1")
    app_server.advance(30 * DAY)
    note(app_server, "olga", ip="192.0.2.2")
    with app_server.database.writing() as session:
        before = app_server.now - 7 * DAY
        assert erasure.erase_older(session, before, app_server.context(), reason="kept a week") == 1
    assert [json.loads(content)["ip"] for content in stored(app_server)] == ["192.0.2.2"]


def supervisor(app_server: AppServer, organisation: str, name: str) -> int:
    with app_server.database.writing() as session:
        context = structs.replace(app_server.context(), actor=Actor("user", "olga", "192.0.2.7"))
        row = people.add_supervisor(session, organisation, name, "271828", context)
        return row.number


def test_a_supervisors_name_is_erased_and_the_address_of_who_added_them_is_not(app_server: AppServer) -> None:
    organisation = app_server.organisation("marquee")
    number = supervisor(app_server, organisation, "Sue Smith")
    seal(app_server)
    assert erase(app_server, "supervisor", str(number), organisation) == 1
    seal(app_server)
    assert "Sue Smith" not in everything(app_server)
    assert [json.loads(content) for content in stored(app_server)] == [{"ip": "192.0.2.7", "user_agent": ""}]
    assert proof(app_server, organisation).broken is None


def test_the_address_of_a_failed_sign_in_belongs_to_the_login_that_was_tried(app_server: AppServer) -> None:
    olga = app_server.user("olga@marquee.example")
    client = app_server.app.test_client()
    client.post("/api/session", json={"email": "olga@marquee.example", "password": "a wrong guess"})
    assert stored(app_server) and erase(app_server, "user", olga) == 1
    assert stored(app_server) == []


def test_no_line_holds_an_address_or_a_name(app_server: AppServer) -> None:
    organisation = app_server.organisation("marquee")
    note(app_server, "olga")
    supervisor(app_server, organisation, "Sue Smith")
    with app_server.database.reading() as session:
        lines = repr(session.execute(text("SELECT * FROM audit_lines")).all())
    for value in ("192.0.2.7", "a browser", "Sue Smith"):
        assert value not in lines
    assert rules.HIDDEN in lines


def test_what_is_erased_stays_erased(app_server: AppServer) -> None:
    note(app_server, "olga")
    erase(app_server, "user", "olga")
    for change in ("SET content = '{}'", "SET erased_at = 1", "SET erased_at = NULL"):
        with pytest.raises(DBAPIError, match="only ever added"), app_server.database.writing() as session:
            session.execute(text(f"UPDATE audit_personal {change}"))
