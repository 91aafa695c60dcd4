"""A supervisor has counted the people inside: the count is corrected, kept and still right after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate_app.status import status
from gate_app.supervision.screens import OWNER
from shared.errors import Forbidden, InvalidRequest, NotFound
from tests.gate_builders import EVENT, FLOOR, HOUR, PIN, GateAtHome, a_code, a_gate, give_rows
from tests.unit.gate_app.scanning.test_gate import a_standing_house


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    made = a_gate(tmp_path)
    give_rows(made, a_standing_house(8, 5))
    return made


def correct(gate: GateAtHome, change: object, **fields: Any) -> dict[str, Any]:
    given = {"change": change, "reason": "counted at the doors", "pin": PIN} | fields
    return gate.context.desk(gate.lamp).perform("correct", given, OWNER)


def inside(gate: GateAtHome) -> int:
    return int(status(gate.context.status_source())["inside"])


def test_the_count_is_corrected_and_stands_in_the_journal(gate: GateAtHome) -> None:
    gate.scan(a_code(1))
    answer = correct(gate, 12)
    assert "corrected by +12 by Sam: 13 inside" in answer["message"]
    entry = gate.entries()[-1]
    assert (entry.kind, entry.override_by, entry.override_reason) == ("count_correction", 1, "counted at the doors")
    assert (entry.event, entry.details) == (EVENT, {"change": 12})
    assert inside(gate) == 13
    gate.crash(reboot=True)
    assert inside(gate) == 13
    assert gate.context.journal.verify().ok


def test_places_that_are_taken_are_not_given_away(gate: GateAtHome) -> None:
    assert inside(gate) == 0
    # Offline, this gate of two may fill half of the eight places.
    correct(gate, 3, zone=FLOOR)
    assert gate.scan(a_code(1))["reason"] == "admitted"
    assert gate.scan(a_code(2))["reason"] == "zone_full"
    correct(gate, -3, zone=FLOOR)
    gate.hands.pass_ms(60_000)
    assert gate.scan(a_code(2))["reason"] == "admitted"


def test_it_ends_when_the_house_is_emptied_and_with_the_day(gate: GateAtHome) -> None:
    correct(gate, 5)
    gate.hands.pass_ms(1_000)
    gate.context.desk(gate.lamp).perform("empty-house", {"pin": PIN}, OWNER)
    assert inside(gate) == 0
    gate.hands.pass_ms(1_000)
    correct(gate, 4)
    assert inside(gate) == 4
    gate.hands.pass_ms(24 * HOUR)
    assert inside(gate) == 0


def test_fewer_than_nobody_is_nobody_and_that_is_said(gate: GateAtHome) -> None:
    """An exit without a network takes away guests whom it never saw come in; so does a slip of the finger."""
    gate.scan(a_code(1))
    assert "-1 by Sam: 0 inside." in correct(gate, -1)["message"]
    said = correct(gate, -7)["message"]
    assert (inside(gate), "the next 7 who come in" in said, "correct it by +7" in said) == (0, True, True)
    assert "the next 5 who" in correct(gate, 2)["message"]
    assert "+5 by Sam: 0 inside." in correct(gate, 5)["message"]
    correct(gate, 1)
    assert inside(gate) == 1


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"change": 0}, InvalidRequest),
        ({"change": "12"}, InvalidRequest),
        ({"change": True}, InvalidRequest),
        ({"change": 100_001}, InvalidRequest),
        ({"change": 1, "reason": " "}, InvalidRequest),
        ({"change": 1, "zone": 99}, NotFound),
        ({"change": 1, "pin": "000000"}, Forbidden),
    ],
)
def test_what_cannot_be_meant_changes_nothing(gate: GateAtHome, fields: dict[str, Any], why: type[Exception]) -> None:
    with pytest.raises(why):
        correct(gate, **fields)
    assert inside(gate) == 0
