"""The events this device is assigned to, each with its gate, direction and mode."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from gate_app.installation.identity import replace_whole
from gate_app.words import listed, say
from shared.device_gates import standing, usable
from shared.errors import Forbidden, NotFound
from shared.wire.protocol import Assignment
from shared.wire.snapshot import GateRow


class EventAssignment(msgspec.Struct, frozen=True, array_like=True):
    """One event that this device serves, as it is stored."""

    event: int
    event_id: str
    name: str
    gate: int | None = None
    gate_code: str = ""
    gates_allowed: tuple[int, ...] = ()
    zones: tuple[int, ...] = ()
    direction: str = "entry"
    mode: str = "real"


class AssignmentStore:
    """The current assignments, in a file of their own so that they survive a damaged database."""

    def __init__(self, path: Path) -> None:
        """Reads the assignments the server sent last."""
        self._path = path
        self.by_event = {assignment.event: assignment for assignment in _load(path)}

    def assign(self, assignments: list[EventAssignment]) -> set[int]:
        """Replaces the assignments; returns the events that this device no longer serves."""
        left = set(self.by_event) - {assignment.event for assignment in assignments}
        if assignments != list(self.by_event.values()):
            replace_whole(self._path, msgspec.json.encode(assignments))
        self.by_event = {assignment.event: assignment for assignment in assignments}
        return left


def _load(path: Path) -> list[EventAssignment]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[EventAssignment])
    except (OSError, msgspec.MsgspecError):
        # Never assigned, or damaged: the next hello brings them again.
        return []


def gate_at(assignment: EventAssignment, gates: Mapping[int, GateRow], requested: str = "") -> GateRow | None:
    """The gate the operator chose, else where the device stands by itself. Raises NotFound or Forbidden."""
    if not requested and assignment.gate is not None:
        return gates.get(assignment.gate)
    if not requested:
        number = standing(None, assignment.gates_allowed, gates)
        return None if number is None else gates[number]
    gate_row = next((gate for gate in gates.values() if gate.code.casefold() == requested.casefold()), None)
    if gate_row is None:
        known = ", ".join(sorted(gate.code for gate in gates.values())) or "none"
        raise NotFound(f"There is no gate {requested} at {assignment.name}. Gates: {known}.")
    if gate_row.number not in usable(assignment.gate, assignment.gates_allowed, gates):
        raise Forbidden(
            f"This device may not be used at gate {gate_row.code}. Ask the organiser to allow it on the device's page."
        )
    return gate_row


def stands_at(
    assignment: EventAssignment, gates: Mapping[int, GateRow], chosen: str = ""
) -> tuple[GateRow | None, str]:
    """The gate that the operator chose once for all events, else where the device stands by itself.

    If it stands nowhere: None, and why and what to do about it.
    """
    wrong = ""
    try:
        if chosen:
            return gate_at(assignment, gates, chosen), ""
    except (NotFound, Forbidden) as why:
        wrong = why.message
    found = gate_at(assignment, gates)
    return found, "" if found else wrong or _choice(assignment, gates)


def _choice(assignment: EventAssignment, gates: Mapping[int, GateRow]) -> str:
    codes = [gates[number].code for number in usable(assignment.gate, assignment.gates_allowed, sorted(gates))]
    if not codes:
        return say("trouble.no_gate_at", event=assignment.name)
    return say("trouble.choose_gate", event=assignment.name, gates=listed(codes, "or"))


def assignment_of(assignment: Assignment) -> EventAssignment:
    """The server's assignment in the form it is stored in."""
    return EventAssignment(
        assignment.event,
        assignment.event_id,
        assignment.name,
        assignment.gate,
        assignment.gate_code,
        tuple(assignment.gates_allowed),
        tuple(assignment.zones),
        assignment.direction,
        assignment.mode,
    )
