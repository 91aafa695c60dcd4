"""Damage in the middle of a journal is found in the background, without disturbing scans."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate_app.journal.reading import SEQ_BITS
from gate_app.journal.scrubber import AT_ONCE, REST_MS, JournalScrubber
from gate_app.status import status
from tests.gate_builders import GateAtHome, a_code, a_gate


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    gate = a_gate(tmp_path)
    for turn in range(3 * AT_ONCE):
        gate.scan(a_code(1), reader=f"r{turn}")
    return gate


def a_scrubber(gate: GateAtHome) -> JournalScrubber:
    context = gate.context
    return JournalScrubber(context.database.reading(), context.database.put, context.time.monotonic_ms)


def walk(gate: GateAtHome, scrubber: JournalScrubber, steps: int) -> None:
    for _ in range(steps):
        scrubber.step(gate.context.journal.head.seq)


def forget(gate: GateAtHome, seq: int) -> None:
    place = gate.context.journal.branch.local << SEQ_BITS | seq
    gate.context.database.connection.execute("DELETE FROM journal WHERE place = ?", (place,))


def test_what_the_middle_lost_is_reported_by_status_and_screen(gate: GateAtHome) -> None:
    forget(gate, AT_ONCE + 7)
    scrubber = a_scrubber(gate)
    walk(gate, scrubber, 2)
    assert status(gate.context.status_source())["damage"] == "", "it has not come so far yet"
    walk(gate, scrubber, 1)
    result = status(gate.context.status_source())
    assert f"{gate.context.journal.branch.number}/{AT_ONCE + 7}-{AT_ONCE + 7}" in result["damage"]
    assert result["damage"] in result["warnings"]


def test_it_waits_while_somebody_scans(gate: GateAtHome) -> None:
    forget(gate, 7)
    scrubber = a_scrubber(gate)
    for turn in range(10):
        gate.scan(a_code(2), reader=f"busy {turn}")
        scrubber.step(gate.context.journal.head.seq)
    assert status(gate.context.status_source())["damage"] == ""


def test_after_a_round_it_rests_and_then_looks_again(gate: GateAtHome) -> None:
    scrubber = a_scrubber(gate)
    walk(gate, scrubber, 20)
    assert scrubber.rounds == 1
    forget(gate, 7)
    walk(gate, scrubber, 20)
    assert status(gate.context.status_source())["damage"] == ""
    gate.hands.pass_ms(REST_MS)
    walk(gate, scrubber, 20)
    assert (scrubber.rounds, "7-7" in status(gate.context.status_source())["damage"]) == (2, True)
