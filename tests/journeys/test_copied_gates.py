"""Gates whose card was copied, swapped or restored."""

from __future__ import annotations

from pathlib import Path

from tests.journeys.world import World


def test_a_gate_restored_from_an_older_image_continues_on_a_new_branch(any_world: World, tmp_path: Path) -> None:
    world = any_world
    early, late, new = world.sell(3)
    gate, neighbour = world.gate("A"), world.gate("B")
    gate.scan(early.code)
    image = gate.image(tmp_path / "image")
    gate.scan(late.code)
    gate.sync()
    gate.put_back(image)
    world.advance(minutes=5)
    assert "error" not in gate.sync()
    assert len(gate.branches()) == 2
    assert "older copy" in gate.context.journal.branch_message()
    assert gate.reason(late.code) == "already_used", "its own lost entry came back from the server"
    assert gate.reason(new.code) == "admitted"
    gate.sync()
    neighbour.sync()
    assert world.counts() == {"admitted": 3, "already_used": 1}
    assert world.conflicts() == [], "it synced before it wrote anything"
    assert gate.context.journal.verify().ok
    assert neighbour.reason(new.code) == "already_used"


def test_an_offline_older_image_writes_nothing_before_it_must(world: World, tmp_path: Path) -> None:
    early, late = world.sell(2)
    gate = world.gate("A")
    gate.scan(early.code)
    image = gate.image(tmp_path / "image")
    gate.scan(late.code)
    gate.sync()
    world.cut_network()
    gate.put_back(image)
    assert "error" in gate.sync()
    gate.switch_off()
    gate.switch_on()
    world.mend_network()
    gate.sync()
    assert world.conflicts() == []
    assert [entry.kind for entry in gate.entries()[-3:]] == ["branch", "boot", "time_anchor"]


def test_a_copied_home_is_detected_though_it_is_online_at_once(any_world: World, tmp_path: Path) -> None:
    world = any_world
    first, second, third = world.sell(3)
    gate = world.gate("A")
    gate.scan(first.code)
    gate.sync()
    image = gate.image(tmp_path / "twin")
    gate.scan(second.code)
    gate.sync()
    twin = world.twin_of(gate, image)
    twin.sync()
    assert "fork" in world.conflicts()
    assert "second machine" in twin.context.journal.branch_message()
    assert twin.reason(second.code) == "already_used"
    assert twin.reason(third.code) == "admitted"
    twin.sync()
    assert world.counts() == {"admitted": 3, "already_used": 1}


def test_two_machines_with_one_card_are_detected_though_the_copy_synced_first(world: World, tmp_path: Path) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    gate.sync()
    twin = world.twin_of(gate, gate.image(tmp_path / "twin"))
    twin.sync()
    gate.scan(ticket.code)
    gate.sync()
    assert world.conflicts() == ["fork"]
    assert "second machine" in gate.context.journal.branch_message()


def test_an_older_image_that_scans_offline_loses_nothing(world: World, tmp_path: Path) -> None:
    early, late, offline = world.sell(3)
    gate = world.gate("A")
    gate.scan(early.code)
    image = gate.image(tmp_path / "image")
    gate.scan(late.code)
    gate.sync()
    world.cut_network()
    gate.put_back(image)
    assert gate.reason(offline.code) == "admitted"
    world.mend_network()
    world.advance(minutes=5)
    gate.sync()
    gate.sync()
    assert world.counts() == {"admitted": 3}
    assert len(gate.branches()) == 2
    assert gate.unsent == 0


def test_a_copied_home_on_a_second_machine_is_reported_and_nothing_is_lost(any_world: World, tmp_path: Path) -> None:
    world = any_world
    tickets = world.sell(5)
    gate = world.gate("A")
    gate.scan(tickets[0].code)
    gate.sync()
    twin = world.twin_of(gate, gate.image(tmp_path / "twin"))
    world.cut_network()
    gate.scan(tickets[1].code)
    twin.scan(tickets[2].code)
    world.mend_network()
    for _ in range(2):
        gate.sync()
        twin.sync()
    assert world.counts() == {"admitted": 3}
    assert "fork" in world.conflicts()
    assert twin.reason(tickets[3].code) == gate.reason(tickets[4].code) == "admitted"
    for _ in range(2):
        gate.sync()
        twin.sync()
    assert world.counts() == {"admitted": 5}
    assert "second machine" in gate.context.journal.branch_message() + twin.context.journal.branch_message()
    assert twin.branches() != gate.branches()


def test_both_machines_with_one_card_know_what_the_other_admitted(world: World, tmp_path: Path) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    twin = world.twin_of(gate, gate.image(tmp_path / "twin"))
    gate.scan(ticket.code)
    gate.sync()
    twin.sync()
    assert twin.reason(ticket.code) == "already_used"
