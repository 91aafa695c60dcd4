"""Many values in one parameter: whatever they are, they arrive as they were."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, text

from sync_server.plumbing.sql.bulk import among, array_literal, insert_many, insert_missing
from sync_server.scans.models import Presence
from tests.app_server import AppServer
from tests.builders import an_id
from tests.contracts.sync.test_at_the_same_time import wait_for_a_blocked_transaction

COLUMNS: dict[str, list[Any]] = {
    "text": [
        "",
        "plain",
        'a "quoted" word',
        "back\\slash",
        "{brace",
        "a,b",
        "NULL",
        "null",
        " space ",
        "a\nb",
        "Zürich ✓",
        None,
    ],
    "bytea": [b"", b"\x00\xff", b'"', b"\\", None],
    "bigint": [0, -1, 2**63 - 1, -(2**63), None],
    "boolean": [True, False, None],
    "double precision": [0.5, -1e300, 1e-300, None],
}
TICKETS = [1, 5, 2**63, 2**64 - 1]


@pytest.mark.parametrize("kind", COLUMNS)
def test_an_array_arrives_as_it_was(postgres_url: str, tmp_path: Path, kind: str) -> None:
    app_server = AppServer(postgres_url, tmp_path)
    statement = text(f"SELECT * FROM unnest(CAST(:values AS {kind}[]))")
    for values in (COLUMNS[kind], COLUMNS[kind][:-1], []):
        with app_server.database.reading() as session:
            found = session.execute(statement, {"values": array_literal(values)}).scalars().all()
        assert [bytes(one) if kind == "bytea" and one is not None else one for one in found] == values
    app_server.close()


def test_what_no_column_has_is_refused() -> None:
    with pytest.raises(TypeError, match="dict"):
        array_literal([{}])


def test_rows_are_inserted_and_found_by_many_numbers(app_server: AppServer) -> None:
    event = {"organisation_id": app_server.organisation("marquee"), "event_id": an_id("event")}
    rows = [event | {"ticket": ticket, "bodies": 1, "at": 2, "gate": 3, "zone": 4, "steps": b""} for ticket in TICKETS]
    here = Presence.organisation_id == event["organisation_id"]
    with app_server.database.writing() as session:
        insert_many(session, Presence, rows, "ON CONFLICT DO NOTHING")
        insert_many(session, Presence, rows, "ON CONFLICT DO NOTHING")
    with app_server.database.reading() as session:
        found = session.scalars(select(Presence.ticket).where(here, among(session, Presence.ticket, TICKETS[1:])))
        assert set(found) == set(TICKETS[1:])
        assert session.scalars(select(Presence.ticket).where(here, among(session, Presence.ticket, []))).all() == []
    with app_server.database.writing() as session:
        session.execute(delete(Presence).where(here))


def test_columns_of_one_value_arrive_as_others_do(app_server: AppServer) -> None:
    event = {"organisation_id": app_server.organisation("marquee"), "event_id": an_id("event")}
    rows = [
        event | {"ticket": 2**64 - each, "bodies": 1, "at": 2, "gate": 3, "zone": each % 2, "steps": b""}
        for each in range(1, 41)
    ]
    here = Presence.organisation_id == event["organisation_id"]
    columns = Presence.event_id, Presence.ticket, Presence.bodies, Presence.at, Presence.gate, Presence.zone
    with app_server.database.writing() as session:
        insert_many(session, Presence, rows, "ON CONFLICT DO NOTHING")
        found = session.execute(select(*columns).where(here).order_by(Presence.ticket.desc())).all()
        assert [tuple(each) for each in found] == [tuple(row.values())[1:-1] for row in rows]
        insert_many(session, Presence, [rows[0]] * 40, "ON CONFLICT DO NOTHING")  # not one column varies
        session.execute(delete(Presence).where(here))


def test_what_somebody_else_inserts_meanwhile_is_told_apart(postgres_url: str, tmp_path: Path) -> None:
    app_server = AppServer(postgres_url, tmp_path)
    event = {"organisation_id": app_server.organisation("marquee"), "event_id": an_id("event")}
    rows = [
        event | {"ticket": ticket, "bodies": 1, "at": 2, "gate": 3, "zone": 4, "steps": b""} for ticket in (1, 2, 3)
    ]
    ours: list[int] = []

    def insert() -> None:
        with app_server.database.writing() as session:
            ours.extend(insert_missing(session, Presence, rows, "ticket"))

    with app_server.database.writing() as session:
        assert list(insert_missing(session, Presence, rows[1:2], "ticket")) == [2]
        other = threading.Thread(target=insert)
        other.start()
        wait_for_a_blocked_transaction(app_server.database)
    other.join()
    assert ours == [1, 3]
    app_server.close()
