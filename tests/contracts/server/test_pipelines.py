"""Statements that PostgreSQL gets in one go, and those that it has prepared: what fails, what waits, who sees what."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.audit.models import AuditRow
from sync_server.audit.service import AuditLine, audit_rows
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.plumbing.sql import late_writes, pipelines
from sync_server.plumbing.sql.asked_together import asked_together
from sync_server.plumbing.sql.bulk import MANY, insert_many
from sync_server.plumbing.sql.prepared import Prepared, among, placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange
from sync_server.scans.models import Presence
from tests.app_server import AppServer
from tests.builders import an_id

ORGANISATION, EVENT = an_id("organisation"), an_id("event")
TICKETS = Prepared(select(Presence.ticket).where(Presence.event_id == placeholder("event")).order_by(Presence.ticket))
MORE_BODIES = PreparedChange(
    lambda _: update(Presence).where(Presence.event_id == placeholder("event")).values(bodies=7).returning(Presence.at)
)
SOME_BODIES = PreparedChange(
    lambda _: (
        update(Presence)
        .where(among(Presence.ticket, "tickets", embedded=False))
        .values(bodies=5)
        .returning(Presence.ticket)
    )
)


@pytest.fixture
def server(postgres_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(postgres_url, tmp_path)
    yield made
    made.close()


def row(ticket: int) -> dict[str, object]:
    of = {"organisation_id": ORGANISATION, "event_id": EVENT}
    return of | {"ticket": ticket, "bodies": 1, "at": 2, "gate": 3, "zone": 4, "steps": b""}


def queued(session: Session) -> int:
    return len(session.info["late writes"])


def test_whatever_is_asked_next_sees_what_was_queued(server: AppServer) -> None:
    askers = (
        lambda session: session.scalars(select(Presence.ticket).order_by(Presence.ticket)).all(),
        lambda session: session.scalars(text("SELECT ticket FROM scan_presence ORDER BY 1")).all(),
        lambda session: [found.ticket for found in TICKETS.rows(session, event=EVENT)],
        lambda session: sorted(found.ticket for found in SOME_BODIES.rows(session, tickets=[*range(20)])),
        lambda session: session.connection().exec_driver_sql("SELECT ticket FROM scan_presence ORDER BY 1").scalars(),
    )
    known: list[int] = []
    for number, ask in enumerate(askers, start=1):
        with server.database.writing() as session:
            late_writes.begin(session)
            new = [row(2 * number), row(2 * number + 1)]
            for each in new:
                insert_many(session, Presence, [each])
            assert queued(session) == 2, "nobody has asked yet"
            known += [2 * number, 2 * number + 1]
            assert [*ask(session)] == known
            assert queued(session) == 0


def test_what_the_session_has_changed_is_written_after_what_was_queued(server: AppServer) -> None:
    with server.database.writing() as session:
        late_writes.begin(session)
        insert_many(session, Presence, [row(1)])
        session.add(Presence(**row(2)))
        session.flush()
        assert queued(session) == 0
        insert_many(session, Presence, [row(3)])
        MORE_BODIES.late(session, event=EVENT)
        assert queued(session) == 2
        insert_many(session, Presence, [row(ticket) for ticket in range(100, 100 + MANY)])
        assert queued(session) == 3, "many rows wait, too"
    with server.database.reading() as session:
        found = session.execute(select(Presence.ticket, Presence.bodies).order_by(Presence.ticket)).all()
    assert found == [(1, 7), (2, 7), (3, 7), *((ticket, 1) for ticket in range(100, 100 + MANY))]


def test_inserts_that_follow_one_another_are_one_statement(server: AppServer) -> None:
    """What locks a row that was there before stays where it was queued."""
    again = "ON CONFLICT (organisation_id, event_id, ticket) DO UPDATE SET bodies = excluded.bodies"
    with server.database.writing() as session:
        late_writes.begin(session)
        insert_many(session, Presence, [row(1)])
        insert_many(session, Presence, [row(2), row(3)])
        insert_many(session, Presence, [row(1) | {"bodies": 9}], again)
        insert_many(session, Presence, [row(4)])
        MORE_BODIES.late(session, event=EVENT)
        insert_many(session, Presence, [row(5)])
        sent = late_writes.taken(session)
        assert [statement.count("INSERT INTO scan_presence") for statement, _ in sent] == [2, 1, 1, 0, 1]
        pipelines.run(session, sent)
        found = session.execute(select(Presence.ticket, Presence.bodies).order_by(Presence.ticket)).all()
    assert found == [(1, 7), (2, 7), (3, 7), (4, 7), (5, 1)]


def test_what_fails_undoes_all_and_tells_no_values(server: AppServer) -> None:
    with pytest.raises(IntegrityError) as failed, server.database.writing() as session:
        late_writes.begin(session)
        insert_many(session, Presence, [row(8_001)])
        insert_many(session, Presence, [row(9_001)])
        insert_many(session, Presence, [row(9_001)])
    assert "9001" not in str(failed.value) and "left out" in str(failed.value)
    with server.database.reading() as session:
        assert TICKETS.rows(session, event=EVENT) == []
    with server.database.writing() as session:  # the connection is as good as new
        insert_many(session, Presence, [row(9_001)])


def test_answers_are_had_once_and_only_inside(server: AppServer) -> None:
    with server.database.writing() as session:
        insert_many(session, Presence, [row(1)])
        with asked_together(session, (TICKETS, {"event": EVENT}), (MORE_BODIES, {"event": EVENT})):
            session.add(Presence(**row(2)))
            session.flush()
            assert [each.ticket for each in TICKETS.rows(session, event=EVENT)] == [1], "as it was asked"
            assert [each.ticket for each in TICKETS.rows(session, event=EVENT)] == [1, 2], "asked anew"
            assert TICKETS.rows(session, event=an_id("another")) == [], "which nobody had asked"
        assert len(MORE_BODIES.rows(session, event=EVENT)) == 2, "the answer was not had, and is not kept"


def test_what_fails_when_it_is_asked_together_is_raised_as_if_alone(server: AppServer) -> None:
    broken = PreparedChange(lambda _: text("SELECT 1 / :nothing"))
    with pytest.raises(DBAPIError) as failed, server.database.writing() as session:
        insert_many(session, Presence, [row(1)])
        with asked_together(session, (TICKETS, {"event": EVENT}), (broken, {"nothing": 0})):
            raise AssertionError("not reached")
    assert "division by zero" in str(failed.value)
    with server.database.reading() as session:
        assert TICKETS.rows(session, event=EVENT) == []


def test_a_few_rows_arrive_as_they_were(server: AppServer) -> None:
    """They are sent as JSON; a column of JSON keeps the order of its keys, and what no text may have is refused."""
    words = ['a "quoted" word', "back\\slash", "{brace", "a,b", "NULL", "", "a\nb", "Zürich ✓", "\\u0000", "x" * 1000]
    said = {"zone": 1, "a": [None, 2**62, "ü"], "at": {"b": True}}
    made = AuditLine(ActionContext(SYSTEM, 1, os.urandom), "a.b", "event", EVENT, None)
    rows = [
        audit_rows(made, an_id(f"line {number}"), os.urandom).line | {"at": number, "reason": word, "after": said}
        for number, word in enumerate(words)
    ]
    rows[0]["subject_digest"] = b"\x00\xff\\"
    with server.database.writing() as session:
        insert_many(session, AuditRow, rows)
        shown = AuditRow.reason, AuditRow.subject_digest, AuditRow.request_id, AuditRow.after
        found = session.execute(select(*shown).where(AuditRow.action == "a.b").order_by(AuditRow.at)).all()
        as_text = "SELECT DISTINCT CAST(before AS text), CAST(after AS text) FROM audit_lines WHERE action = 'a.b'"
        stored = session.execute(text(as_text)).all()
    assert found == [(word, rows[0]["subject_digest"] if not at else None, None, said) for at, word in enumerate(words)]
    assert stored == [("null", json.dumps(said))]
    with pytest.raises(DataError) as refused, server.database.writing() as session:
        insert_many(session, AuditRow, [rows[0] | {"subject_id": "of somebody", "reason": "\x00"}])
    assert "somebody" not in str(refused.value)


def test_statements_stay_prepared_when_a_change_is_refused(server: AppServer) -> None:
    prepared = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%scan_presence%'")
    for refusal in (None, Conflict("Somebody was quicker."), IntegrityError):
        with suppress(Conflict, IntegrityError), server.database.writing() as session:
            backend = session.scalar(text("SELECT pg_backend_pid()"))
            for _ in range(7):
                TICKETS.rows(session, event=EVENT)
            insert_many(session, Presence, [row(1)])
            assert session.scalar(prepared)
            if refusal is IntegrityError:
                insert_many(session, Presence, [row(1)])
            elif refusal is not None:
                raise refusal
            session.execute(delete(Presence))
        with server.database.writing() as session:
            assert session.scalar(text("SELECT pg_backend_pid()")) == backend
            assert bool(session.scalar(prepared)) is (refusal is not IntegrityError)
            assert TICKETS.rows(session, event=EVENT) == []
