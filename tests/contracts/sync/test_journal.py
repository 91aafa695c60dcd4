"""Journals as gates deliver them: whole, twice, late, broken, forked, from the wrong hands."""

from __future__ import annotations

from tests.contracts.sync.world import World


def test_a_journal_is_kept_and_its_movements_reach_the_other_gate(world: World) -> None:
    world.tickets(1, 2)
    door, other = world.a_gate("Door"), world.a_gate("Side door", gate=2)
    door.anchor()
    door.admit(1)
    door.refuse(2, "wrong_gate")
    answer = door.upload()
    assert [status for _, status, _ in answer.answers] == ["accepted"] * 3
    assert (answer.mark.seq, answer.mark.head) == (3, door.head)
    moves = other.movements()
    assert [(move.device, move.seq, move.ticket_id) for move in moves] == [(door.number, 2, 1)]
