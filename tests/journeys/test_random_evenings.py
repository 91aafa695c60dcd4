"""Whole evenings of chance: cables, plugs and servers come and go while guests do; in the end everybody agrees."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest

from shared.scans import Entry, EntryKind
from tests.gate_builders import PowerCut
from tests.journeys import cable
from tests.journeys.door import Door
from tests.journeys.world import Sold, World

EVENINGS = int(os.environ.get("GATEHOUSE_TEST_EVENINGS", "6"))
"""Set GATEHOUSE_TEST_EVENINGS=200 for a long run; each evening is the same in every run."""
ACTS = 120
SHOWN = {EntryKind.PRESENTATION, EntryKind.BY_HAND}


class Chance:
    """What may happen at any moment."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.dice = random.Random(seed)
        self.tickets: list[Sold] = world.sell(8)
        self.doors = [world.gate(name) for name in "ABC"]
        self.acts: list[tuple[int, Callable[[Door], object]]] = [
            (40, self.a_guest_comes),
            (12, Door.sync),
            (6, self.a_cable_is_pulled),
            (6, lambda door: world.mend_network(door)),
            (4, self.answers_get_lost),
            (4, self.the_power_goes_before_the_lamp),
            (3, self.the_machine_restarts),
            (3, self.the_server_restarts),
            (2, self.somebody_buys),
        ]

    def something_happens(self) -> None:
        self.world.advance(seconds=self.dice.uniform(6, 90))
        weights = [weight for weight, _ in self.acts]
        _, act = self.dice.choices(self.acts, weights)[0]
        act(self.dice.choice(self.doors))

    def a_guest_comes(self, door: Door) -> None:
        door.scan(self.dice.choice(self.tickets).code)

    def a_cable_is_pulled(self, door: Door) -> None:
        self.world.cut_network(door)

    def answers_get_lost(self, door: Door) -> None:
        door.cable.trouble = self.dice.choice((cable.answer_lost, cable.captive_portal, cable.error_page))
        door.sync()
        door.cable.trouble = None

    def the_power_goes_before_the_lamp(self, door: Door) -> None:
        door.lamp.cut = True
        with suppress(PowerCut):
            door.scan(self.dice.choice(self.tickets).code)
        self.the_machine_restarts(door)

    def the_machine_restarts(self, door: Door) -> None:
        door.lose_power()
        self.world.advance(seconds=30)
        door.boot_up(wall_error_ms=self.dice.choice((0, 0, -self.world.now, 10**12)))

    def the_server_restarts(self, _door: Door) -> None:
        self.world.stop_server()
        self.dice.choice(self.doors).sync()
        self.world.start_server()

    def somebody_buys(self, _door: Door) -> None:
        self.tickets.append(self.world.sell_one())

    def the_night_is_over(self) -> None:
        self.world.advance(minutes=5)
        self.world.mend_network()
        for _ in range(2):
            for door in self.doors:
                assert "error" not in door.sync()


def shown_at(door: Door) -> list[Entry]:
    return [entry for entry in door.entries() if entry.kind in SHOWN and entry.mode == "real"]


@pytest.mark.parametrize("seed", range(EVENINGS))
def test_in_the_end_everybody_agrees(world: World, seed: int) -> None:
    chance = Chance(world, seed)
    for _ in range(ACTS):
        chance.something_happens()
    chance.the_night_is_over()

    entries = [entry for door in chance.doors for entry in shown_at(door)]
    assert world.counts() == dict(Counter(entry.reason for entry in entries)), "each presentation arrived, once"
    for door in chance.doors:
        assert door.unsent == 0
        assert len(door.branches()) == 1
        assert door.lodge.journal.verify().ok
        assert (world.journal_of(door).missing, world.journal_of(door).quarantined) == (0, 0)

    admitted = Counter(entry.ticket_id for entry in entries if entry.admitted)
    assert world.inside() == admitted.total()
    kinds = Counter(world.conflicts())
    assert kinds["duplicate"] == sum(times - 1 for times in admitted.values()), "all but one of each are duplicates"
    assert set(kinds) <= {"duplicate", "refused_though_right"}

    for ticket in chance.tickets:
        answers = {door.reason(ticket.code, mode="test") for door in chance.doors}
        assert answers == {"already_used" if int(ticket.id, 16) in admitted else "test_ok"}
