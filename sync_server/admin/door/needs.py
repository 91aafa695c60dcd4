"""Which gate needs somebody now, and whom: what a door chief would ask for over the radio, the gravest first. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from sync_server.admin import display
from sync_server.admin.door.board import Board, GateNow

MANY_REFUSED: Final = 5
SHARE_REFUSED: Final = 0.2
"""From so many refusals on, of all that were scanned, guests queue behind those who are turned away."""
CROWDED: Final = 15.0
"""From so many people a minute on there is a queue, and a gate without guests could take some of it."""
HELD_BACK: Final = 10
NEARLY_FULL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that somebody must do at a gate, or at the whole venue: its words by key and values."""

    key: str
    gate: str = ""
    bad: bool = False
    values: dict[str, Any] = field(default_factory=dict)


def needs(board: Board, timezone: str) -> list[Need]:
    """All of them, the gravest first; times by the clocks of the venue."""
    if board.counters.status != "live":
        return []
    found = [*_capacity(board), *(need for gate in board.gates for need in _gate(gate, timezone)), *_idle(board)]
    return sorted(found, key=lambda need: not need.bad)


def _capacity(board: Board) -> Iterator[Need]:
    counters = board.counters
    if counters.capacity and counters.inside >= counters.capacity:
        yield Need("full", bad=True, values={"inside": counters.inside, "capacity": counters.capacity})
    elif counters.capacity and counters.inside >= NEARLY_FULL * counters.capacity:
        yield Need("nearly_full", values={"left": board.room_left})
    elif counters.capacity and counters.inside_most >= NEARLY_FULL * counters.capacity:
        yield Need("may_be_full", values={"most": counters.inside_most, "capacity": counters.capacity})
    if counters.conflicts:
        yield Need("conflicts", bad=True, values={"n": counters.conflicts})


def _gate(gate: GateNow, timezone: str) -> Iterator[Need]:
    counted = gate.counted
    alone = counted.silent == counted.devices
    since = display.hour(counted.heard_at if alone else counted.silent_since, timezone)
    if not counted.open:
        return
    if not counted.devices:
        yield Need("no_device", counted.code)
    elif alone:
        yield Need("silent", counted.code, bad=True, values={"time": since})
    elif counted.silent:
        values = {"n": counted.silent, "all": counted.devices, "time": since}
        yield Need("partly_silent", counted.code, values=values)
    elif counted.unsent >= HELD_BACK:
        yield Need("held_back", counted.code, values={"n": counted.unsent})
    if gate.refused >= MANY_REFUSED and gate.refused > SHARE_REFUSED * gate.scanned:
        yield Need("refuses", counted.code, values={"refused": gate.refused, "scanned": gate.scanned})


def _idle(board: Board) -> Iterator[Need]:
    """A gate that lets nobody in while another is crowded."""
    working = [gate for gate in board.gates if gate.counted.open and gate.counted.devices > gate.counted.silent]
    crowded = max(working, key=lambda gate: gate.pace, default=None)
    if crowded is None or crowded.pace < CROWDED:
        return
    for gate in working:
        if not gate.pace:
            yield Need("idle", gate.counted.code, values={"other": crowded.counted.code, "pace": round(crowded.pace)})
