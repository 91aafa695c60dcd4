"""Power cuts: between journal and lamp, during a snapshot, during an upload."""

from __future__ import annotations

import pytest

from gate_app.sync import exchange
from shared.wire import protocol
from tests.gate_builders import PowerCut
from tests.journeys import network_link
from tests.journeys.simulated_gate import SimulatedGate
from tests.journeys.world import World

FRAME = 5


@pytest.fixture
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make frames so small that a small event has many."""
    monkeypatch.setattr(exchange, "FRAME_ROWS", FRAME)


AT_ONCE = (1, 2)
"""How many frames can be under way when the network is cut."""


def frames_asked(gate: SimulatedGate) -> int:
    return gate.link.requested_paths.count(protocol.SNAPSHOT)


def cut_after(gate: SimulatedGate, frames: int) -> None:
    gate.link.fault = network_link.after(frames, network_link.error_page, path=protocol.SNAPSHOT)


def test_power_cut_between_journal_and_lamp(any_world: World) -> None:
    world = any_world
    ticket = world.sell_one()
    gate = world.gate("A")
    world.cut_network()
    gate.lamp.cut = True
    with pytest.raises(PowerCut):
        gate.scan(ticket.code, reader="left")
    gate.lose_power()
    world.advance(seconds=40)
    gate.boot_up()
    result = gate.scan(ticket.code, reader="left")
    assert (result["verdict"], result["again"]) == ("admit", True)
    assert len(gate.lamp.given) == 1
    world.advance(seconds=10)
    assert gate.reason(ticket.code, reader="left") == "already_used"
    world.mend_network()
    gate.sync()
    assert world.counts() == {"admitted": 1, "already_used": 1}
    assert world.inside() == 1


def test_a_guest_who_returns_long_after_the_power_cut_was_counted(world: World) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    gate.lamp.cut = True
    with pytest.raises(PowerCut):
        gate.scan(ticket.code)
    gate.lose_power()
    world.advance(minutes=3)
    gate.boot_up()
    assert gate.reason(ticket.code) == "already_used"


def test_power_cut_at_one_gate_while_the_guest_walks_to_the_next(world: World) -> None:
    ticket = world.sell_one()
    gate, neighbour = world.gate("A"), world.gate("B")
    gate.lamp.cut = True
    with pytest.raises(PowerCut):
        gate.scan(ticket.code)
    gate.lose_power()
    assert neighbour.reason(ticket.code) == "admitted"
    gate.boot_up()
    gate.sync()
    neighbour.sync()
    assert world.conflicts() == ["duplicate"]


@pytest.mark.usefixtures("small_frames")
def test_an_interrupted_snapshot_resumes(any_world: World) -> None:
    world = any_world
    tickets = world.sell(60)
    gate = world.gate("A")
    whole = frames_asked(gate)
    assert whole > 60 // FRAME
    world.restore(world.back_up())  # a new lineage: everything must be downloaded again
    cut_after(gate, whole // 2)
    gate.sync()
    world.mend_network()
    assert "error" not in gate.sync()
    assert frames_asked(gate) - 2 * whole in AT_ONCE, "only the frames that were cut were asked for again"
    assert gate.reason(tickets[-1].code) == "admitted"


@pytest.mark.usefixtures("small_frames")
def test_power_cut_in_the_middle_of_a_new_snapshot_leaves_the_old_one_in_use(world: World) -> None:
    tickets = world.sell(40)
    gate = world.gate("A")
    backup = world.back_up()
    world.restore(backup)  # a new lineage: everything must be downloaded again
    cut_after(gate, 4)
    before = frames_asked(gate)
    assert "error" in gate.sync()
    assert frames_asked(gate) - before - 4 in AT_ONCE
    assert gate.reason(tickets[0].code) == "admitted"
    gate.lose_power()
    gate.boot_up()
    assert gate.reason(tickets[0].code) == "already_used"
    assert gate.reason(tickets[1].code) == "admitted"
    world.mend_network()
    assert "error" not in gate.sync()
    assert gate.reason(tickets[2].code) == "admitted"
    assert list(gate.folder.glob("snapshots/*.part*")) == []


@pytest.mark.usefixtures("small_frames")
def test_tickets_sold_during_the_snapshot_are_in_it_in_the_end(world: World) -> None:
    tickets = world.sell(40)
    gate = world.gate("A")
    world.restore(world.back_up())
    cut_after(gate, 4)
    gate.sync()
    late = world.sell_one()
    world.change_ticket("block", tickets[0])
    world.mend_network()
    before = frames_asked(gate)
    assert "error" not in gate.sync()
    assert 0 < frames_asked(gate) - before < 8, "it began again from the first frame"
    assert (gate.reason(late.code), gate.reason(tickets[0].code)) == ("admitted", "ticket_blocked")


def test_power_cut_between_an_upload_and_its_response(any_world: World) -> None:
    world = any_world
    ticket = world.sell_one()
    gate = world.gate("A")
    gate.scan(ticket.code)
    gate.link.fault = network_link.journal_only(network_link.response_lost)
    assert "error" in gate.sync()
    gate.lose_power()
    gate.boot_up()
    world.mend_network()
    gate.sync()
    assert (world.counts(), gate.unsent) == ({"admitted": 1}, 0)
    assert world.conflicts() == []
    assert len(gate.branches()) == 1
