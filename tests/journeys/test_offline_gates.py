"""Gates that decide offline, and what happens when they sync again."""

from __future__ import annotations

from itertools import permutations

import pytest

from gate_app.status import admitted_and_refused
from tests.gate_builders import HOUR
from tests.journeys import network_link
from tests.journeys.world import PIN, World, iso


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_two_gates_admit_the_same_ticket_offline(any_world: World, order: str) -> None:
    world = any_world
    ticket = world.sell_one()
    first, second, third = world.gate("A"), world.gate("B"), world.gate("C")
    world.cut_network()
    assert first.reason(ticket.code) == "admitted"
    world.advance(minutes=5)
    assert second.reason(ticket.code) == "admitted"
    world.advance(minutes=5)
    world.mend_network()
    for name in order:
        world.gate(name).sync()
    (conflict,) = world.conflict_rows()
    assert conflict.kind == "duplicate"
    assert [scan["device"] for scan in conflict.scans] == [second.number, first.number]
    assert not conflict.order_unsure
    assert world.inside() == 2
    third.sync()
    result = third.scan(ticket.code)
    assert result["reason"] == "already_used"
    assert [passage["gate"] for passage in result["history"]] == ["A", "B"]


def test_the_order_of_uploads_does_not_change_who_was_first(world: World) -> None:
    tickets = world.sell(6)
    gates = [world.gate(name) for name in "ABC"]
    world.cut_network()
    for ticket, order in zip(tickets, permutations(gates), strict=True):
        for gate in order:
            world.advance(minutes=1)
            assert gate.reason(ticket.code) == "admitted"
        gate.sync()  # fails
    world.mend_network()
    found = []
    for gate in (gates[2], gates[0], gates[1]):
        gate.sync()
        found.append(world.conflicts().count("duplicate"))
    assert found == [0, 6, 12]
    rightful = {(row.scans[1]["device"], row.ticket) for row in world.conflict_rows()}
    starts = [order[0].number for order in permutations(gates)]
    assert sorted(device for device, _ in rightful) == sorted(starts)


def test_clocks_too_uncertain_to_tell_who_was_first(world: World) -> None:
    ticket = world.sell_one()
    first, second = world.gate("A"), world.gate("B")
    for gate in (first, second):
        gate.lose_power()
    world.cut_network()
    first.boot_up(wall_error_ms=30_000)
    second.boot_up(wall_error_ms=-30_000)
    assert first.reason(ticket.code) == "admitted"
    world.advance(seconds=1)
    assert second.reason(ticket.code) == "admitted"
    # The gates have had no signed response since they booted: entries are uploaded before the server's time is known.
    world.mend_network()
    for gate in (second, first):
        while gate.pusher.run_once():
            pass
    (conflict,) = world.conflict_rows()
    assert (conflict.kind, conflict.order_unsure) == ("duplicate", True)
    for gate in (second, first):
        gate.sync()
    (conflict,) = world.conflict_rows()
    assert [scan["device"] for scan in conflict.scans] == [second.number, first.number]
    assert not conflict.order_unsure


def test_everything_shown_during_a_day_without_a_network_arrives_once(any_world: World) -> None:
    world = any_world
    tickets = world.sell(40)
    gate = world.gate("A")
    world.cut_network()
    for ticket in tickets:
        world.advance(seconds=20)
        assert gate.reason(ticket.code) == "admitted"
        assert gate.reason(ticket.code) == "already_used"
    assert gate.sync()["error"]
    world.advance(hours=3)
    world.mend_network()
    gate.sync()
    assert world.counts() == {"admitted": 40, "already_used": 40}
    assert world.conflicts() == []
    assert gate.unsent == 0


def test_changes_arrive_although_nothing_can_be_uploaded(world: World) -> None:
    ticket, other = world.sell(2)
    gate = world.gate("A")
    gate.scan(ticket.code)
    world.change_ticket("block", other)
    gate.link.fault = network_link.journal_only(network_link.error_page)
    assert "error" in gate.sync()
    assert gate.reason(other.code) == "ticket_blocked"
    assert gate.unsent > 0


def test_the_journal_is_uploaded_although_nothing_can_be_downloaded(world: World) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    gate.scan(ticket.code)
    gate.link.fault = network_link.after(0, network_link.error_page, path="/changes")
    assert "error" in gate.sync()
    assert world.counts() == {"admitted": 1}


def test_planned_doors_open_without_the_uplink(world: World) -> None:
    matinee = world.create_event("Matinee", live=False, go_live_at=iso(world.now + 30 * 60_000))
    ticket = world.sell_one(event=matinee)
    gate = world.gate("A", event=matinee)
    world.cut_network()
    world.advance(minutes=29)
    assert gate.reason(ticket.code) == "event_not_live"
    world.advance(minutes=1)
    assert gate.reason(ticket.code) == "admitted"
    world.work()
    assert world.ask("GET", f"/api/events/{matinee.id}")["status"] == "live"
    world.mend_network()
    gate.sync()
    assert world.conflicts(matinee) == []
    assert world.counts(matinee) == {"event_not_live": 1, "admitted": 1}


def test_a_planned_end_closes_the_doors_without_the_uplink(world: World) -> None:
    matinee = world.create_event("Matinee", end_at_auto=iso(world.now + 2 * HOUR))
    ticket = world.sell_one(event=matinee)
    gate = world.gate("A", event=matinee)
    world.cut_network()
    assert gate.reason(ticket.code) == "admitted"
    world.advance(hours=2, seconds=5)
    assert gate.reason(ticket.code) == "event_ended"


def test_a_supervisor_opens_the_doors_of_an_offline_gate(world: World) -> None:
    matinee = world.create_event("Matinee", live=False)
    ticket, other = world.sell(2, event=matinee)
    gate, neighbour = world.gate("A", event=matinee), world.gate("B", event=matinee)
    world.cut_network()
    assert gate.reason(ticket.code) == "event_not_live"
    gate.context.supervisor_actions().open_doors(matinee.number, "", gate.supervisor(PIN), opened=True)
    assert gate.reason(ticket.code) == "admitted"
    assert neighbour.reason(other.code) == "event_not_live"
    gate.lose_power()
    gate.boot_up()
    assert gate.reason(other.code) == "admitted"
    world.mend_network()
    gate.sync()
    assert world.counts(matinee) == {"event_not_live": 1, "admitted": 2}
    assert world.conflicts(matinee) == []


def test_an_offline_gate_that_is_in_test_mode_never_counts(world: World) -> None:
    ticket = world.sell_one()
    training, gate = world.gate("A", mode="test"), world.gate("B")
    world.cut_network()
    assert training.reason(ticket.code) == "test_ok"
    assert training.reason(ticket.code) == "test_ok"
    world.mend_network()
    training.sync()
    gate.sync()
    assert (world.counts(), world.inside(), world.conflicts()) == ({}, 0, [])
    assert gate.reason(ticket.code) == "admitted"
    assert gate.reason(ticket.code, mode="test") == "already_used"
    gate.sync()
    assert world.counts() == {"admitted": 1}
    assert admitted_and_refused(gate.context.database.connection)[0] == 1
