"""Revoked devices: what they forget, what they may still upload, and what counts."""

from __future__ import annotations

from tests.journeys.world import World


def test_a_revoked_device_wipes_its_rows_when_it_syncs(world: World) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    world.revoke(gate)
    assert gate.reason(ticket.code) == "admitted", "it has not heard of it yet"
    gate.sync()
    result = gate.scan(ticket.code)
    assert result["reason"] == "gate_not_ready"
    assert gate.context.roster.snapshots == {}
    assert list(gate.folder.glob("snapshots/*")) == []


def test_late_entries_of_a_revoked_device_wait_until_an_admin_accepts_them(any_world: World) -> None:
    world = any_world
    before, late = world.sell(2)
    gate, neighbour = world.gate("A"), world.gate("B")
    assert gate.reason(before.code) == "admitted"
    gate.sync()
    world.cut_network(gate)
    world.revoke(gate)
    world.advance(minutes=5)
    assert gate.reason(late.code) == "admitted"
    world.mend_network()
    gate.sync()
    neighbour.sync()
    assert world.counts() == {"admitted": 1}
    assert world.journal_of(gate).quarantined >= 1
    assert world.conflicts() == ["revoked_device"]
    assert neighbour.reason(before.code) == "already_used"
    assert neighbour.reason(late.code) == "admitted", "what waits refuses nobody"
    neighbour.sync()
    assert world.accept_late(gate) >= 1
    assert world.counts() == {"admitted": 3, "already_used": 1}
    assert "duplicate" in world.conflicts()


def test_scans_from_before_the_revocation_count_whenever_they_arrive(any_world: World) -> None:
    world = any_world
    tickets = world.sell(3)
    gate, neighbour = world.gate("A"), world.gate("B")
    for ticket in tickets:
        gate.scan(ticket.code)
    gate.puller.exchange.greet_again()
    gate.puller.run_once()  # hello reports the journal's length; the journal itself is not uploaded
    world.revoke(gate)
    gate.sync()
    neighbour.sync()
    assert world.counts() == {"admitted": 3}
    assert neighbour.reason(tickets[0].code) == "already_used"


def test_a_revoked_gate_gets_nothing_new(world: World) -> None:
    gate = world.gate("A")
    world.revoke(gate)
    world.sell(3)
    result = gate.sync()
    assert "revoked" in gate.context.sync_state.message + result.get("error", "")
    assert gate.sync()["revision"] is None


def test_a_revoked_gate_that_is_enrolled_again_keeps_its_journal(world: World) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    gate.scan(ticket.code)
    gate.sync()
    entries = len(gate.entries())
    world.revoke(gate)
    gate.sync()
    device = world.ask("POST", "/api/devices", {"name": "Gate A again"})
    post = {"event_id": world.event.id, "gate": world.gate_numbers["A"]}
    world.ask("PUT", f"/api/devices/{device['id']}/assignments", {"assignments": [post]})
    gate.switch_off()
    gate.enrol(world.ask("POST", f"/api/devices/{device['id']}/code", {})["code"])
    assert "error" not in gate.sync()
    assert len(gate.entries()) > entries
    assert gate.reason(ticket.code) == "already_used"
    gate.sync()
    assert world.counts() == {"admitted": 1, "already_used": 1}
