"""Gates whose card was copied, swapped or restored."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from gate_app.doctor.examination import findings
from gate_app.journal import forks
from gate_app.status import status as tell_status
from gate_app.sync.client import HttpRequest, HttpResponse
from shared.errors import Conflict
from sync_server.devices import queries as devices
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.scans import alarms
from tests.journeys.simulated_gate import SimulatedGate
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


def fork_words(gate: SimulatedGate) -> str:
    """What its screen, its status and its doctor say of a second machine: the same, or nothing."""
    status = tell_status(gate.context.status_source())
    said = str(status["fork_words"])
    assert (said in status["warnings"]) is bool(said)
    journal = next(found for found in findings(gate.context.home, gate.context.host) if found.part == "journal")
    assert (journal.ok, said in journal.message) == (not said, True)
    return said


@pytest.mark.parametrize("heard_by", ["hello", "changes", "push"])
def test_the_first_machine_is_told_that_a_copy_is_in_use(any_world: World, tmp_path: Path, heard_by: str) -> None:
    world = any_world
    first, second, third = world.sell(3)
    gate = world.gate("A")
    gate.scan(first.code)
    gate.sync()
    image = gate.image(tmp_path / "twin")
    gate.sync()
    assert fork_words(gate) == ""
    gate.scan(second.code)
    gate.pusher.run_once()
    twin = world.twin_of(gate, image)
    twin.sync()
    assert fork_words(twin) == forks.LEFT_MESSAGE
    if heard_by == "hello":
        gate.sync()
    elif heard_by == "changes":
        gate.puller.run_once()
    else:
        gate.scan(third.code)
        gate.pusher.run_once()
    assert fork_words(gate) == forks.TWIN_MESSAGE
    assert gate.context.status_source().messages.count(forks.TWIN_MESSAGE) == 0, "said once, and stored"
    gate.switch_off()
    gate.switch_on()
    assert fork_words(gate) == forks.TWIN_MESSAGE
    assert len(gate.branches()) == 1, "its own chain is whole; nothing begins anew"


def test_the_first_machine_is_told_no_longer_once_the_organiser_has_seen_to_it(world: World, tmp_path: Path) -> None:
    first, second, third = world.sell(3)
    gate = world.gate("A")
    gate.scan(first.code)
    gate.sync()
    image, another = gate.image(tmp_path / "twin"), gate.image(tmp_path / "another")
    gate.scan(second.code)
    gate.sync()
    world.twin_of(gate, image).sync()
    gate.sync()
    assert fork_words(gate) == forks.TWIN_MESSAGE
    acknowledge(world, gate, "The copy is switched off.")
    gate.sync()
    assert fork_words(gate) == ""
    gate.scan(third.code)
    gate.sync()
    assert fork_words(gate) == "", "its chain is whole, and nobody else writes"
    with pytest.raises(Conflict, match="no alarm"):
        acknowledge(world, gate, "Again.")
    world.twin_of(gate, another).sync()
    gate.sync()
    assert fork_words(gate) == forks.TWIN_MESSAGE, "another copy is in use"


def acknowledge(world: World, gate: SimulatedGate, note: str) -> None:
    parts, device = world.parts, gate.context.require_enrolled()
    context = ActionContext(SYSTEM, world.now, parts.entropy)
    with parts.database.writing() as session:
        found = devices.by_number(session, device.device_number)
        assert found is not None
        alarms.acknowledge(session, found.organisation_id, found.id, context, note=note)


def test_two_copies_that_are_both_online_are_both_told(world: World, tmp_path: Path) -> None:
    first, second = world.sell(2)
    gate = world.gate("A")
    gate.sync()
    twin = world.twin_of(gate, gate.image(tmp_path / "twin"))
    for one in (gate, twin):
        one.puller.run_once()  # both have greeted; neither will again before contact is lost
    gate.scan(first.code)
    twin.scan(second.code)
    gate.pusher.run_once()
    twin.pusher.run_once()
    gate.puller.run_once()
    assert fork_words(gate)
    assert fork_words(twin)


def test_entries_that_arrive_before_the_hello_they_are_missing_from_are_no_second_machine(world: World) -> None:
    gate = world.gate("A")
    ticket = world.sell_one()
    gate.puller.exchange.greet_again()
    sent, uploads = gate.link.send, list[threading.Thread]()

    def scan_and_upload_first(request: HttpRequest) -> HttpResponse:
        """A guest comes while the hello is on its way; the other thread uploads at once."""
        gate.link.send = sent  # type: ignore[method-assign]
        gate.scan(ticket.code)
        uploads.append(threading.Thread(target=gate.pusher.run_once))
        uploads[0].start()
        uploads[0].join(0.2)
        return sent(request)

    gate.link.send = scan_and_upload_first  # type: ignore[method-assign]
    gate.puller.run_once()
    uploads[0].join()
    assert gate.unsent == 0
    gate.sync()
    assert (fork_words(gate), world.journal_of(gate).alarm) == ("", "")


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
