"""What must hold when gates deliver at the very same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import text

from shared.wire import protocol
from sync_server.devices import counters
from sync_server.plumbing.database import Database
from sync_server.scans import queries
from tests.contracts.sync.world import World


def all_at_once(acts: Sequence[Callable[[], object]]) -> None:
    """Run these in threads that start together."""
    start = threading.Barrier(len(acts))
    failures: list[BaseException] = []

    def run(act: Callable[[], object]) -> None:
        start.wait()
        try:
            act()
        except BaseException as failure:  # the test below shall see it
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def wait_for_a_blocked_transaction(database: Database) -> None:
    """Until the database itself says that somebody waits for a lock."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    pause = threading.Event()
    for _ in range(600):
        with database.reading() as session:
            if session.execute(waiting).scalar_one():
                return
        pause.wait(0.05)
    raise AssertionError("nobody waits")


def test_two_gates_deliver_the_same_tickets_at_once_and_each_duplicate_is_found(world: World) -> None:
    tickets = range(1, 41)
    world.tickets(*tickets)
    gates = [world.a_gate(f"Lane {n}") for n in range(4)]
    for gate in gates:
        gate.anchor()
        for ticket in tickets:
            gate.admit(ticket)
        gate.anchor()
    all_at_once([gate.upload for gate in gates])
    with world.parts.database.reading() as session:
        found = queries.open_conflicts(session, world.event.key)
        heard, moves = queries.movements_after(session, world.event.key, 0, 1_000)
    assert sorted(row.ticket for row in found) == sorted([*tickets] * 3)
    assert {row.kind for row in found} == {"duplicate"}
    assert {row.scans[1]["device"] for row in found} == {gates[0].number}
    assert (heard, len(moves)) == (160, 160)


def test_one_journal_sent_twice_at_once_is_kept_once(world: World) -> None:
    world.tickets(*range(1, 21))
    gate = world.a_gate()
    for ticket in range(1, 21):
        gate.admit(ticket)
    bodies = [protocol.encode(gate.journal_request(gate.bodies)) for _ in range(3)]
    counters = iter(range(101, 104))
    sends = [(body, next(counters)) for body in bodies]
    all_at_once(
        [
            lambda body=body, counter=counter: gate.send("POST", protocol.JOURNAL, "push", body=body, counter=counter)
            for body, counter in sends
        ]
    )
    with world.parts.database.reading() as session:
        assert [count.n for count in queries.counts(session, world.event.key)] == [20]
        assert len(queries.movements_after(session, world.event.key, 0, 1_000)[1]) == 20


def test_the_very_first_requests_of_a_device_may_come_at_once(postgres_url: str, tmp_path: Path) -> None:
    """Two real connections: the second request waits for the first, and both are good."""
    world = World(postgres_url, tmp_path)
    gate = world.a_gate()
    taken, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with world.parts.database.writing() as session:
            counters.take(session, world.organisation, gate.number, "pull", 1)
            taken.set()
            assert go_on.wait(30)

    def second() -> None:
        assert taken.wait(30)
        with world.parts.database.writing() as session:
            counters.take(session, world.organisation, gate.number, "pull", 2)

    def referee() -> None:
        assert taken.wait(30)
        wait_for_a_blocked_transaction(world.parts.database)
        go_on.set()

    all_at_once([first, second, referee])
    refusal = gate.refusal("GET", protocol.SNAPSHOT, "pull", query="event=7", counter=2)
    assert (refusal.code, refusal.details) == ("counter_too_low", {"last": 2, "channel": "pull"})
    world.close()
