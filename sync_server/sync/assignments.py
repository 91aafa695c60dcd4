"""The assignments of a device as protocol messages."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.wire import protocol
from shared.wire.snapshot import GateRow, RowKind, unpack
from sync_server.devices import queries as devices
from sync_server.devices.rules import EventAssignment
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries as revisions

_NEWEST = 2**62  # above every revision


def of_device(session: Session, organisation_id: str, device_id: str) -> list[protocol.Assignment]:
    """The device's assignments, one for each event."""
    assigned = devices.assignments(session, organisation_id, device_id)
    return [_assignment(session, EventKey(organisation_id, each.event_id), each) for each in assigned]


def _assignment(session: Session, event: EventKey, assignment: EventAssignment) -> protocol.Assignment:
    return protocol.Assignment(
        event=assignment.event_number,
        event_id=assignment.event_id,
        name=_event_name(session, event),
        gate=assignment.gate,
        gate_code=_gate_code(session, event, assignment.gate),
        gates_allowed=list(assignment.gates_allowed),
        zones=list(assignment.zones),
        direction=assignment.direction,
        mode=assignment.mode,
    )


def _event_name(session: Session, event: EventKey) -> str:
    row = revisions.event_row(session, event)
    return row.name if row else ""


def _gate_code(session: Session, event: EventKey, gate: int | None) -> str:
    found = None if gate is None else revisions.row_at_revision(session, event, RowKind.GATE, gate, _NEWEST)
    row = unpack(found) if found else None
    return row.code if isinstance(row, GateRow) else ""
