"""What is asked for all the time costs what it finds, however much is published or long past."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import event

from sync_server.events import queries
from tests.office import Office, an_evening

COMMON = {
    "/api/events?upcoming=true": "ix_events_organisation_id_status (",
    "/api/events?status=cancelled,postponed": "(organisation_id=?",
    "/api/events?slug=night-music": "(organisation_id=? AND slug=?)",
    "/api/me/events": "ix_events_owner_id_created_at",
    "/api/venues/{venue}/gates?status=open": "gates",
    "/api/venues?city=berlin": "ix_venues_organisation_id_city_norm",
}
"""What desks ask for all the time, and what must be found in the way of the last statement."""


def test_what_desks_ask_for_all_the_time_is_found_by_an_index(sqlite_url: str, tmp_path: Path) -> None:
    office = Office(sqlite_url, tmp_path)
    desk = office.desk(office.organisation("marquee"))
    venue = an_evening(desk).venue["id"]
    asked: list[tuple[str, Any]] = []
    event.listen(office.database.engine, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
    for path, way in COMMON.items():
        asked.clear()
        desk.get(path.format(venue=venue))
        mine = [one for one in asked if any(f"FROM {table}" in one[0] for table in ("events", "venues", "gates"))]
        with office.database.reading() as session:
            lines = [
                str(line[3])
                for statement, values in mine
                for line in session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            ]
        assert lines and not [line for line in lines if line.startswith("SCAN")], (path, lines)
        assert any(way in line for line in lines), (path, lines)
    office.close()


def test_what_is_due_is_found_by_the_indexes_of_plans(sqlite_url: str, tmp_path: Path) -> None:
    office = Office(sqlite_url, tmp_path)
    asked: list[tuple[str, Any]] = []
    engine = office.database.engine
    event.listen(engine, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
    with office.database.writing() as session:
        queries.planned(session, office.now)
        statement, values = next(one for one in asked if "go_live_at <=" in one[0])
        lines = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
    ways = [line[3] for line in lines if "events" in line[3]]
    assert len(ways) == 3 and all("(status=? AND " in way and "_at" in way for way in ways), ways
    assert {"go_live_at" in way or "end_at_auto" in way for way in ways} == {True}
    office.close()
