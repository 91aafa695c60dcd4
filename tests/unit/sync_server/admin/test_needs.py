"""What a door chief is told to do: which gate needs whom, the gravest first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sync_server.admin.door.board import Bar, Board, GateNow
from sync_server.admin.door.needs import needs
from sync_server.live.event_counters import EventCounters, GateCounters

NOON = 1_783_180_800_000


def a_gate(code: str = "A", pace: float = 5, scanned: int = 50, refused: int = 0, **counted: Any) -> GateNow:
    counters = GateCounters(1, code, code, True, devices=1, heard_at=NOON)
    return GateNow(replace(counters, **counted), (Bar(NOON, 5),), pace, scanned, refused)


def a_board(*gates: GateNow, **counted: Any) -> Board:
    values: dict[str, Any] = {"version": "", "status": "live", "mark": None, "entries": 0, "exits": 0, "refused": 0}
    values |= {"inside": 50, "conflicts": 0, "devices": 1, "silent": 0, "silent_since": None, "gates": ()}
    values |= {"sold": 100, "held": 0, "capacity": 100, "inside_least": 50, "inside_most": 50}
    return Board(EventCounters(**values | counted), gates, 5, None, NOON)


@pytest.mark.parametrize(
    ("gate", "key", "bad"),
    [
        (a_gate(devices=0), "no_device", False),
        (a_gate(silent=1), "silent", True),
        (a_gate(devices=3, silent=1, silent_since=NOON), "partly_silent", False),
        (a_gate(unsent=12), "held_back", False),
        (a_gate(refused=15), "refuses", False),
    ],
)
def test_a_gate_asks_for_one_thing(gate: GateNow, key: str, bad: bool) -> None:
    assert [(need.key, need.bad, need.gate) for need in needs(a_board(gate), "UTC")] == [(key, bad, "A")]


@pytest.mark.parametrize(
    "gate", [a_gate(), a_gate(unsent=9), a_gate(refused=4, scanned=8), a_gate(open=False, silent=1)]
)
def test_a_gate_that_works_or_is_closed_asks_for_nothing(gate: GateNow) -> None:
    assert needs(a_board(gate), "UTC") == []


@pytest.mark.parametrize(
    ("counted", "key"),
    [
        ({"inside": 100, "inside_most": 100}, "full"),
        ({"inside": 96, "inside_most": 96}, "nearly_full"),
        ({"inside_most": 96}, "may_be_full"),
        ({"conflicts": 2}, "conflicts"),
    ],
)
def test_the_house_asks_too(counted: dict[str, Any], key: str) -> None:
    assert [need.key for need in needs(a_board(a_gate(), **counted), "UTC")] == [key]


def test_guests_are_sent_from_a_crowded_gate_to_an_idle_one() -> None:
    (need,) = needs(a_board(a_gate(pace=28), a_gate("D", pace=0)), "UTC")
    assert (need.gate, need.values) == ("D", {"other": "A", "pace": 28})


def test_the_gravest_comes_first_and_nothing_before_the_doors_open() -> None:
    gates = a_gate(devices=0), a_gate("B", silent=1)
    assert [need.gate for need in needs(a_board(*gates), "UTC")] == ["B", "A"]
    assert needs(a_board(*gates, status="published"), "UTC") == []
