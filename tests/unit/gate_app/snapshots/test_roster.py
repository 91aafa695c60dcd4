"""Snapshots are replaced and changed atomically; invalid tickets stay invalid when the server is restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import Unreadable
from shared.wire.snapshot import Position, Row, RowKind, TicketState, digest_add, digest_remove, pack
from tests.gate_builders import EVENT, GateAtHome, a_code, a_gate, a_ticket_row, give_rows, the_house, ticket_id_of


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path)


def replaced(gate: GateAtHome, new: Row) -> Position:
    """The position after one row is changed."""
    position = gate.context.roster.snapshots[EVENT].position
    before = pack(a_ticket_row(1))
    digest = digest_add(digest_remove(position.digest, before), new)
    return Position(position.lineage, position.revision + 1, digest)


def test_a_change_and_its_position_come_together(gate: GateAtHome) -> None:
    new = pack(a_ticket_row(1, state=TicketState.BLOCKED))
    after = replaced(gate, new)
    assert gate.context.roster.apply(EVENT, [new], after, gate.hands.true)
    snapshot = gate.context.roster.snapshots[EVENT]
    assert (snapshot.position, snapshot.ticket(ticket_id_of(1)).state) == (after, TicketState.BLOCKED)  # type: ignore[union-attr]
    gate.crash()
    assert gate.context.roster.snapshots[EVENT].position == after


def test_changes_whose_digest_does_not_match_change_nothing(gate: GateAtHome) -> None:
    snapshot = gate.context.roster.snapshots[EVENT]
    before = snapshot.position
    new = pack(a_ticket_row(1, state=TicketState.BLOCKED))
    wrong = Position(before.lineage, before.revision + 1, bytes(16))
    assert not gate.context.roster.apply(EVENT, [new], wrong, gate.hands.true)
    assert (snapshot.position, gate.scan(a_code(1))["reason"]) == (before, "admitted")


def test_a_snapshot_whose_digest_does_not_match_is_not_used(gate: GateAtHome) -> None:
    roster = gate.context.roster
    builder = roster.builder(EVENT)
    builder.add([pack(row) for row in the_house(2)])
    with pytest.raises(Unreadable, match="does not match the server"):
        roster.install(EVENT, builder, Position(b"lineage1", 9, bytes(16)), 0)
    assert roster.snapshots[EVENT].tickets_held() == 5


def test_a_new_snapshot_takes_the_place_of_the_old_file(gate: GateAtHome) -> None:
    give_rows(gate, the_house(8), revision=2)
    assert gate.context.roster.snapshots[EVENT].tickets_held() == 8
    assert len(list((gate.folder / "snapshots").glob("*.rows"))) == 1
    assert gate.crash().roster.snapshots[EVENT].tickets_held() == 8


def test_a_unfinished_file_of_a_killed_process_is_deleted(gate: GateAtHome) -> None:
    gate.context.roster.builder(EVENT).add([pack(row) for row in the_house(3)])
    gate.crash()
    assert not list((gate.folder / "snapshots").glob("*.part*"))
    assert gate.scan(a_code(5))["reason"] == "admitted"


def test_a_snapshot_file_that_is_damaged_is_reported_and_fetched_again(gate: GateAtHome) -> None:
    path = gate.context.roster.snapshots[EVENT].file.path
    gate.context.close()
    for one in path.parent.glob(path.name + "*"):
        one.unlink()
    path.write_bytes(b"not a database, whatever its name says" * 40)
    context = gate.switch_on()
    assert "fetched again" in context.problems[0]
    assert gate.scan(a_code(1))["reason"] == "gate_not_ready"


def test_tickets_are_found_by_number_and_by_confirmation_code(gate: GateAtHome) -> None:
    snapshot = gate.context.roster.snapshots[EVENT]
    assert [row.number for row in snapshot.find("night-000004")] == ["NIGHT-000004"]
    assert [row.number for row in snapshot.find("CODE0004")] == ["NIGHT-000004"]
    assert snapshot.find("%") == []


def test_ids_that_use_all_64_bits_are_found(tmp_path: Path) -> None:
    high = (1 << 64) - 5
    gate = a_gate(tmp_path, [*the_house(0), a_ticket_row(1, ticket_id=high)])
    assert gate.scan(a_code(1, ticket_id=high))["reason"] == "admitted"
    gate.hands.pass_ms(60_000)
    assert gate.scan(a_code(1, ticket_id=high))["reason"] == "already_used"


def test_cancelled_before_the_server_was_restored_stays_cancelled(gate: GateAtHome) -> None:
    cancelled = a_ticket_row(1, state=TicketState.CANCELLED)
    give_rows(gate, [*the_house(0), cancelled, *(a_ticket_row(n) for n in (2, 3))], revision=5)
    give_rows(gate, the_house(3), lineage=b"lineage2")
    assert gate.scan(a_code(1))["reason"] == "ticket_cancelled"
    assert gate.scan(a_code(2))["reason"] == "admitted"
    gate.crash()
    assert gate.scan(a_code(1))["reason"] == "ticket_cancelled"


def test_replaced_before_the_server_was_restored_stays_replaced(gate: GateAtHome) -> None:
    give_rows(gate, [*the_house(0), a_ticket_row(1, issue=3)], revision=5)
    give_rows(gate, the_house(3), lineage=b"lineage2")
    assert gate.scan(a_code(1))["reason"] == "ticket_replaced"


def test_the_restored_server_lifts_it_by_mentioning_the_ticket(gate: GateAtHome) -> None:
    give_rows(gate, [*the_house(0), a_ticket_row(1, state=TicketState.CANCELLED)], revision=5)
    give_rows(gate, the_house(3), lineage=b"lineage2")
    new = pack(a_ticket_row(1, notes="paid again"))
    assert gate.context.roster.apply(EVENT, [new], replaced(gate, new), gate.hands.true)
    assert gate.scan(a_code(1))["reason"] == "admitted"


def test_another_snapshot_of_the_same_lineage_lifts_nothing(gate: GateAtHome) -> None:
    give_rows(gate, [*the_house(0), a_ticket_row(1, state=TicketState.CANCELLED)], revision=5)
    give_rows(gate, the_house(3), lineage=b"lineage2")
    give_rows(gate, the_house(3), lineage=b"lineage2", revision=2)
    assert gate.scan(a_code(1))["reason"] == "ticket_cancelled"


def test_within_one_lineage_the_latest_snapshot_is_right(gate: GateAtHome) -> None:
    give_rows(gate, [*the_house(0), a_ticket_row(1, state=TicketState.CANCELLED)], revision=5)
    give_rows(gate, the_house(3), revision=6)
    assert gate.scan(a_code(1))["reason"] == "admitted"


def test_a_kind_of_row_that_this_program_does_not_know_is_kept(gate: GateAtHome) -> None:
    snapshot = gate.context.roster.snapshots[EVENT]
    strange = Row(42, 1, b"\x91\x01")  # type: ignore[arg-type]
    after = Position(snapshot.position.lineage, 2, digest_add(snapshot.position.digest, strange))
    assert gate.context.roster.apply(EVENT, [strange], after, gate.hands.true)
    assert gate.scan(a_code(1))["reason"] == "admitted"
    assert strange.kind != RowKind.TICKET


def test_rows_that_become_unreadable_are_dropped_and_reported(gate: GateAtHome) -> None:
    connection = gate.context.roster.snapshots[EVENT].file.connection
    connection.execute("UPDATE tickets SET body = x'c1' WHERE number = 'NIGHT-000002'")
    assert gate.scan(a_code(1))["reason"] == "admitted"
    assert gate.scan(a_code(2))["reason"] == "gate_not_ready"
    assert "fetched again" in gate.context.problems[-1]
    assert gate.context.roster.snapshots == {}
