"""Frequent queries use indexes, however many events are published or past."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import event

from sync_server.events.lifecycle import planned_transitions
from tests.app_server import AppServer, a_concert

COMMON = {
    "/api/events?upcoming=true": "ix_events_organisation_id_status (",
    "/api/events?status=cancelled,postponed": "(organisation_id=?",
    "/api/events?slug=night-music": "(organisation_id=? AND slug=?)",
    "/api/me/events": "ix_events_organisation_id_owner_id",
    "/api/venues/{venue}/gates?status=open": "gates",
    "/api/venues?city=berlin": "ix_venues_organisation_id_city_norm",
}
"""Frequent requests, and what must appear in the query plan of their last statement."""


def test_frequent_queries_use_an_index(sqlite_url: str, tmp_path: Path) -> None:
    app_server = AppServer(sqlite_url, tmp_path)
    api = app_server.api(app_server.organisation("marquee"))
    venue = a_concert(api).venue["id"]
    statements: list[tuple[str, Any]] = []
    event.listen(
        app_server.database.engine, "before_cursor_execute", lambda *args: statements.append((args[2], args[3]))
    )
    for path, way in COMMON.items():
        statements.clear()
        api.get(path.format(venue=venue))
        mine = [one for one in statements if any(f"FROM {table}" in one[0] for table in ("events", "venues", "gates"))]
        with app_server.database.reading() as session:
            lines = [
                str(line[3])
                for statement, values in mine
                for line in session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            ]
        assert lines and not [line for line in lines if line.startswith("SCAN")], (path, lines)
        assert any(way in line for line in lines), (path, lines)
    app_server.close()


def test_due_transitions_are_found_by_partial_indexes(sqlite_url: str, tmp_path: Path) -> None:
    app_server = AppServer(sqlite_url, tmp_path)
    statements: list[tuple[str, Any]] = []
    engine = app_server.database.engine
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append((args[2], args[3])))
    with app_server.database.writing() as session:
        planned_transitions.organisations_due_now(session, app_server.now)
        statement, values = next(one for one in statements if "go_live_at <=" in one[0])
        lines = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
    ways = [line[3] for line in lines if "events" in line[3]]
    assert len(ways) == 3 and all("(status=? AND " in way and "_at" in way for way in ways), ways
    assert {"go_live_at" in way or "end_at_auto" in way for way in ways} == {True}
    app_server.close()
