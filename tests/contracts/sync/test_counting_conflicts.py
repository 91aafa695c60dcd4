"""What the live counters say about conflicts costs what is open at that event, not what ever happened anywhere."""

from __future__ import annotations

from typing import Any

from sqlalchemy.event import listen

from sync_server.plumbing.event_key import EventKey
from sync_server.scans import queries
from sync_server.scans.models import ConflictRow
from tests.builders import an_id
from tests.contracts.sync.world import World


def a_conflict(event: EventKey, number: int, **changes: Any) -> ConflictRow:
    values = {
        "id": an_id(f"conflict {event.event_id} {number}"),
        "ticket": number,
        "kind": "duplicate",
        "subject": f"1-1-{number}",
        "severity": 2,
        "order_unsure": False,
        "scans": [],
        "found_at": number,
    }
    return ConflictRow(**event._asdict(), **values | changes)


def test_only_open_conflicts_of_the_event_are_counted_and_read(world: World) -> None:
    here = world.event.key
    there = world.an_event(world.organisation, number=8).key
    with world.parts.database.writing() as session:
        session.add_all(a_conflict(here, number) for number in range(3))
        session.add_all(a_conflict(there, number) for number in range(5))
        session.add(a_conflict(here, 10, withdrawn_at=1))
        session.add(a_conflict(here, 11, resolved_at=1))
        session.add(a_conflict(here, 12, severity=0))
    statements: list[tuple[str, Any]] = []
    listen(world.parts.database.engine, "before_cursor_execute", lambda *args: statements.append((args[2], args[3])))
    with world.parts.database.reading() as session:
        assert queries.open_conflict_count(session, here) == 3
        assert queries.open_conflict_counts(session, world.organisation) == {here.event_id: 3, there.event_id: 5}
        statement, values = next(one for one in statements if "scan_conflicts" in one[0])
        connection = session.connection()
        if world.parts.database.embedded:
            explain = "EXPLAIN QUERY PLAN"
        else:
            explain = "EXPLAIN"
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        plan = " ".join(str(line[-1]) for line in connection.exec_driver_sql(f"{explain} {statement}", values))
    assert "ix_scan_conflicts_unresolved" in plan and "event_id" in plan, plan
