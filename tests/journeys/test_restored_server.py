"""The server is restored from yesterday's backup."""

from __future__ import annotations

from pathlib import Path

from tests.journeys.world import World


def test_server_restored_from_yesterdays_backup(any_world: World) -> None:
    world = any_world
    cancelled, used, later = world.sell(3)
    gate, neighbour = world.gate("A"), world.gate("B")
    backup = world.back_up()
    world.advance(hours=1)
    world.change_ticket("cancel", cancelled)
    gate.sync()
    assert gate.reason(used.code) == "admitted"
    gate.sync()
    neighbour.sync()
    assert world.counts() == {"admitted": 1}
    world.advance(minutes=10)

    world.restore(backup)
    assert world.counts() == {}
    world.advance(minutes=1)
    for each in (gate, neighbour):
        assert "error" not in each.sync()
    assert world.counts() == {"admitted": 1}, "the gate sent its journal again from the mark that fell"
    assert world.journal_of(gate).missing == 0
    assert len(gate.branches()) == 1
    assert gate.reason(cancelled.code) == "ticket_cancelled", "the restored server has forgotten it, the gate has not"
    assert neighbour.reason(used.code) == "already_used"
    assert gate.reason(later.code) == "admitted"


def test_the_restored_servers_tickets_replace_those_of_the_gates(world: World) -> None:
    (blocked,) = world.sell(1)
    gate = world.gate("A")
    backup = world.back_up()
    world.change_ticket("block", blocked)
    gate.sync()
    world.restore(backup)
    gate.sync()
    assert gate.reason(blocked.code) == "ticket_blocked"
    world.change_ticket("block", blocked)
    world.change_ticket("unblock", blocked)
    gate.sync()
    assert gate.reason(blocked.code) == "admitted"


def test_scans_that_only_a_gate_knew_come_back_after_the_restoration(any_world: World) -> None:
    world = any_world
    tickets = world.sell(30)
    gate = world.gate("A")
    backup = world.back_up()
    for ticket in tickets[:20]:
        gate.scan(ticket.code)
    gate.sync()
    world.cut_network()
    for ticket in tickets[20:]:
        gate.scan(ticket.code)
    world.restore(backup)
    world.mend_network()
    gate.sync()
    assert world.counts() == {"admitted": 30}
    assert gate.unsent == 0
    assert world.conflicts() == []


def test_an_old_journal_branch_comes_back_too(any_world: World, tmp_path: Path) -> None:
    world = any_world
    early, late = world.sell(2)
    gate = world.gate("A")
    backup = world.back_up()
    gate.scan(early.code)
    image = gate.image(tmp_path / "image")
    gate.sync()
    gate.put_back(image)
    gate.sync()
    gate.scan(late.code)
    gate.sync()
    assert (len(gate.branches()), world.counts()) == (2, {"admitted": 2})
    world.restore(backup)
    world.advance(minutes=1)
    gate.sync()
    assert world.counts() == {"admitted": 2}, "what an earlier branch holds was acknowledged once, and lost"


def test_a_gate_enrolled_after_the_backup_is_told_so_and_still_admits(world: World) -> None:
    ticket = world.sell_one()
    backup = world.back_up()  # before the first sync with a gate: the server's key must be in it already
    gate = world.gate("A")
    world.restore(backup)
    result = gate.sync()
    assert "does not know the device" in result["error"]
    assert gate.reason(ticket.code) == "admitted"
    assert gate.unsent > 0


def test_a_ticket_sold_after_the_backup_is_reported_as_unknown(world: World) -> None:
    gate, neighbour = world.gate("A"), world.gate("B")
    backup = world.back_up()
    lost = world.sell_one()
    for each in (gate, neighbour):
        each.sync()
    world.advance(minutes=10)
    world.restore(backup)
    assert gate.reason(lost.code) == "admitted", "this gate has not heard of the restoration yet"
    world.advance(minutes=1)
    for each in (gate, neighbour):
        each.sync()
    assert neighbour.reason(lost.code) == "not_in_snapshot"
    assert world.conflicts() == ["never_issued"]
