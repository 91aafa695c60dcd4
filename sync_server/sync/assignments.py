"""The assignments of a device as protocol messages."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared import protocol
from shared.snapshot import AnyRow, EventRow, GateRow, RowKind, unpack
from sync_server.devices import queries as devices
from sync_server.devices.rules import EventAssignment
from sync_server.revisions import queries as revisions

_NEWEST = 2**62  # above every revision


def of_device(session: Session, device_id: str) -> list[protocol.Assignment]:
    """The device's assignments, one for each event."""
    return [_assignment(session, each) for each in devices.assignments(session, device_id)]


def _assignment(session: Session, assignment: EventAssignment) -> protocol.Assignment:
    return protocol.Assignment(
        event=assignment.event_number,
        event_id=assignment.event_id,
        name=_event_name(session, assignment.event_number),
        gate=assignment.gate,
        gate_code=_gate_code(session, assignment),
        gates_allowed=list(assignment.gates_allowed),
        zones=list(assignment.zones),
        direction=assignment.direction,
        mode=assignment.mode,
    )


def _event_name(session: Session, event_number: int) -> str:
    row = _live(session, event_number, RowKind.EVENT, event_number)
    return row.name if isinstance(row, EventRow) else ""


def _gate_code(session: Session, assignment: EventAssignment) -> str:
    if assignment.gate is None:
        return ""
    row = _live(session, assignment.event_number, RowKind.GATE, assignment.gate)
    return row.code if isinstance(row, GateRow) else ""


def _live(session: Session, event_number: int, kind: RowKind, key: int) -> AnyRow | None:
    row = revisions.row_at_revision(session, event_number, kind, key, _NEWEST)
    return unpack(row) if row else None
