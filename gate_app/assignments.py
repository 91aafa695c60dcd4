"""The events this device is assigned to, each with its gate, direction and mode."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gate_app.identity import replace_whole
from shared.errors import Forbidden, NotFound
from shared.protocol import Assignment
from shared.snapshot import GateRow


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


def gate_at(assignment: EventAssignment, gates: dict[int, GateRow], requested: str = "") -> GateRow | None:
    """The assigned gate, or the one the operator chose among those allowed. Raises NotFound or Forbidden."""
    if not requested:
        return gates.get(assignment.gate) if assignment.gate is not None else None
    gate_row = next((gate for gate in gates.values() if gate.code.casefold() == requested.casefold()), None)
    if gate_row is None:
        known = ", ".join(sorted(gate.code for gate in gates.values())) or "none"
        raise NotFound(f"There is no gate {requested} at {assignment.name}. Gates: {known}.")
    if gate_row.number != assignment.gate and gate_row.number not in assignment.gates_allowed:
        raise Forbidden(
            f"This device may not be used at gate {gate_row.code}. Ask the organiser to allow it on the device's page."
        )
    return gate_row


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
