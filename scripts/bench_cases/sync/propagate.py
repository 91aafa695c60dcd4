"""A ticket is blocked on the server; how soon 50 connected gates refuse it.

The gates are real: each has its own folder and its own long poll, and a refusal is a verdict on its own rows. The time
runs from sending the organiser's request, a little before the commit, to the verdict. The yardstick is the same number
of bytes to as many long polls of a bare HTTP server in this process.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count

from scripts.benchmarking.gates.measured_gate import MeasuredGate
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows.sold_tickets import issue_tickets
from scripts.benchmarking.servers.measured_server import MeasuredServer, analyse, measured_server
from scripts.benchmarking.statistics import Spread
from scripts.benchmarking.yardsticks.bare_poll import change_to_polls

GATES = 50
TICKETS = 2_000
WAIT_S = 20.0
TIMEOUT_S = 15.0
GOAL = at_most(1_000, "p95")


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure both databases; on PostgreSQL the change is often made by another process than the one a gate polls."""
    rounds = 15 if quick else 60
    bare = Spread.of(change_to_polls(GATES, rounds)).p50
    yield _case("sqlite", f"{GATES} gates", rounds, bare)
    if not quick:
        yield _case("postgresql", f"postgresql {GATES} gates", rounds, bare)


def _case(database: str, name: str, rounds: int, bare: float) -> Result:
    with measured_server(database) as server:
        issue_tickets(server, TICKETS)
        analyse(server)
        server.serve()
        taken = _taken(server, rounds)
    return Result("propagate", name, Figure.of_spread(Spread.of(taken), "ms", bare), GOAL)


@dataclass
class Target:
    """The ticket to be blocked next, and when each gate refused it."""

    id: str
    code: str
    refused: dict[str, int] = field(default_factory=dict)
    by_all: threading.Event = field(default_factory=threading.Event)

    def note(self, gate: str) -> None:
        """Note that this gate has refused it."""
        self.refused.setdefault(gate, time.perf_counter_ns())
        if len(self.refused) == GATES:
            self.by_all.set()


class Watch:
    """The ticket that all gates currently watch."""

    def __init__(self) -> None:
        self.target = Target("", "")
        self.stopped = threading.Event()


def _taken(server: MeasuredServer, rounds: int) -> list[float]:
    """Milliseconds for every gate in every round."""
    watch = Watch()
    with ExitStack() as cleanup:
        gates = [_gate(server, number, cleanup) for number in range(GATES)]
        threads = [threading.Thread(target=_listen, args=(gate, watch)) for gate in gates]
        cleanup.callback(_end, server, watch, threads)
        for thread in threads:
            thread.start()
        random_source = random.Random(5)
        return [ms for ticket in _tickets(server, rounds) for ms in _round(server, ticket, watch, random_source)]


def _gate(server: MeasuredServer, number: int, cleanup: ExitStack) -> MeasuredGate:
    folder = server.layout.folder / f"gate-{number}"
    gate = MeasuredGate.enrolled(folder, server.layout.address, server.new_device(folder.name))
    cleanup.callback(gate.close)
    gate.sync()
    return gate


def _tickets(server: MeasuredServer, count: int) -> list[Target]:
    path = f"/api/events/{server.demo['event']['id']}/tickets?limit={count + 1}"
    items = server.organiser.get(path)["items"]
    # The first ticket is only blocked to end the last long polls.
    return [Target(one["id"], server.organiser.get(f"/api/tickets/{one['id']}/code")["code"]) for one in items[1:]]


def _listen(gate: MeasuredGate, watch: Watch) -> None:
    """Poll as the gate's worker does; after each response, scan the ticket that has just been blocked."""
    puller, _ = gate.context.sync(gate.transport, WAIT_S)
    for number in count():
        if watch.stopped.is_set():
            return
        puller.run_once()
        target = watch.target
        # Another reader each time, so that an earlier admission is not repeated.
        if target.code and gate.show(target.code, f"reader {number}", "test")["reason"] == "ticket_blocked":
            target.note(gate.folder.name)


def _round(server: MeasuredServer, target: Target, watch: Watch, random_source: random.Random) -> list[float]:
    threading.Event().wait(random_source.uniform(0.3, 0.8))
    watch.target = target
    started = time.perf_counter_ns()
    server.organiser.post(f"/api/tickets/{target.id}/block", {"reason": "measured"})
    if not target.by_all.wait(TIMEOUT_S):
        raise RuntimeError(f"only {len(target.refused)} of {GATES} gates refused within {TIMEOUT_S:.0f} s")
    return [(at - started) / 1e6 for at in target.refused.values()]


def _end(server: MeasuredServer, watch: Watch, threads: list[threading.Thread]) -> None:
    """Make one more change, so that no gate waits for the end of its long poll."""
    watch.stopped.set()
    path = f"/api/events/{server.demo['event']['id']}/tickets"
    first = server.organiser.get(f"{path}?limit=1")["items"][0]["id"]
    server.organiser.post(f"/api/tickets/{first}/block", {"reason": "measured"})
    for thread in threads:
        thread.join(WAIT_S)
