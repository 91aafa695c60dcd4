"""Somebody's values are erased from the audit log; the log stays whole."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from sync_server.accounts import service as people
from sync_server.audit import erasing, rules
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.principals import Actor
from tests.contracts.server.test_audit_sealing import proof, seal
from tests.office import Office

DAY = 24 * 3_600_000


def note(office: Office, actor: str, *, organisation: str | None = "marquee", ip: str = "192.0.2.7") -> None:
    who = Actor("user", actor, ip, "a browser")
    with office.database.writing() as session:
        record(session, AuditLine(who, "ticket_blocked", "ticket", "1", organisation, office.now))


def kept(office: Office) -> list[str]:
    """The personal values that are still there, as the database has them."""
    with office.database.reading() as session:
        found = session.execute(text("SELECT content FROM audit_personal ORDER BY line_id, part")).scalars()
        return [content for content in found if content is not None]


def erase(office: Office, kind: str, id: str, organisation: str | None = None) -> int:
    with office.database.writing() as session:
        return erasing.erase_person(session, kind, id, office.deed(), reason="asked for", organisation_id=organisation)


def everything(office: Office) -> str:
    with office.database.reading() as session:
        return "\n".join(
            repr(session.execute(text(f"SELECT * FROM {table}")).all())
            for table in ("audit_lines", "audit_personal", "audit_chains")
        )


def test_a_persons_addresses_go_and_the_chain_stays_whole(office: Office) -> None:
    note(office, "olga")
    note(office, "stan", ip="192.0.2.99")
    seal(office)
    assert erase(office, "user", "olga") == 1
    seal(office)
    found = proof(office, "marquee")
    assert (found.broken, found.erased, found.reached.seq) == (None, 1, 3)
    assert "192.0.2.7" not in everything(office) and "192.0.2.99" in everything(office)


def test_values_erased_before_their_line_was_sealed(office: Office) -> None:
    note(office, "olga")
    assert erase(office, "user", "olga") == 1
    seal(office)
    assert (proof(office, "marquee").broken, proof(office, "marquee").erased) == (None, 1)


def test_a_second_erasure_finds_nothing_and_writes_nothing(office: Office) -> None:
    note(office, "olga")
    assert erase(office, "user", "olga") == 1
    assert erase(office, "user", "olga") == 0
    seal(office)
    assert proof(office, "marquee").reached.seq == 2


def test_an_erasure_is_told_in_the_chain_of_each_organisation_it_touched(office: Office) -> None:
    note(office, "olga", organisation="marquee")
    note(office, "olga", organisation="rivals")
    note(office, "olga", organisation=None)
    assert erase(office, "user", "olga") == 3
    told = text("SELECT organisation_id, subject_id, reason FROM audit_lines WHERE action = :action")
    with office.database.reading() as session:
        lines = {tuple(row) for row in session.execute(told, {"action": erasing.ERASED})}
    assert lines == {(where, "olga", "asked for") for where in ("marquee", "rivals", None)}


def test_an_erasure_in_one_organisation_leaves_the_others_alone(office: Office) -> None:
    note(office, "olga", organisation="marquee")
    note(office, "olga", organisation="rivals")
    assert erase(office, "user", "olga", "marquee") == 1
    assert len(kept(office)) == 1


def test_old_values_go_and_young_ones_stay(office: Office) -> None:
    note(office, "olga", ip="192.0.2.1")
    office.advance(30 * DAY)
    note(office, "olga", ip="192.0.2.2")
    with office.database.writing() as session:
        before = office.now - 7 * DAY
        assert erasing.erase_older(session, before, office.deed(), reason="kept a week") == 1
    assert [json.loads(content)["ip"] for content in kept(office)] == ["192.0.2.2"]


def supervisor(office: Office, organisation: str, name: str) -> int:
    with office.database.writing() as session:
        row = people.add_supervisor(
            session,
            organisation,
            name=name,
            pin="271828",
            actor=Actor("user", "olga", "192.0.2.7"),
            now=office.now,
            entropy=office.dice,
        )
        return row.number


def test_a_supervisors_name_is_erased_and_the_address_of_who_added_them_is_not(office: Office) -> None:
    organisation = office.organisation("marquee")
    number = supervisor(office, organisation, "Sue Smith")
    seal(office)
    assert erase(office, "supervisor", str(number), organisation) == 1
    seal(office)
    assert "Sue Smith" not in everything(office)
    assert [json.loads(content) for content in kept(office)] == [{"ip": "192.0.2.7", "user_agent": ""}]
    assert proof(office, organisation).broken is None


def test_the_address_of_a_failed_sign_in_belongs_to_the_login_that_was_tried(office: Office) -> None:
    olga = office.user("olga@marquee.example")
    client = office.app.test_client()
    client.post("/api/session", json={"email": "olga@marquee.example", "password": "a wrong guess"})
    assert kept(office) and erase(office, "user", olga) == 1
    assert kept(office) == []


def test_no_line_holds_an_address_or_a_name(office: Office) -> None:
    organisation = office.organisation("marquee")
    note(office, "olga")
    supervisor(office, organisation, "Sue Smith")
    with office.database.reading() as session:
        lines = repr(session.execute(text("SELECT * FROM audit_lines")).all())
    for value in ("192.0.2.7", "a browser", "Sue Smith"):
        assert value not in lines
    assert rules.HIDDEN in lines


def test_what_is_erased_stays_erased(office: Office) -> None:
    note(office, "olga")
    erase(office, "user", "olga")
    for change in ("SET content = '{}'", "SET erased_at = 1", "SET erased_at = NULL"):
        with pytest.raises(DBAPIError, match="only ever added"), office.database.writing() as session:
            session.execute(text(f"UPDATE audit_personal {change}"))
