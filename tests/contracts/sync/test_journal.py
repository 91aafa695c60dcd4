"""Journals as gates deliver them: complete, twice, late, damaged, forked, forged."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from shared.journal import scans
from shared.journal.scans import EntryKind
from shared.wire import protocol
from shared.wire.snapshot import MovementKind, TicketState
from sync_server.scans import quarantine, queries
from sync_server.scans.attendance.inside import occupancy
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.world import World


def statuses(answer: protocol.JournalAnswer) -> list[str]:
    """The status of each entry, in order."""
    return [status for _, status, _ in answer.answers]


def conflicts(world: World) -> list[tuple[str, int]]:
    """Kind and ticket of unresolved conflicts."""
    with world.parts.database.reading() as session:
        found = queries.open_conflicts(session, world.event.key)
    return sorted((row.kind, row.ticket) for row in found)


def inside(world: World) -> int:
    """How many people are inside."""
    with world.parts.database.reading() as session:
        return occupancy(session, world.event.key, 0).inside


def test_a_journal_is_kept_and_its_movements_reach_the_other_gate(world: World) -> None:
    world.tickets(1, 2)
    door, other = world.a_gate("Door"), world.a_gate("Side door", gate=2)
    door.anchor()
    door.admit(1)
    door.refuse(2, "wrong_gate")
    answer = door.upload()
    assert statuses(answer) == ["accepted"] * 3
    assert (answer.mark.seq, answer.mark.head) == (3, door.head)
    assert [(move.device, move.seq, move.ticket_id) for move in other.movements()] == [(door.number, 2, 1)]


def test_sending_twice_changes_nothing(world: World) -> None:
    world.tickets(1)
    door = world.a_gate()
    door.anchor()
    door.admit(1)
    first, again = door.upload(), door.upload()
    assert statuses(again) == ["known", "known"]
    assert again.mark == first.mark
    assert len(door.movements()) == 1
    with world.parts.database.reading() as session:
        assert [count.n for count in queries.counts(session, world.event.key)] == [1]


def test_batches_that_overtake_each_other_leave_no_hole(world: World) -> None:
    world.tickets(1, 2, 3)
    door = world.a_gate()
    for ticket in (1, 2, 3):
        door.admit(ticket)
    late = door.upload(door.bodies[1:])
    assert late.mark.seq == 0
    whole = door.upload(door.bodies[:1])
    assert (whole.mark.seq, whole.mark.head) == (3, door.head)
    assert len(door.movements()) == 3


def test_a_damaged_entry_is_quarantined_and_blocks_nothing_after_it(world: World) -> None:
    world.tickets(1, 3)
    door = world.a_gate()
    door.admit(1)
    door.admit(2)
    door.bodies[1] = b"\xc1 damaged on the card"
    door.write(ticket_id=3, issue=1, admitted=True, reason="admitted", previous=scans.entry_hash(door.bodies[1]))
    answer = door.upload()
    assert answer.answers == [(1, "accepted", ""), (2, "quarantined", "unreadable"), (3, "accepted", "")]
    assert answer.mark.seq == 3
    assert {move.ticket_id for move in door.movements()} == {1, 3}
    assert statuses(door.upload()) == ["known", "quarantined", "known"]


def test_an_entry_that_names_another_predecessor_is_quarantined(world: World) -> None:
    world.tickets(1, 2, 3)
    door = world.a_gate()
    door.admit(1)
    door.admit(2, previous=bytes(31) + b"\x01")
    door.admit(3)
    assert [why for *_, why in door.upload().answers] == ["", "broken_chain", ""]


def test_an_entry_of_another_device_is_quarantined(world: World) -> None:
    world.tickets(1)
    door, other = world.a_gate("One"), world.a_gate("Two", gate=2)
    door.admit(1, device=other.number)
    assert door.upload().answers == [(1, "quarantined", "wrong_device")]
    assert other.movements() == []


def test_a_hole_holds_the_mark_until_it_is_declared(world: World) -> None:
    world.tickets(1, 2)
    door = world.a_gate()
    door.admit(1)
    lost = door.write(ticket_id=2, issue=1, admitted=True, reason="admitted")
    door.bodies.pop()
    undeclared = scans.encode(door.an_entry(seq=4, previous=bytes(32)))
    assert door.upload([door.bodies[0], undeclared]).mark.seq == 1
    gap = scans.encode(door.an_entry(kind=EntryKind.GAP, seq=3, event=0, details={"first": lost.seq, "last": lost.seq}))
    answer = door.upload([gap])
    assert statuses(answer) == ["accepted"]
    assert answer.mark.seq == 4


def test_entries_of_two_machines_with_one_key_are_both_stored_and_reported(world: World) -> None:
    world.tickets(1, 2, 3)
    door = world.a_gate()
    door.admit(1)
    clone = replace(door, bodies=list(door.bodies))
    clone.key, clone.server = door.key, door.server
    door.admit(2)
    clone.admit(3)
    door.upload()
    answer = clone.upload()
    assert statuses(answer) == ["known", "accepted"]
    assert answer.mark.head == door.head
    assert clone.hello().words
    assert {move.ticket_id for move in door.movements()} == {1, 2, 3}
    assert [kind for kind, _ in conflicts(world)] == ["fork", "fork"]


def test_a_restored_older_image_is_told_to_begin_a_new_branch(world: World) -> None:
    world.tickets(1, 2)
    door = world.a_gate()
    door.admit(1)
    door.admit(2)
    door.upload()
    answer = door.hello(last_seq=1, head=scans.entry_hash(door.bodies[0]))
    assert answer.mark is not None
    assert answer.mark.seq == 2
    assert "new branch" in answer.words


def test_an_upload_with_an_unsigned_head_is_refused(world: World) -> None:
    door, other = world.a_gate("One"), world.a_gate("Two", gate=2)
    door.admit(1)
    request = door.journal_request(door.bodies)
    forged = scans.sign_head(other.key, door.number, 1, 1, door.head)
    body = protocol.encode(
        protocol.JournalRequest(branch=1, entries=request.entries, head_seq=1, head=request.head, head_signature=forged)
    )
    assert door.refusal("POST", protocol.JOURNAL, "push", body=body).code == "bad_head"


def a_revoked_gate(world: World) -> Gate:
    """Two entries were claimed before the revocation, three after."""
    world.tickets(1, 2, 3, 4, 5)
    door = world.a_gate()
    door.admit(1)
    door.admit(2)
    door.hello()
    world.revoke(door.device_id)
    for ticket in (3, 4, 5):
        door.admit(ticket)
    return door


def test_late_entries_of_a_revoked_device_wait_and_refuse_nobody(world: World) -> None:
    other = world.a_gate("Other", gate=2)
    door = a_revoked_gate(world)
    answer = door.upload()
    assert [why for *_, why in answer.answers] == ["", "", *["revoked_device"] * 3]
    assert answer.mark.seq == 5
    assert {move.ticket_id for move in other.movements()} == {1, 2}
    assert conflicts(world) == [("revoked_device", ticket) for ticket in (3, 4, 5)]


def test_entries_up_to_the_claimed_head_count_in_whatever_batches_they_come(world: World) -> None:
    other = world.a_gate("Other", gate=2)
    door = a_revoked_gate(world)
    assert statuses(door.upload(door.bodies[:1])) == ["quarantined"]
    assert statuses(door.upload(door.bodies[1:2])) == ["accepted"]
    assert {move.ticket_id for move in other.movements()} == {1, 2}


def test_an_admin_may_accept_late_entries_of_a_revoked_device(world: World) -> None:
    other = world.a_gate("Other", gate=2)
    door = a_revoked_gate(world)
    door.upload()
    with world.parts.database.writing() as session:
        freed = quarantine.accept_late(
            session,
            world.organisation,
            door.device_id,
            world.context(),
            note="The crew was there.",
            sealer=world.parts.sealer,
        )
    assert freed == 3
    assert {move.ticket_id for move in other.movements()} == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_two_gates_admit_the_same_ticket_offline(world: World, order: tuple[int, ...]) -> None:
    world.tickets(1)
    gates = [world.a_gate("One"), world.a_gate("Two", gate=2), world.a_gate("Three")]
    for gate in gates:
        gate.anchor()
        world.advance(minutes=5)
        gate.admit(1)
        world.advance(minutes=5)
        gate.anchor()
    for which in order:
        gates[which].upload()
    with world.parts.database.reading() as session:
        found = queries.open_conflicts(session, world.event.key)
    assert sorted((row.kind, row.subject.split("-")[0]) for row in found) == sorted(
        ("duplicate", str(gate.number)) for gate in gates[1:]
    )
    assert all(row.scans[1]["device"] == gates[0].number for row in found)
    assert inside(world) == 3


def test_a_later_upload_withdraws_what_was_no_conflict_after_all(world: World) -> None:
    world.tickets(1)
    first, second = world.a_gate("One"), world.a_gate("Two", gate=2)
    for gate in (first, second):
        gate.anchor()
        gate.admit(1)
        gate.anchor()
    second.upload()
    assert conflicts(world) == []
    entry = scans.decode(first.bodies[1])
    first.write(
        kind=EntryKind.ANNULMENT, ticket_id=1, issue=1, details={"annuls": [entry.device, entry.branch, entry.seq]}
    )
    first.upload(first.bodies[:3])
    assert conflicts(world) == [("duplicate", 1)]
    first.upload(first.bodies[3:])
    assert conflicts(world) == []
    assert [move.kind for move in second.movements()].count(MovementKind.ANNULMENT) == 1


def test_a_cancelled_ticket_that_was_admitted(world: World) -> None:
    world.tickets(1)
    door = world.a_gate()
    door.anchor()
    world.advance(minutes=1)
    world.tickets(1, state=TicketState.CANCELLED)
    world.advance(minutes=1)
    door.admit(1)
    door.upload()
    assert conflicts(world) == [("admitted_though_dead", 1)]


def test_a_good_signature_on_a_ticket_that_never_was_is_the_gravest_alarm(world: World) -> None:
    door = world.a_gate()
    door.admit(666)
    door.upload()
    with world.parts.database.reading() as session:
        (row,) = queries.open_conflicts(session, world.event.key)
    assert (row.kind, row.severity) == ("never_issued", 4)


def test_nothing_crosses_organisations(world: World) -> None:
    rivals = world.an_event(world.an_organisation("rivals"), number=8)
    door = world.a_gate()
    door.admit(1, event=rivals.number)
    assert door.upload().answers == [(1, "quarantined", "foreign_event")]
    with world.parts.database.reading() as session:
        assert queries.counts(session, rivals.key) == []


def test_times_follow_the_anchors_that_come_later(world: World) -> None:
    world.tickets(1, 2)
    early, late = world.a_gate("Early"), world.a_gate("Late", gate=2)
    early.started -= 3_600_000  # wall clock and guesses are an hour off; the anchor will tell
    early.admit(1, wall=world.now + 3_600_000)
    early.upload()
    late.anchor()
    world.advance(minutes=10)
    late.admit(1)
    late.upload()
    early.anchor()
    early.upload(early.bodies[1:])
    with world.parts.database.reading() as session:
        (row,) = queries.open_conflicts(session, world.event.key)
    assert row.subject.startswith(f"{late.number}-")


def test_exits_empty_the_venue(world: World) -> None:
    world.tickets(1, 2)
    door = world.a_gate()
    door.anchor()
    door.admit(1)
    door.admit(2)
    door.admit(1, direction="exit", reason="exited")
    door.upload()
    assert inside(world) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "from_the_future"},
        {"direction": "sideways"},
        {"direction": "\0"},
        {"mode": "\0", "notices": ("\0",)},
        {"ticket_id": 2**64 - 1, "issue": 2**32 - 1, "gate": 2**32 - 1},
        {"kind": "k" * 1_000, "reason": "r" * 1_000, "override_reason": "o" * 1_000},
        {"details": {"annuls": [1, 2], "zone": -1, "\0": "\0"}},
    ],
)
def test_an_entry_that_nobody_expected_blocks_nothing(world: World, fields: dict[str, object]) -> None:
    world.tickets(1)
    door = world.a_gate()
    door.admit(9, **fields)
    door.admit(1)
    answer = door.upload()
    assert answer.answers[-1] == (2, "accepted", "")
    assert answer.mark.seq == 2
    assert 1 in {move.ticket_id for move in door.movements()}
