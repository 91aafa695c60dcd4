"""References into another organisation are found wherever no foreign key forbids them, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from sqlalchemy import JSON, BigInteger, Column, ForeignKey, MetaData, String, Table, text
from structlog.testing import capture_logs

from sync_server.audit import service as audit
from sync_server.audit.service import AuditLine
from sync_server.commands.doctor import _tenant_mismatches
from sync_server.migrations.tables import metadata
from sync_server.monitoring import queries, references, service, tenant_checks
from sync_server.monitoring.scheduled_checks import NightlyCheck
from sync_server.outbox.catalogue import FACTS
from sync_server.outbox.payload_schemas import ID
from tests.app_server import AppServer, Concert, a_concert
from tests.builders import DAY, a_gate, a_ticket_type, a_zone


def run_nightly(app_server: AppServer) -> None:
    """Run the nightly check to its end."""
    nightly, more = NightlyCheck(), True
    while more:
        with app_server.database.writing() as session:
            more = nightly.run(session, app_server.context()) is not None


@pytest.fixture
def foreign(app_server: AppServer, concert: Concert) -> Concert:
    """Another organisation's concert; the first has a gate, a zone, a device and a ticket."""
    concert.api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    concert.api.post(f"{concert.path}/zones", a_zone())
    concert.api.post("/api/devices", {"name": "North"})
    concert.issue()
    rivals = a_concert(app_server.api(app_server.organisation("rivals")), kind=a_ticket_type(name="Late"))
    rivals.issue()
    return rivals


def found(app_server: AppServer) -> dict[str, int]:
    with app_server.database.reading() as session:
        rows = queries.findings(session)
    return {row.place: sum(1 for one in rows if one.place == row.place) for row in rows}


def test_consistent_database_has_no_findings(app_server: AppServer, foreign: Concert) -> None:
    run_nightly(app_server)
    assert found(app_server) == {}
    with app_server.database.reading() as session:
        check = queries.last_check(session, service.NIGHTLY)
    assert check is not None and (check.ran_at, check.findings) == (app_server.now, 0)
    assert _tenant_mismatches(app_server.database)["ok"]


@dataclass(frozen=True)
class Mistake:
    """A wrong value that a bug, or SQL by hand, writes past all services; and the old value."""

    table: str
    column: str
    key: str  # the column that identifies the row
    row: object
    wrong: object
    was: object

    @property
    def place(self) -> str:
        """Where it is found."""
        return f"{self.table}.{self.column}"

    def write(self, app_server: AppServer, value: object) -> None:
        with app_server.database.engine.begin() as connection:
            change = text(f"UPDATE {self.table} SET {self.column} = :value WHERE {self.key} = :row")
            assert connection.execute(change, {"value": value, "row": self.row}).rowcount == 1, self.place


def organisation_id(concert: Concert) -> str:
    return str(concert.api.get("/api/session")["organisation"]["id"])


def mistakes(app_server: AppServer, ours: Concert, theirs: Concert) -> list[Mistake]:
    """One of each kind: plain ids and numbers, inside JSON, kind and id, rows of gates."""
    wanted = {
        ("events", "owner_id", "id"): theirs.event["owner_id"],
        ("outbox", "subjects", "message_id"): json.dumps({"event_number": ours.number, "venue": theirs.venue["id"]}),
        ("outbox", "payload", "message_id"): json.dumps({"after": {"assignments": [{"event_number": theirs.number}]}}),
        ("outbox", "stream", "message_id"): f"event:{theirs.number}",
        ("events", "cover_images", "id"): json.dumps(["0" * 40, "f" * 40]),
        ("snapshot_rows", "key", "kind = 5 AND event_id"): a_ticket(app_server, theirs),
    }
    with app_server.database.engine.begin() as connection:
        insert = "INSERT INTO images (id, organisation_id, width, height, created_at) VALUES (:id, :whose, 1, 1, 1)"
        connection.execute(text(insert), {"id": "f" * 40, "whose": organisation_id(theirs)})
    found = []
    with app_server.database.engine.connect() as connection:
        for (table, column, key), wrong in wanted.items():
            condition = "event_id = :event" if table == "snapshot_rows" else "organisation_id = :whose"
            kind = " AND kind = 5" if table == "snapshot_rows" else ""
            one = (
                f"SELECT {key.rpartition(' ')[2]}, CAST({column} AS VARCHAR(2000)) FROM {table} WHERE {condition}{kind}"
            )
            row, was = connection.execute(
                text(f"{one} LIMIT 1"), {"whose": organisation_id(ours), "event": ours.event["id"]}
            ).one()
            found.append(Mistake(table, column, key, row, wrong, type(wrong)(was)))
    return found


def a_ticket(app_server: AppServer, concert: Concert) -> int:
    """A ticket's internal id."""
    with app_server.database.engine.connect() as connection:
        wanted = text("SELECT id FROM tickets WHERE organisation_id = :whose")
        return int(connection.execute(wanted, {"whose": organisation_id(concert)}).scalars().first() or 0)


def test_references_to_others_are_found_logged_and_resolved(
    app_server: AppServer, concert: Concert, foreign: Concert
) -> None:
    app_server.advance(30 * DAY)  # whose organisation it is says nothing about how old a line is
    planted = mistakes(app_server, concert, foreign)
    for one in planted:
        one.write(app_server, one.wrong)
    with app_server.database.writing() as session:  # audit lines stay for ever, and are checked for a week
        after = {"means": {"from_venue": {"id": foreign.venue["id"]}}, "settings": {"event_id": foreign.event["id"]}}
        subject = "event", concert.event["id"], organisation_id(concert)
        audit.record(session, AuditLine(app_server.context(), "event_moved", *subject, after=after))
    app_server.advance(DAY)
    with capture_logs() as lines:
        run_nightly(app_server)
    places = sorted({one.place for one in planted} | {"audit_lines.after"})
    assert sorted(found(app_server)) == places
    assert sorted({line["place"] for line in lines if line["event"] == "row_points_abroad"}) == places
    assert all(line["organisation_id"] for line in lines if line["event"] == "row_points_abroad")
    doctor = _tenant_mismatches(app_server.database)
    assert not doctor["ok"] and "rows refer to another organisation" in doctor["problem"]
    with app_server.database.reading() as session:
        (alert,) = queries.platform_alerts(session, app_server.now)
    assert (alert.kind.value, alert.since) == ("rows_point_abroad", app_server.now) and alert.count >= len(places)
    for one in planted:
        one.write(app_server, one.was)
    app_server.advance(DAY)
    run_nightly(app_server)
    assert found(app_server) == {"audit_lines.after": 1}
    app_server.advance(7 * DAY)
    run_nightly(app_server)
    assert found(app_server) == {}


def test_nightly_check_runs_once_a_day_in_one_worker(app_server: AppServer, concert: Concert, foreign: Concert) -> None:
    run_nightly(app_server)
    Mistake("events", "owner_id", "id", concert.event["id"], "", "").write(app_server, foreign.event["owner_id"])
    app_server.advance(DAY - 1)
    run_nightly(app_server)  # another worker, too early
    assert found(app_server) == {}
    app_server.advance(1)
    with app_server.database.writing() as session:
        assert service.claim(session, app_server.now)
    with app_server.database.writing() as session:
        assert not service.claim(session, app_server.now)


def test_every_table_and_reference_is_declared() -> None:
    """Declare new tables and columns in monitoring/references.py."""
    assert references.undeclared(metadata()) == []
    columns = {f"{table.name}.{column.name}" for table in metadata().sorted_tables for column in table.c}
    declared = {
        *references.NOT_REFERENCES,
        *references.REFERENCE_COLUMNS,
        *references.JSON_REFERENCE_COLUMNS,
        *references.REFERENCES_BY_KIND,
    }
    assert declared <= columns, "a declared column no longer exists"
    places = {reference.place for reference in tenant_checks.tenant_references(metadata())}
    assert {"scan_entries.device", "event_seats.hold_id", "holds.bearer_id", "snapshot_rows.key"} <= places
    assert not {"events.venue_id", "tickets.event_id", "layout_seats.layout_id"} & places, "foreign keys see to them"


def test_undeclared_table_is_noticed() -> None:
    schema = MetaData()
    for table in metadata().sorted_tables:
        table.to_metadata(schema)
    owner = Column("organisation_id", String(36))
    Table(
        "souvenirs",
        schema,
        Column("id", String(36), primary_key=True),
        owner,
        Column("event_id", String(36)),
        Column("device_number", BigInteger),
        Column("buyer_id", String(40)),
        Column("twin", String(36)),
        Column("extras", JSON),
        Column("colour", String(20)),
    )
    Table("stickers", schema, Column("id", String(36), primary_key=True), Column("colour", String(20)))
    Table("prints", schema, Column("id", String(36), primary_key=True), Column("gift", ForeignKey("stickers.id")))
    assert set(references.undeclared(schema)) == {
        "stickers",
        "prints",
        "prints.gift",
        "souvenirs.buyer_id",
        "souvenirs.twin",
        "souvenirs.extras",
    }
    places = {
        reference.place for reference in tenant_checks.tenant_references(schema) if reference.source.name == "souvenirs"
    }
    assert places == {"souvenirs.event_id", "souvenirs.device_number"}


def test_every_id_in_facts_has_a_table() -> None:
    within = {"zone", "membership"}  # ids that are unique within an event, or an organisation
    for name, kind in FACTS.items():
        ids = {field for field, shape in {**kind.subjects, **kind.payload}.items() if shape is ID}
        unknown = {field for field in ids if references.table_of(field, metadata()) is None}
        assert unknown <= within, f"{name}: {unknown}"
