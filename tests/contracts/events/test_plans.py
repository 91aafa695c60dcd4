"""Looking every second for what is planned costs what is planned, however much is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import event

from sync_server.events import queries
from tests.office import Office


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
