"""Five wrong PINs lock a supervisor on this device for five minutes, and every failure is an entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate_app.supervision.pins import PinCheck
from shared.wire.snapshot import SupervisorRow
from tests.gate_builders import CHEAP, PIN, GateAtHome, a_gate

SAM, KIM = SupervisorRow(1, "Sam", CHEAP.hash(PIN)), SupervisorRow(2, "Kim", CHEAP.hash("161803"))


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path)


def ask(gate: GateAtHome, typed: str) -> PinCheck:
    return gate.context.supervisors.ask(typed, [SAM, KIM], gate.hands.true)


def test_a_pin_says_who_it_is(gate: GateAtHome) -> None:
    assert ask(gate, "161803").supervisor == KIM
    assert ask(gate, f"1:{PIN}").supervisor == SAM


def test_a_pin_of_somebody_else_does_not_fit_the_number(gate: GateAtHome) -> None:
    assert ask(gate, f"2:{PIN}").supervisor is None


@pytest.mark.parametrize("typed", ["", "000000", ":", "9:123456", "1:" + "9" * 5000, "\uff11:271828"])
def test_anything_else_is_nobody(gate: GateAtHome, typed: str) -> None:
    assert ask(gate, typed).supervisor is None


def test_the_fifth_wrong_pin_locks_that_supervisor_and_no_other(gate: GateAtHome) -> None:
    for _ in range(5):
        assert "wrong" in ask(gate, "1:000000").message
    assert "Wait five minutes" in ask(gate, f"1:{PIN}").message
    assert ask(gate, "2:161803").supervisor == KIM


def test_the_lock_survives_a_restart_and_ends_after_five_minutes(gate: GateAtHome) -> None:
    for _ in range(5):
        ask(gate, "1:000000")
    gate.crash(away_ms=60_000)
    assert ask(gate, f"1:{PIN}").supervisor is None
    gate.hands.pass_ms(240_000)
    assert ask(gate, f"1:{PIN}").supervisor == SAM


def test_the_right_pin_clears_the_wrong_ones(gate: GateAtHome) -> None:
    for _ in range(4):
        ask(gate, "1:000000")
    ask(gate, f"1:{PIN}")
    ask(gate, "1:000000")
    assert ask(gate, f"1:{PIN}").supervisor == SAM


def test_after_a_lock_the_count_begins_anew(gate: GateAtHome) -> None:
    for _ in range(5):
        ask(gate, "1:000000")
    gate.hands.pass_ms(300_000)
    ask(gate, "1:000000")
    assert ask(gate, f"1:{PIN}").supervisor == SAM


def test_a_pin_without_a_number_counts_against_everybody_it_was_tried_on(gate: GateAtHome) -> None:
    for _ in range(5):
        ask(gate, "000000")
    assert (ask(gate, f"1:{PIN}").supervisor, ask(gate, "2:161803").supervisor) == (None, None)


def test_failures_are_entries_without_what_was_typed(gate: GateAtHome) -> None:
    ask(gate, "2:000000")
    failures = [entry for entry in gate.entries() if entry.kind == "pin_failure"]
    assert [entry.details for entry in failures] == [{"supervisors": [2]}]
