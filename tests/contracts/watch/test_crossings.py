"""Rows that point into another organisation are found in whatever table they lie, and nothing else is."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from sync_server.commands.doctor import _crossings
from sync_server.migrations.tables import metadata
from sync_server.watch import crossings, queries, service
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
    return an_evening(office.desk(office.organisation("rivals")), kind=a_ticket_type(name="Late"))


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


PLANTED = {
    "tickets.event_id": ("id", "event_id", "event"),
    "tickets.event_number": ("id", "event_number", "number"),
    "events.venue_id": ("id", "venue_id", "venue"),
    "gates.venue_id": ("code", "organisation_id", "whose"),
    "ticket_types.event_id": ("name", "organisation_id", "whose"),
}
"""By place: what tells the row, which column goes wrong, and what of the other house is written there."""


def whose(evening: Evening) -> str:
    return str(evening.desk.get("/api/session")["organisation"]["id"])


def write(office: Office, place: str, key: object, value: object) -> None:
    """Past all services, as a bug or a hand at the database would."""
    table, (name, column, _) = place.split(".", maxsplit=1)[0], PLANTED[place]
    with office.database.engine.begin() as line:
        change = text(f"UPDATE {table} SET {column} = :value WHERE {name} = :key")
        assert line.execute(change, {"value": value, "key": key}).rowcount == 1


@pytest.mark.parametrize("place", list(PLANTED))
def test_a_row_that_points_abroad_is_found_told_and_struck_out_when_it_is_mended(
    office: Office, evening: Evening, abroad: Evening, place: str
) -> None:
    table, (name, column, wrong) = place.split(".", maxsplit=1)[0], PLANTED[place]
    theirs = {
        "event": abroad.event["id"], "number": abroad.number, "venue": abroad.venue["id"], "whose": whose(abroad),
    }  # fmt: skip
    with office.database.engine.connect() as line:
        row = text(f"SELECT {name}, {column} FROM {table} WHERE organisation_id = :ours")
        key, was = line.execute(row, {"ours": whose(evening)}).one()
    write(office, place, key, theirs[wrong])
    office.advance(DAY)
    with capture_logs() as lines:
        night(office)
    assert found(office) == {place: 1}
    assert [line["place"] for line in lines if line["event"] == "row_points_abroad"] == [place]
    doctor = _crossings(office.database)
    assert not doctor["ok"] and place in doctor["problem"]
    with office.database.reading() as session:
        (alert,) = queries.of_platform(session, office.now)
    assert (alert.kind.value, alert.count, alert.since) == ("rows_point_abroad", 1, office.now)
    write(office, place, key, was)
    office.advance(DAY)
    night(office)
    assert found(office) == {}


def test_the_round_is_made_once_a_day_by_one_of_all_workers(office: Office, evening: Evening, abroad: Evening) -> None:
    night(office)
    write(office, "events.venue_id", evening.event["id"], abroad.venue["id"])
    office.advance(DAY - 1)
    night(office)  # another worker, before the time
    assert found(office) == {}
    office.advance(1)
    with office.database.writing() as session:
        assert service.claim(session, office.now)
    with office.database.writing() as session:
        assert not service.claim(session, office.now)


def test_every_table_with_an_organisation_is_gone_through() -> None:
    """A new column that looks like an id has a foreign key, or its meaning in watch/crossings.py."""
    assert crossings.unknown(metadata()) == []
    ways = {pointer.place for pointer in crossings.pointers(metadata())}
    assert len(ways) > 25
    assert {"scan_entries.device", "scan_entries.event", "event_seats.ticket_id", "event_seats.hold_id"} <= ways
