"""Many values in one parameter: whatever they are, they arrive as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, text

from sync_server.plumbing.sql.bulk import among, array_literal, insert_many
from sync_server.scans.models import Presence
from tests.app_server import AppServer
from tests.builders import an_id

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
    rows = [event | {"ticket": ticket, "bodies": 1, "at": 2, "gate": 3, "zone": 4} for ticket in TICKETS]
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
