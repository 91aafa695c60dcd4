"""What must hold when gates deliver at the very same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from shared import protocol
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


def test_two_gates_deliver_the_same_tickets_at_once_and_each_twin_is_found(world: World) -> None:
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
        found = queries.open_conflicts(session, world.organisation, 7)
        heard, moves = queries.movements_after(session, 7, 0, 1_000)
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
    all_at_once([
        lambda body=body, counter=counter: gate.send("POST", protocol.JOURNAL, "push", body=body, counter=counter)
        for body, counter in sends
    ])  # fmt: skip
    with world.parts.database.reading() as session:
        assert [count.n for count in queries.counts(session, 7)] == [20]
        assert len(queries.movements_after(session, 7, 0, 1_000)[1]) == 20
