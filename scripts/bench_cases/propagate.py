"""A ticket is blocked on the server; how soon 50 connected gates refuse it.

The gates are real ones: each over its own folder, with its own long poll, and the refusal is a verdict on its own rows.
The time runs from the moment in which the organiser's request leaves, which is a little before the commit, to the
verdict. The yardstick is the same number of bytes to as many long polls of a bare HTTP server in this process.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count

from scripts.measuring.bare_poll import change_to_polls
from scripts.measuring.measured_gate import MeasuredGate
from scripts.measuring.measured_server import MeasuredServer, analyse, measured_server
from scripts.measuring.result import Figure, Result, at_most
from scripts.measuring.sold_out import issue_tickets
from scripts.measuring.statistics import Spread

GATES = 50
TICKETS = 2_000
WAIT_S = 20.0
PATIENCE_S = 15.0
GOAL = at_most(1_000, "p95")


def measure(*, quick: bool) -> Iterator[Result]:
    """With PostgreSQL the change is often made by another process of the server than the one that a gate waits at."""
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
    """The ticket that is blocked next, and when each gate refused it."""

    id: str
    code: str
    refused: dict[str, int] = field(default_factory=dict)
    everybody: threading.Event = field(default_factory=threading.Event)

    def note(self, gate: str) -> None:
        """This gate has just refused it."""
        self.refused.setdefault(gate, time.perf_counter_ns())
        if len(self.refused) == GATES:
            self.everybody.set()


class Watch:
    """What all gates look out for at the moment."""

    def __init__(self) -> None:
        self.target = Target("", "")
        self.over = threading.Event()


def _taken(server: MeasuredServer, rounds: int) -> list[float]:
    """Milliseconds of every gate in every round."""
    watch = Watch()
    with ExitStack() as ends:
        gates = [_gate(server, number, ends) for number in range(GATES)]
        threads = [threading.Thread(target=_listen, args=(gate, watch)) for gate in gates]
        ends.callback(_end, server, watch, threads)
        for thread in threads:
            thread.start()
        chance = random.Random(5)
        return [ms for ticket in _tickets(server, rounds) for ms in _round(server, ticket, watch, chance)]


def _gate(server: MeasuredServer, number: int, ends: ExitStack) -> MeasuredGate:
    folder = server.place.folder / f"gate-{number}"
    gate = MeasuredGate.enrolled(folder, server.place.address, server.new_device(folder.name))
    ends.callback(gate.close)
    gate.sync()
    return gate


def _tickets(server: MeasuredServer, count: int) -> list[Target]:
    path = f"/api/events/{server.made['event']['id']}/tickets?limit={count + 1}"
    items = server.organiser.get(path)["items"]
    # The first is blocked only to end the last long polls.
    return [Target(one["id"], server.organiser.get(f"/api/tickets/{one['id']}/code")["code"]) for one in items[1:]]


def _listen(gate: MeasuredGate, watch: Watch) -> None:
    """Poll as the gate's worker does; after each answer, show the ticket that somebody has just blocked."""
    puller, _ = gate.lodge.sync(gate.wire, WAIT_S)
    for turn in count():
        if watch.over.is_set():
            return
        puller.run_once()
        target = watch.target
        # Each time before another reader: an answer that came just before the blocking must not be repeated after it.
        if target.code and gate.show(target.code, f"reader {turn}", "test")["reason"] == "ticket_blocked":
            target.note(gate.folder.name)


def _round(server: MeasuredServer, target: Target, watch: Watch, chance: random.Random) -> list[float]:
    threading.Event().wait(chance.uniform(0.3, 0.8))
    watch.target = target
    begun = time.perf_counter_ns()
    server.organiser.post(f"/api/tickets/{target.id}/block", {"reason": "measured"})
    if not target.everybody.wait(PATIENCE_S):
        raise RuntimeError(f"only {len(target.refused)} of {GATES} gates refused within {PATIENCE_S:.0f} s")
    return [(at - begun) / 1e6 for at in target.refused.values()]


def _end(server: MeasuredServer, watch: Watch, threads: list[threading.Thread]) -> None:
    """One more change wakes everybody, so that nobody waits out its long poll."""
    watch.over.set()
    path = f"/api/events/{server.made['event']['id']}/tickets"
    first = server.organiser.get(f"{path}?limit=1")["items"][0]["id"]
    server.organiser.post(f"/api/tickets/{first}/block", {"reason": "measured"})
    for thread in threads:
        thread.join(WAIT_S)
