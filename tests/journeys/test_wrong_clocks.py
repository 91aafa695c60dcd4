"""Machines without a battery clock: 1970, 2090, a day off, and a time set by a supervisor."""

from __future__ import annotations

import pytest

from gate_app.clock.time_keeper import TimeSource
from tests.gate_builders import EVENING, HOUR
from tests.journeys.simulated_gate import SimulatedGate
from tests.journeys.world import PIN, World, iso

YEAR = 365 * 24 * HOUR


def booted(world: World, gate: SimulatedGate, wall: int) -> None:
    """Reboot with this wall clock."""
    gate.lose_power()
    world.advance(minutes=2)
    gate.boot_up(wall_error_ms=wall - world.now)


@pytest.mark.parametrize("wall", [0, EVENING + 64 * YEAR], ids=["1970", "2090"])
def test_the_clock_is_wildly_wrong_at_boot_and_the_network_is_down(any_world: World, wall: int) -> None:
    world = any_world
    early, ticket, other = world.sell(3)
    gate = world.gate("A")
    assert gate.reason(early.code) == "admitted"
    world.cut_network()
    booted(world, gate, wall)
    assert gate.context.time.now().source is TimeSource.FLOOR
    assert abs(gate.context.time.now().at - world.now) < HOUR
    assert gate.reason(ticket.code) == "admitted"
    assert gate.reason(early.code) == "already_used"
    world.advance(minutes=10)
    world.mend_network()
    gate.sync()
    assert gate.context.time.now().source is TimeSource.SERVER
    assert abs(gate.context.time.now().at - world.now) < 1_000
    assert gate.reason(other.code) == "admitted"
    gate.sync()
    assert world.counts() == {"admitted": 3, "already_used": 1}
    assert world.conflicts() == []


def test_a_boot_in_2090_does_not_affect_the_clock_later(world: World) -> None:
    gate = world.gate("A")
    world.cut_network()
    booted(world, gate, EVENING + 64 * YEAR)
    gate.context.time.raise_floor()
    booted(world, gate, world.now)
    assert abs(gate.context.time.now().at - world.now) < HOUR


@pytest.mark.parametrize("wall", [0, EVENING + 64 * YEAR], ids=["1970", "2090"])
def test_two_gates_and_one_wrong_clock_still_name_the_rightful_guest(any_world: World, wall: int) -> None:
    world = any_world
    ticket = world.sell_one()
    lost, sound = world.gate("A"), world.gate("B")
    world.cut_network()
    booted(world, lost, wall)
    assert lost.reason(ticket.code) == "admitted"
    world.advance(minutes=10)
    assert sound.reason(ticket.code) == "admitted"
    world.advance(minutes=10)
    world.mend_network()
    sound.sync()
    lost.sync()
    lost.sync()
    (conflict,) = world.conflict_rows()
    assert conflict.kind == "duplicate"
    assert [scan["device"] for scan in conflict.scans] == [sound.number, lost.number]


def test_a_supervisor_sets_the_clock_of_an_offline_gate(world: World) -> None:
    planned = world.create_event("Planned", live=False, go_live_at=_minutes_from(world, 30))
    ticket = world.sell_one(event=planned)
    gate = world.gate("A", event=planned)
    world.cut_network()
    world.advance(minutes=40)
    booted(world, gate, 0)
    gate.context.supervisor_actions().set_clock(world.now, gate.supervisor(PIN))
    assert gate.context.time.now().source is TimeSource.BY_HAND
    assert gate.reason(ticket.code) == "admitted"
    world.mend_network()
    gate.sync()
    assert world.counts(planned) == {"admitted": 1}


def _minutes_from(world: World, minutes: int) -> str:
    return iso(world.now + minutes * 60_000)
