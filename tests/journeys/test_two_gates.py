"""Two gates of one event that learn of each other's scans through the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.tickets import Entitlement
from tests.gate_builders import GateAtHome, Hands, a_code, a_gate, a_ticket_row, the_house
from tests.journeys.syncing import sync
from tests.server_in_memory import ServerInMemory


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path / "a")


def test_two_gates_admit_one_ticket_offline_and_both_learn_of_the_clash(gate: GateAtHome, tmp_path: Path) -> None:
    server = ServerInMemory(gate.hands, the_house())
    other = a_gate(tmp_path / "b", device=12, hands=gate.hands)
    assert [one.scan(a_code(1))["reason"] for one in (gate, other)] == ["admitted", "admitted"]
    sync(gate, server)
    assert sync(other, server)["conflicts"] == 1
    assert sync(gate, server)["conflicts"] == 1
    assert sync(gate, server)["conflicts"] == 1, "hearing of it again makes it no second one"


def test_entry_and_exit_at_two_gates_is_not_a_clash(tmp_path: Path) -> None:
    rows = [*the_house(0), a_ticket_row(1, entitlement=Entitlement.GA_STANDING)]
    hands = Hands()
    gate, other = a_gate(tmp_path / "a", rows, hands=hands), a_gate(tmp_path / "b", rows, device=12, hands=hands)
    server = ServerInMemory(hands, rows)
    for one, way in ((gate, "entry"), (other, "exit"), (gate, "entry")):
        hands.pass_ms(60_000)
        for teller in (gate, other, gate):
            sync(teller, server)
        assert one.scan(a_code(1), direction=way)["verdict"] == "admit"
    sync(gate, server)
    assert sync(other, server)["conflicts"] == 0
