"""The data a gate holds: rows and movements, their encoding, and the digest of a state of the rows."""

from __future__ import annotations

from shared.wire.digests import EMPTY_DIGEST, digest_add, digest_remove, row_hash
from shared.wire.frames import FRAME_ROWS, MAX_FRAME_BYTES, MAX_FRAME_ROWS, from_frame, to_frame
from shared.wire.movement_frames import MAX_MOVEMENTS, movements_from_bytes, movements_to_bytes
from shared.wire.row_bodies import MAX_BODY_BYTES, pack, ticket_labels, unpack
from shared.wire.rows import (
    AnyRow,
    DeviceRow,
    EventDay,
    EventRow,
    GateRow,
    KeyRow,
    MembershipState,
    Movement,
    MovementKind,
    PolicyRow,
    Position,
    Row,
    RowKind,
    SupervisorRow,
    TicketRow,
    TicketState,
    TicketTypeRow,
    WhenUncertain,
    ZoneRow,
)

__all__ = [
    "EMPTY_DIGEST",
    "FRAME_ROWS",
    "MAX_BODY_BYTES",
    "MAX_FRAME_BYTES",
    "MAX_FRAME_ROWS",
    "MAX_MOVEMENTS",
    "AnyRow",
    "DeviceRow",
    "EventDay",
    "EventRow",
    "GateRow",
    "KeyRow",
    "MembershipState",
    "Movement",
    "MovementKind",
    "PolicyRow",
    "Position",
    "Row",
    "RowKind",
    "SupervisorRow",
    "TicketRow",
    "TicketState",
    "TicketTypeRow",
    "WhenUncertain",
    "ZoneRow",
    "digest_add",
    "digest_remove",
    "from_frame",
    "movements_from_bytes",
    "movements_to_bytes",
    "pack",
    "row_hash",
    "ticket_labels",
    "to_frame",
    "unpack",
]
