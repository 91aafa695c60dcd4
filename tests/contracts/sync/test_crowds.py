"""Entries beyond capacity, found from all gates' journals together."""

from __future__ import annotations

import pytest

from shared.snapshot import GateRow, ZoneRow
from sync_server.plumbing.principals import SYSTEM, ActionContext
from sync_server.scans import queries
from sync_server.scans.capacity import CapacityWatch
from sync_server.workers import Worker
from tests.contracts.sync.world import World


@pytest.fixture
def watch() -> CapacityWatch:
    """What the worker runs."""
    return CapacityWatch()


def full(world: World, watch: CapacityWatch) -> list[tuple[int, str]]:
    """The over-capacity tickets after a run of the worker."""
    with world.parts.database.writing() as session:
        watch.run(session, ActionContext(SYSTEM, world.now, world.dice))
    with world.parts.database.reading() as session:
        found = queries.open_conflicts(session, world.event.key)
    return sorted((row.ticket, row.reason) for row in found if row.kind == "over_capacity")


def test_two_gates_fill_a_zone_beyond_its_capacity(world: World, watch: CapacityWatch) -> None:
    world.tickets(1, 2, 3)
    world.put([ZoneRow(1, "Floor", "ga_standing", capacity=2)])
    west, east = world.a_gate("West"), world.a_gate("East", gate=2)
    for gate in (west, east):
        gate.anchor()
    west.admit(1, details={"zone": 1})
    east.admit(2, details={"zone": 1})
    west.admit(3, details={"zone": 1})
    west.upload()
    assert full(world, watch) == []
    east.upload()
    assert full(world, watch) == [(3, "zone_full")]


def test_who_left_in_time_makes_room_after_all(world: World, watch: CapacityWatch) -> None:
    world.tickets(1, 2)
    world.put([GateRow(1, "G1", "Main entrance", capacity=1)])
    west, exit_lane = world.a_gate("West"), world.a_gate("Exit lane", gate=2)
    for gate in (west, exit_lane):
        gate.anchor()
    west.admit(1)
    exit_lane.admit(1, direction="exit", reason="exited")
    west.admit(2)
    west.upload()
    assert full(world, watch) == [(2, "gate_full")]
    exit_lane.upload()
    assert full(world, watch) == []


def test_a_supervisor_who_knew_that_it_was_full_is_no_conflict(world: World, watch: CapacityWatch) -> None:
    world.tickets(1, 2)
    world.put([GateRow(1, "G1", "Main entrance", capacity=1)])
    west = world.a_gate("West")
    west.admit(1)
    fields = {"reason": "admitted_override", "override_by": 1, "override_denial": "gate_full"}
    west.admit(2, **fields)
    west.upload()
    assert full(world, watch) == []


def test_reconciling_a_ticket_again_forgets_no_crowd(world: World, watch: CapacityWatch) -> None:
    world.tickets(1, 2)
    world.put([GateRow(1, "G1", "Main entrance", capacity=1)])
    west = world.a_gate("West")
    west.admit(1)
    west.admit(2)
    west.upload()
    assert full(world, watch) == [(2, "gate_full")]
    west.refuse(2, "already_used")
    west.upload(west.bodies[2:])
    assert full(world, watch) == [(2, "gate_full")]


def test_the_worker_looks_for_crowds_by_itself(world: World) -> None:
    world.tickets(1, 2)
    world.put([GateRow(1, "G1", "Main entrance", capacity=1)])
    west = world.a_gate("West")
    west.anchor()
    west.admit(1)
    west.admit(2)
    west.upload()
    Worker(world.parts).run_once()
    with world.parts.database.reading() as session:
        found = queries.open_conflicts(session, world.event.key)
    assert [(row.kind, row.ticket) for row in found] == [("over_capacity", 2)]
