"""A ticket that was admitted here and elsewhere more often than it allows is a clash, unless the house was emptied."""

from __future__ import annotations

from pathlib import Path

from gate_app.journal import history
from gate_app.scanning import clashes
from shared.wire.snapshot import Movement, MovementKind
from tests.gate_builders import EVENT, GATE_B, STALLS, GateAtHome, a_code, a_gate, ticket_id_of


def admitted_at_gate_b(gate: GateAtHome) -> None:
    """News of another gate, where the first guest's ticket was used just now."""
    movement = Movement(12, 1, 1, MovementKind.ENTRY, ticket_id_of(1), 1, b"", gate.hands.true, GATE_B, STALLS)
    with gate.context.database.writing() as connection:
        history.add(connection, movement, EVENT)


def new_clashes(gate: GateAtHome) -> int:
    snapshot = gate.context.roster.snapshots[EVENT]
    with gate.context.database.writing() as connection:
        return clashes.note(connection, snapshot, [ticket_id_of(1)], gate.device)


def test_one_ticket_at_two_gates_is_a_clash(tmp_path: Path) -> None:
    gate = a_gate(tmp_path)
    assert gate.scan(a_code(1))["reason"] == "admitted"
    admitted_at_gate_b(gate)
    assert (new_clashes(gate), new_clashes(gate)) == (1, 0)


def test_who_comes_back_after_the_house_was_emptied_here_is_none(tmp_path: Path) -> None:
    gate = a_gate(tmp_path)
    admitted_at_gate_b(gate)
    gate.hands.pass_ms(60_000)
    (sam,) = gate.context.roster.snapshots[EVENT].rows.supervisors.values()
    gate.context.supervisor_actions().empty_house(EVENT, sam)
    assert gate.scan(a_code(1))["reason"] == "admitted_reentry"
    assert new_clashes(gate) == 0
