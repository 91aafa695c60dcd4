"""An upload is judged by the batch: it sends as many statements for four hundred scans as for forty."""

from __future__ import annotations

from scripts.benchmarking.meters.rows_read import reads_of
from shared.wire.snapshot import ZoneRow
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.world import World

FEW, MANY = 40, 400


def statements_of(world: World, gate: Gate, tickets: range, *, direction: str = "entry") -> int:
    """What one upload of a scan of each of these tickets sends to the database."""
    reason = {"entry": "admitted", "exit": "exited"}[direction]
    for ticket in tickets:
        gate.admit(ticket, direction=direction, reason=reason, details={"zone": 1})
    world.advance(minutes=1)
    with reads_of(world.parts.database) as counted:
        gate.upload(gate.bodies[-len(tickets) :])
    return counted.statements


def test_first_scans_cost_an_upload_as_many_statements_however_many_they_are(world: World) -> None:
    world.tickets(*range(1, 1_000))
    world.put([ZoneRow(1, "Floor", "ga_standing", capacity=100)])
    gate = world.a_gate()
    gate.anchor()
    statements_of(world, gate, range(900, 901))  # an event's first upload makes rows of its own
    few = statements_of(world, gate, range(1, 1 + FEW))
    many = statements_of(world, gate, range(100, 100 + MANY))
    assert (many, few < 60) == (few, True)


def test_scans_of_tickets_that_were_there_before_do_too(world: World) -> None:
    world.tickets(*range(1, 1_000))
    gate = world.a_gate()
    gate.anchor()
    gate.upload()
    for tickets in (range(1, 1 + FEW), range(100, 100 + MANY)):
        statements_of(world, gate, tickets)
    few = statements_of(world, gate, range(1, 1 + FEW), direction="exit")
    many = statements_of(world, gate, range(100, 100 + MANY), direction="exit")
    assert (many, few < 60) == (few, True)
