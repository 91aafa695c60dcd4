"""Rows that gates hold change in commit order, and can be read from any revision and as they were."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.event import listen

from shared.wire.snapshot import Row, RowKind, pack
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries, service
from tests.app_server import AppServer
from tests.contracts.server.revision_follower import Follower, open_event, put, the_event, zone


@pytest.fixture(autouse=True)
def _an_event(app_server: AppServer) -> None:
    open_event(app_server)


def gone(number: int) -> Row:
    return Row(RowKind.ZONE, number, None)


def test_a_transaction_raises_the_revision_once_however_much_it_changes(app_server: AppServer) -> None:
    event = the_event(app_server)
    put(app_server, zone(1, "Floor"), zone(2, "Balcony"))
    put(app_server, zone(1, "Floor"))  # nothing new
    with app_server.database.reading() as session:
        head = queries.head(session, event)
    assert head is not None and head.revision == 1


def test_a_transaction_that_fails_leaves_nothing(app_server: AppServer) -> None:
    event = the_event(app_server)
    with pytest.raises(RuntimeError), app_server.database.writing() as session:
        service.put(session, event, [zone(1, "Floor")])
        raise RuntimeError
    put(app_server, zone(2, "Balcony"))
    follower = Follower(app_server)
    follower.catch_up()
    assert follower.revision == 1 and len(follower.rows) == 1


def test_a_gate_that_follows_in_small_steps_sees_complete_states(app_server: AppServer) -> None:
    put(app_server, *(zone(n, "first") for n in range(1, 6)))
    put(app_server, zone(1, "second"), gone(2))
    put(app_server, zone(1, "third"), zone(6, "new"))
    put(app_server, zone(2, "back again"))
    follower = Follower(app_server)
    steps = []
    while follower.follow(limit=2):
        steps.append(follower.revision)
    assert steps == [1, 2, 3, 4]  # a revision is never split, and none is joined beyond the limit
    assert pack(zone(1, "third")) in follower.rows.values()


def test_a_change_of_more_rows_than_gates_take_at_once_comes_in_parts(app_server: AppServer) -> None:
    """A gate that has some of them must not conclude that it has every ticket of that time."""
    event = the_event(app_server)
    put(app_server, zone(1, "Floor"))
    before = app_server.now
    app_server.now += 60_000
    put(app_server, *(zone(n, "moved") for n in range(1, 20_002)))
    follower = Follower(app_server)
    follower.catch_up()
    assert (follower.revision, len(follower.rows)) == (6, 20_001)
    with app_server.database.reading() as session:
        parts = [queries.rows_after(session, event, known, 5_000) for known in range(1, 6)]
    assert [(len(part.rows), part.at) for part in parts if part] == [*[(5_000, before)] * 4, (1, app_server.now)]


def test_a_row_can_be_looked_up_as_it_was_at_a_revision_and_at_a_time(app_server: AppServer) -> None:
    event = the_event(app_server)
    times = {}
    for name in ("first", "second"):
        put(app_server, zone(1, name))
        times[name] = app_server.now
        app_server.advance(1_000)
    put(app_server, gone(1))
    with app_server.database.reading() as session:
        at = [queries.row_at_revision(session, event, RowKind.ZONE, 1, revision) for revision in range(4)]
        then = queries.row_at_time(session, event, RowKind.ZONE, 1, times["second"] - 1)
        now = queries.rows_now(session, event, RowKind.ZONE)
    assert at == [None, pack(zone(1, "first")), pack(zone(1, "second")), None]
    assert then == pack(zone(1, "first")) and now == []


def test_ticket_ids_above_the_signed_range_are_found_again(app_server: AppServer) -> None:
    event = the_event(app_server)
    high = Row(RowKind.TICKET, 2**64 - 3, b"x")
    put(app_server, high, Row(RowKind.TICKET, 5, b"y"))
    put(app_server, Row(RowKind.TICKET, 2**64 - 3, b"z"))
    with app_server.database.reading() as session:
        rows = queries.frame_rows(session, event, 0, 0, 1)
        rest = queries.frame_rows(session, event, rows[0].kind, rows[0].key, 5)
        old = queries.row_at_revision(session, event, RowKind.TICKET, 2**64 - 3, 1)
    assert {row.key for row in rows + rest} == {5, 2**64 - 3} and old == high


def test_a_frame_reads_none_of_the_rows_before_it(app_server: AppServer) -> None:
    event = the_event(app_server)
    statements: list[tuple[str, Any]] = []
    listen(app_server.database.engine, "before_cursor_execute", lambda *args: statements.append((args[2], args[3])))
    with app_server.database.reading() as session:
        queries.frame_rows(session, event, RowKind.TICKET, 2**64 - 3, 5_000)
        statement, values = next(one for one in statements if "FROM snapshot_rows" in one[0])
        explain = "EXPLAIN QUERY PLAN" if app_server.database.embedded else "EXPLAIN"
        if not app_server.database.embedded:
            session.execute(text("SET LOCAL enable_seqscan = off"))  # an empty table needs no index
        lines = [str(line[-1]) for line in session.connection().exec_driver_sql(f"{explain} {statement}", values)]
    place = "(kind,key)>(?,?)" if app_server.database.embedded else "ROW(kind, key) > ROW("
    assert any(place in line and "event_id" in line for line in lines), lines
    assert not [line for line in lines if "SORT" in line.upper() or "B-TREE" in line], lines


def test_a_position_beyond_the_head_cannot_be_continued_from(app_server: AppServer) -> None:
    event = the_event(app_server)
    put(app_server, zone(1, "Floor"))
    with app_server.database.reading() as session:
        assert queries.rows_after(session, event, 5, 10) is None
        unknown = EventKey(event.organisation_id, event.organisation_id)
        assert queries.rows_after(session, unknown, 0, 10) is None


def test_a_renewed_lineage_is_another_one(app_server: AppServer) -> None:
    with app_server.database.writing() as session:
        before = service.ensure_lineage(session, app_server.entropy, app_server.now)
        after = service.renew_lineage(session, app_server.entropy, app_server.now)
    assert before != after and len(after) == 8


def test_arrival_numbers_never_repeat_and_never_skip(app_server: AppServer) -> None:
    event = the_event(app_server)

    def take(count: int) -> range:
        with app_server.database.writing() as session:
            return service.allot_arrivals(session, event, count)

    with ThreadPoolExecutor(4) as pool:
        taken = [number for numbers in pool.map(take, [1, 5, 3, 2, 4, 1]) for number in numbers]
    assert sorted(taken) == list(range(1, 17))


def test_a_reader_following_many_writers_never_steps_over_a_revision(app_server: AppServer) -> None:
    event = the_event(app_server)

    def write(writer: int) -> None:
        for batch in range(12):
            put(app_server, zone(writer * 100 + batch % 5, f"{writer} {batch}"), zone(999, f"{writer} {batch}"))

    follower = Follower(app_server)
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(write, writer) for writer in range(4)]
        while not all(task.done() for task in running):
            follower.follow()
        for task in running:
            task.result()
    follower.catch_up()
    with app_server.database.reading() as session:
        assert queries.head(session, event).revision == 48  # type: ignore[union-attr]
        assert set(queries.frame_rows(session, event, 0, 0, 1_000)) == set(follower.rows.values())
