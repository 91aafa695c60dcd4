"""Rows that point into another organisation are found in whatever table they lie, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from sqlalchemy import JSON, BigInteger, Column, ForeignKey, MetaData, String, Table, text
from structlog.testing import capture_logs

from sync_server.audit import service as audit
from sync_server.audit.service import AuditLine
from sync_server.commands.doctor import _crossings
from sync_server.migrations.tables import metadata
from sync_server.outbox.catalogue import FACTS, ID
from sync_server.plumbing.principals import SYSTEM
from sync_server.watch import crossings, meanings, queries, service
from sync_server.watch.rounds import NightlyRound
from tests.builders import DAY, a_gate, a_ticket_type, a_zone
from tests.office import Evening, Office, an_evening


def night(office: Office) -> None:
    """A whole round of a watchman, turn by turn."""
    watchman, going = NightlyRound(), True
    while going:
        with office.database.writing() as session:
            going = watchman.go(session, office.deed()) is not None


@pytest.fixture
def abroad(office: Office, evening: Evening) -> Evening:
    """Another organisation's evening beside the first, which has one of each."""
    evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
    evening.desk.post(f"{evening.path}/zones", a_zone())
    evening.desk.post("/api/devices", {"name": "North"})
    evening.issue()
    rivals = an_evening(office.desk(office.organisation("rivals")), kind=a_ticket_type(name="Late"))
    rivals.issue()
    return rivals


def found(office: Office) -> dict[str, int]:
    with office.database.reading() as session:
        rows = queries.findings(session)
    return {row.place: sum(1 for one in rows if one.place == row.place) for row in rows}


def test_a_house_in_order_has_no_findings_and_says_when_it_was_checked(office: Office, abroad: Evening) -> None:
    night(office)
    assert found(office) == {}
    with office.database.reading() as session:
        check = queries.last_check(session, service.NIGHTLY)
    assert check is not None and (check.ran_at, check.findings) == (office.now, 0)
    assert _crossings(office.database)["ok"]


@dataclass(frozen=True)
class Mistake:
    """What a bug, or a hand at the database, writes past all services; and what stood there."""

    table: str
    column: str
    key: str  # which column says which row
    row: object
    wrong: object
    was: object

    @property
    def place(self) -> str:
        """Where it is found: a row that belongs to others now points abroad by its event."""
        return f"{self.table}.{'event_id' if self.column == 'organisation_id' else self.column}"

    def write(self, office: Office, value: object) -> None:
        with office.database.engine.begin() as line:
            change = text(f"UPDATE {self.table} SET {self.column} = :value WHERE {self.key} = :row")
            assert line.execute(change, {"value": value, "row": self.row}).rowcount == 1, self.place


def whose(evening: Evening) -> str:
    return str(evening.desk.get("/api/session")["organisation"]["id"])


def mistakes(office: Office, ours: Evening, theirs: Evening) -> list[Mistake]:
    """One of each kind: through foreign keys, by bare ids and numbers, in JSON, as kind and id, at the gates."""
    wanted = {
        ("event_zones", "event_id", "organisation_id"): theirs.event["id"],
        ("ticket_types", "organisation_id", "event_id"): whose(theirs),
        ("events", "venue_id", "id"): theirs.venue["id"],
        ("gates", "venue_id", "organisation_id"): theirs.venue["id"],
        ("tickets", "event_number", "id"): theirs.number,
        ("outbox", "subjects", "id"): json.dumps({"event_number": ours.number, "venue": theirs.venue["id"]}),
        ("outbox", "payload", "id"): json.dumps({"after": {"assignments": [{"event_number": theirs.number}]}}),
        ("outbox", "stream", "id"): f"event:{theirs.number}",
        ("events", "cover_images", "id"): json.dumps(["0" * 40, "f" * 40]),
        ("snapshot_rows", "key", "kind = 5 AND event_number"): a_ticket(office, theirs),
    }
    with office.database.engine.begin() as line:
        picture = "INSERT INTO pictures (id, organisation_id, width, height, created_at) VALUES (:id, :whose, 1, 1, 1)"
        line.execute(text(picture), {"id": "f" * 40, "whose": whose(theirs)})
    found = []
    with office.database.engine.connect() as line:
        for (table, column, key), wrong in wanted.items():
            whom = "event_number = :number" if table == "snapshot_rows" else "organisation_id = :whose"
            kind = " AND kind = 5" if table == "snapshot_rows" else ""
            one = f"SELECT {key.rpartition(' ')[2]}, CAST({column} AS VARCHAR(2000)) FROM {table} WHERE {whom}{kind}"
            row, was = line.execute(text(f"{one} LIMIT 1"), {"whose": whose(ours), "number": ours.number}).one()
            found.append(Mistake(table, column, key, row, wrong, type(wrong)(was)))
    return found


def a_ticket(office: Office, evening: Evening) -> int:
    """A ticket's number in the tables."""
    with office.database.engine.connect() as line:
        wanted = text("SELECT id FROM tickets WHERE organisation_id = :whose")
        return int(line.execute(wanted, {"whose": whose(evening)}).scalars().first() or 0)


def test_rows_that_point_abroad_are_found_told_and_struck_out_when_they_are_mended(
    office: Office, evening: Evening, abroad: Evening
) -> None:
    planted = mistakes(office, evening, abroad)
    for one in planted:
        one.write(office, one.wrong)
    with office.database.writing() as session:  # such a line stays for ever, and is looked at for a week
        after = {"means": {"from_venue": {"id": abroad.venue["id"]}}, "settings": {"event_id": abroad.event["id"]}}
        line = AuditLine(SYSTEM, "event_moved", "event", evening.event["id"], whose(evening), office.now, None, after)
        audit.record(session, line)
    office.advance(DAY)
    with capture_logs() as lines:
        night(office)
    places = sorted({one.place for one in planted} | {"audit_lines.after"})
    assert sorted(found(office)) == places
    assert sorted({line["place"] for line in lines if line["event"] == "row_points_abroad"}) == places
    assert all(line["organisation_id"] for line in lines if line["event"] == "row_points_abroad")
    doctor = _crossings(office.database)
    assert not doctor["ok"] and "rows point into another organisation" in doctor["problem"]
    with office.database.reading() as session:
        (alert,) = queries.of_platform(session, office.now)
    assert (alert.kind.value, alert.since) == ("rows_point_abroad", office.now) and alert.count >= len(places)
    for one in planted:
        one.write(office, one.was)
    office.advance(DAY)
    night(office)
    assert found(office) == {"audit_lines.after": 1}
    office.advance(7 * DAY)
    night(office)
    assert found(office) == {}


def test_the_round_is_made_once_a_day_by_one_of_all_workers(office: Office, evening: Evening, abroad: Evening) -> None:
    night(office)
    Mistake("events", "venue_id", "id", evening.event["id"], "", "").write(office, abroad.venue["id"])
    office.advance(DAY - 1)
    night(office)  # another worker, before the time
    assert found(office) == {}
    office.advance(1)
    with office.database.writing() as session:
        assert service.claim(session, office.now)
    with office.database.writing() as session:
        assert not service.claim(session, office.now)


def test_every_table_is_gone_through_and_every_name_has_a_meaning() -> None:
    """A new table says whose its rows are, and what each column that looks like a name means: watch/meanings.py."""
    assert meanings.unknown(metadata()) == []
    columns = {f"{table.name}.{column.name}" for table in metadata().sorted_tables for column in table.c}
    told = {*meanings.NAMES_NOTHING, *meanings.POINTS, *meanings.SAID, *meanings.BY_KIND}
    assert told <= columns, "a meaning of something that is gone"
    ways = {pointer.place for pointer in crossings.pointers(metadata())}
    assert len(ways) > 50
    assert {"scan_entries.device", "scan_movements.event", "event_seats.hold_id", "snapshot_rows.key"} <= ways


def test_a_new_table_that_nobody_has_thought_of_is_noticed() -> None:
    schema = MetaData()
    for table in metadata().sorted_tables:
        table.to_metadata(schema)
    whose_rows = Column("organisation_id", String(36))
    Table(
        "souvenirs",
        schema,
        Column("id", String(36), primary_key=True),
        whose_rows,
        Column("event_id", String(36)),
        Column("device_number", BigInteger),
        Column("buyer_id", String(40)),
        Column("twin", String(36)),
        Column("extras", JSON),
        Column("colour", String(20)),
    )
    Table("stickers", schema, Column("id", String(36), primary_key=True), Column("colour", String(20)))
    Table("prints", schema, Column("id", String(36), primary_key=True), Column("gift", ForeignKey("stickers.id")))
    assert set(meanings.unknown(schema)) == {
        "stickers",
        "prints",
        "prints.gift",
        "souvenirs.buyer_id",
        "souvenirs.twin",
        "souvenirs.extras",
    }
    ways = {pointer.place for pointer in crossings.pointers(schema) if pointer.source.name == "souvenirs"}
    assert ways == {"souvenirs.event_id", "souvenirs.device_number"}


def test_every_id_that_facts_carry_is_known_by_its_name() -> None:
    within = {"zone", "membership"}  # ids that are unique within an event, or an organisation
    for name, kind in FACTS.items():
        ids = {word for word, shape in {**kind.subjects, **kind.payload}.items() if shape is ID}
        nameless = {word for word in ids if meanings.table_of(word, metadata()) is None}
        assert nameless <= within, f"{name}: {nameless}"
