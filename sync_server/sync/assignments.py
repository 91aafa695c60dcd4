"""What a device is told to do, in the words of the protocol."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared import protocol
from shared.snapshot import AnyRow, EventRow, GateRow, RowKind, unpack
from sync_server.devices import queries as devices
from sync_server.devices.rules import Work
from sync_server.revisions import queries as revisions

_NOW = 2**62  # above every revision


def told(session: Session, device_id: str) -> list[protocol.Assignment]:
    """Every event at which the device works."""
    return [_told(session, each) for each in devices.assignments(session, device_id)]


def _told(session: Session, assignment: Work) -> protocol.Assignment:
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
    known = _live(session, event_number, RowKind.EVENT, event_number)
    return known.name if isinstance(known, EventRow) else ""


def _gate_code(session: Session, assignment: Work) -> str:
    if assignment.gate is None:
        return ""
    known = _live(session, assignment.event_number, RowKind.GATE, assignment.gate)
    return known.code if isinstance(known, GateRow) else ""


def _live(session: Session, event_number: int, kind: RowKind, key: int) -> AnyRow | None:
    row = revisions.row_at_revision(session, event_number, kind, key, _NOW)
    return unpack(row) if row else None
