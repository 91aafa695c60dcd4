"""Counts corrected at a gate: the server counts them too, says who did it and why, and forgets them with the day."""

from __future__ import annotations

from gate_app.supervision.screens import OWNER
from sync_server.scans.attendance.inside import occupancy
from tests.journeys.simulated_gate import SimulatedGate
from tests.journeys.world import PIN, World


def act(gate: SimulatedGate, action: str, **fields: object) -> None:
    gate.context.desk(gate.lamp).perform(action, {**fields, "pin": PIN}, OWNER)


def test_the_server_counts_what_was_counted_at_a_gate(any_world: World) -> None:
    world = any_world
    sold, gate = world.sell(2), world.gate("A")
    gate.sync()
    world.cut_network()
    assert [gate.reason(one.code) for one in sold] == ["admitted", "admitted"]
    act(gate, "correct", change=10, reason="came in by the stage door")
    world.advance(seconds=1)
    act(gate, "correct", change=-3, reason="left by the fire exit")
    world.mend_network()
    gate.sync()
    assert (world.inside(), world.conflicts()) == (9, [])
    decided = world.ask("GET", f"/api/events/{world.event.id}/decisions")["items"]
    assert [(one["what"], one["change"]) for one in decided] == [("count_corrected", -3), ("count_corrected", 10)]
    lines = world.ask("GET", "/api/audit?action=count_corrected_at_gate")["items"]
    assert [(line["after"]["change"], line["reason"]) for line in lines] == [
        (-3, "left by the fire exit"),
        (10, "came in by the stage door"),
    ]
    with world.parts.database.reading() as session:
        assert occupancy(session, world._key(None), world.now + 60_000).inside == 0


def test_who_is_counted_out_when_the_house_is_emptied_stays_out(world: World) -> None:
    gate = world.gate("A")
    act(gate, "correct", change=10, reason="counted")
    world.advance(minutes=1)
    act(gate, "empty-house")
    gate.sync()
    event = world.ask("GET", f"/api/events/{world.event.id}")
    assert event["status"] == "live"
    with world.parts.database.reading() as session:
        assert occupancy(session, world._key(None), world.now).inside == 0
