"""Damage in the middle of a journal is found without anybody asking, and without disturbing who scans."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate_app.journal_reading import SEQ_BITS
from gate_app.patrol import AT_ONCE, REST_MS, Patrol
from gate_app.status import status
from tests.gate_builders import GateAtHome, a_code, a_gate


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    gate = a_gate(tmp_path)
    for turn in range(3 * AT_ONCE):
        gate.scan(a_code(1), reader=f"r{turn}")
    return gate


def a_patrol(gate: GateAtHome) -> Patrol:
    lodge = gate.lodge
    return Patrol(lodge.database.reading(), lodge.database.mark, lodge.time.monotonic_ms)


def walk(gate: GateAtHome, patrol: Patrol, steps: int) -> None:
    for _ in range(steps):
        patrol.step(gate.lodge.journal.head.seq)


def forget(gate: GateAtHome, seq: int) -> None:
    place = gate.lodge.journal.branch.local << SEQ_BITS | seq
    gate.lodge.database.connection.execute("DELETE FROM journal WHERE place = ?", (place,))


def test_what_the_middle_lost_is_told_by_status_and_screen(gate: GateAtHome) -> None:
    forget(gate, AT_ONCE + 7)
    patrol = a_patrol(gate)
    walk(gate, patrol, 2)
    assert status(gate.lodge.view())["damage"] == "", "it has not come so far yet"
    walk(gate, patrol, 1)
    told = status(gate.lodge.view())
    assert f"{gate.lodge.journal.branch.number}/{AT_ONCE + 7}-{AT_ONCE + 7}" in told["damage"]
    assert told["damage"] in told["warnings"]


def test_it_waits_while_somebody_scans(gate: GateAtHome) -> None:
    forget(gate, 7)
    patrol = a_patrol(gate)
    for turn in range(10):
        gate.scan(a_code(2), reader=f"busy {turn}")
        patrol.step(gate.lodge.journal.head.seq)
    assert status(gate.lodge.view())["damage"] == ""


def test_after_a_round_it_rests_and_then_looks_again(gate: GateAtHome) -> None:
    patrol = a_patrol(gate)
    walk(gate, patrol, 20)
    assert patrol.rounds == 1
    forget(gate, 7)
    walk(gate, patrol, 20)
    assert status(gate.lodge.view())["damage"] == ""
    gate.hands.pass_ms(REST_MS)
    walk(gate, patrol, 20)
    assert (patrol.rounds, "7-7" in status(gate.lodge.view())["damage"]) == (2, True)
