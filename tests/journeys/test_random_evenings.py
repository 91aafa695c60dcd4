"""Random evenings: networks, power and servers fail while guests arrive; in the end gates and server agree."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest

from shared.journal.scans import Entry, EntryKind
from tests.gate_builders import PowerCut
from tests.journeys import network_link
from tests.journeys.simulated_gate import SimulatedGate
from tests.journeys.world import Sold, World

EVENINGS = int(os.environ.get("GATEHOUSE_TEST_EVENINGS", "6"))
"""Set GATEHOUSE_TEST_EVENINGS=200 for a long run; each evening is the same in every run."""
INCIDENTS = 120
SHOWN = {EntryKind.PRESENTATION, EntryKind.BY_HAND}


class RandomEvening:
    """Random incidents with their weights."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.tickets: list[Sold] = world.sell(8)
        self.gates = [world.gate(name) for name in "ABC"]
        self.incidents: list[tuple[int, Callable[[SimulatedGate], object]]] = [
            (40, self.a_guest_comes),
            (12, SimulatedGate.sync),
            (6, self.the_network_fails),
            (6, lambda gate: world.mend_network(gate)),
            (4, self.responses_get_lost),
            (4, self.the_power_goes_before_the_lamp),
            (3, self.the_machine_restarts),
            (3, self.the_server_restarts),
            (2, self.somebody_buys),
        ]

    def next_incident(self) -> None:
        self.world.advance(seconds=self.random.uniform(6, 90))
        weights = [weight for weight, _ in self.incidents]
        _, incident = self.random.choices(self.incidents, weights)[0]
        incident(self.random.choice(self.gates))

    def a_guest_comes(self, gate: SimulatedGate) -> None:
        gate.scan(self.random.choice(self.tickets).code)

    def the_network_fails(self, gate: SimulatedGate) -> None:
        self.world.cut_network(gate)

    def responses_get_lost(self, gate: SimulatedGate) -> None:
        gate.link.fault = self.random.choice(
            (network_link.response_lost, network_link.captive_portal, network_link.error_page)
        )
        gate.sync()
        gate.link.fault = None

    def the_power_goes_before_the_lamp(self, gate: SimulatedGate) -> None:
        gate.lamp.cut = True
        with suppress(PowerCut):
            gate.scan(self.random.choice(self.tickets).code)
        self.the_machine_restarts(gate)

    def the_machine_restarts(self, gate: SimulatedGate) -> None:
        gate.lose_power()
        self.world.advance(seconds=30)
        gate.boot_up(wall_error_ms=self.random.choice((0, 0, -self.world.now, 10**12)))

    def the_server_restarts(self, _door: SimulatedGate) -> None:
        self.world.stop_server()
        self.random.choice(self.gates).sync()
        self.world.start_server()

    def somebody_buys(self, _door: SimulatedGate) -> None:
        self.tickets.append(self.world.sell_one())

    def finish(self) -> None:
        self.world.advance(minutes=5)
        self.world.mend_network()
        for _ in range(2):
            for gate in self.gates:
                assert "error" not in gate.sync()


def real_presentations(gate: SimulatedGate) -> list[Entry]:
    return [entry for entry in gate.entries() if entry.kind in SHOWN and entry.mode == "real"]


@pytest.mark.parametrize("seed", range(EVENINGS))
def test_gates_and_server_agree_in_the_end(world: World, seed: int) -> None:
    evening = RandomEvening(world, seed)
    for _ in range(INCIDENTS):
        evening.next_incident()
    evening.finish()

    entries = [entry for gate in evening.gates for entry in real_presentations(gate)]
    assert world.counts() == dict(Counter(entry.reason for entry in entries)), "each presentation arrived, once"
    for gate in evening.gates:
        assert gate.unsent == 0
        assert len(gate.branches()) == 1
        assert gate.context.journal.verify().ok
        assert (world.journal_of(gate).missing, world.journal_of(gate).quarantined) == (0, 0)

    admitted = Counter(entry.ticket_id for entry in entries if entry.admitted)
    assert world.inside() == admitted.total()
    kinds = Counter(world.conflicts())
    assert kinds["duplicate"] == sum(times - 1 for times in admitted.values()), "all but one of each are duplicates"
    assert set(kinds) <= {"duplicate", "refused_though_right"}

    for ticket in evening.tickets:
        answers = {gate.reason(ticket.code, mode="test") for gate in evening.gates}
        assert answers == {"already_used" if int(ticket.id, 16) in admitted else "test_ok"}
