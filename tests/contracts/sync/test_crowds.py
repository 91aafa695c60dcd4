"""Entries beyond capacity, found from all gates' journals together."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest
from sqlalchemy import select

from scripts.benchmarking.meters.rows_read import reads_of
from shared.admission import Direction, Passage
from shared.wire.snapshot import GateRow, ZoneRow
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.plumbing.sql.bulk import insert_many
from sync_server.revisions import service as revisions
from sync_server.scans import queries
from sync_server.scans.attendance.flows import FLOWS
from sync_server.scans.attendance.steps import Step, pack
from sync_server.scans.crowds.watch import CapacityWatch, check
from sync_server.scans.models import Presence, ScanEntry
from sync_server.workers import Worker
from tests.analysed import analyse
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.world import World


@pytest.fixture
def watch() -> CapacityWatch:
    """What the worker runs."""
    return CapacityWatch()


def full(world: World, watch: CapacityWatch) -> list[tuple[int, str]]:
    """The over-capacity tickets after a run of the worker."""
    watch.run(world.parts.database, ActionContext(SYSTEM, world.now, world.dice))
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


def present(event: EventKey, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The row of presence that follows from an entry."""
    way = entry["device"], entry["branch"], entry["seq"], Direction.ENTRY, 1, 1
    step = Step(entry["ticket"], Passage(entry["at"], *way))
    seen = {"ticket": entry["ticket"], "bodies": 1, "at": entry["at"], "gate": 1, "zone": 1}
    return event._asdict() | seen | {"steps": pack([step])}


def test_a_crowd_of_any_size_is_found_and_withdrawn(world: World, watch: CapacityWatch) -> None:
    """As many as no statement takes at once; another entry of the one gate stands for them all."""
    world.tickets(1)
    world.put([ZoneRow(1, "Floor", "ga_standing", capacity=1)])
    west = world.a_gate("West")
    west.anchor()
    west.admit(1, details={"zone": 1})
    west.upload()
    crowd = 11_000
    with world.parts.database.writing() as session:
        entry = session.scalars(select(ScanEntry).where(ScanEntry.ticket == 1)).one()
        columns = {column.key: getattr(entry, column.key) for column in ScanEntry.__table__.columns}
        copies = [
            columns | {"seq": 10_000 + n, "hash": n.to_bytes(8, "big") * 4, "at": entry.at + n, "ticket": 100 + n}
            for n in range(crowd)
        ]
        insert_many(session, ScanEntry, copies, "ON CONFLICT DO NOTHING")
        insert_many(session, Presence, [present(world.event.key, copy) for copy in copies])
        FLOWS.mend(session, world.event.key)
        revisions.allot_arrivals(session, world.event.key, 1)
    with world.parts.database.reading() as session:
        assert watch.anything_moved(session, world.now) is not None
    watch.run(world.parts.database, ActionContext(SYSTEM, world.now, world.dice))
    with world.parts.database.reading() as session:
        assert len(queries.open_conflicts(session, world.event.key, limit=20_000)) == crowd
        assert watch.anything_moved(session, world.now) is None
    world.put([ZoneRow(1, "Floor", "ga_standing", capacity=20_000)])
    watch.arrived.clear()
    watch.resting.clear()
    assert full(world, watch) == []


def test_an_event_that_was_long_to_check_rests(world: World) -> None:
    watch = CapacityWatch()
    world.tickets(1)
    west = world.a_gate("West")
    west.anchor()
    west.admit(1)
    west.upload()
    watch.resting[world.event.key] = world.now + 1
    with world.parts.database.reading() as session:
        assert watch.anything_moved(session, world.now) is None
        assert watch.anything_moved(session, world.now + 1) is not None


def reads_of_one_more_guest(world: World, gate: Gate, guest: int) -> int:
    """What the worker reads when one more guest went into a full zone."""
    before = check(world.parts.database, world.event.key, world.now)
    world.advance(minutes=1)
    analyse(world.parts.database)
    gate.admit(guest, details={"zone": 1})
    gate.upload(gate.bodies[-1:])
    with reads_of(world.parts.database) as counted:
        check(world.parts.database, world.event.key, world.now, before)
    with world.parts.database.reading() as session:
        assert guest in [row.ticket for row in queries.open_conflicts(session, world.event.key)]
    return counted.rows


def test_the_check_reads_what_is_new_and_not_all_that_has_happened(world: World) -> None:
    """An hour with a guest a minute, and one with eight: as many minutes, and eight times as many movements."""
    world.tickets(*range(1, 600))
    gate = world.a_gate("West")
    gate.anchor()
    guests, read, inside = count(1), list[int](), 0
    for each_minute in (1, 8):
        for _ in range(60):
            for _ in range(each_minute):
                gate.admit(next(guests), details={"zone": 1})
            world.advance(seconds=60 - each_minute)
        inside += 60 * each_minute
        world.put([ZoneRow(1, "Floor", "ga_standing", capacity=inside)])
        gate.upload(gate.bodies[-60 * each_minute :])
        gate.admit(next(guests), details={"zone": 1})
        gate.upload(gate.bodies[-1:])
        read.append(reads_of_one_more_guest(world, gate, next(guests)))
        inside += 2
    assert read[1] < 2 * read[0], read
