"""Reads of scans: movements for gates; counts, presence, conflicts and journals for organisers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.snapshot import Movement, MovementKind
from sync_server.scans.models import MovementRow

_COLUMNS = (
    MovementRow.arrival,
    MovementRow.device,
    MovementRow.branch,
    MovementRow.seq,
    MovementRow.kind,
    MovementRow.ticket,
    MovementRow.issue,
    MovementRow.code_hash,
    MovementRow.at,
    MovementRow.gate,
    MovementRow.zone,
    MovementRow.annuls_device,
    MovementRow.annuls_branch,
    MovementRow.annuls_seq,
)


def movements_after(session: Session, event: int, heard: int, limit: int) -> tuple[int, list[Movement]]:
    """Movements as they arrived, a gate's own ones too (a new card has lost them); and how far they go."""
    following = select(*_COLUMNS).where(MovementRow.event == event, MovementRow.arrival > heard)
    rows = session.execute(following.order_by(MovementRow.arrival).limit(limit)).all()
    return (rows[-1].arrival if rows else heard), [_movement(tuple(row)) for row in rows]


def _movement(row: tuple[Any, ...]) -> Movement:
    _, device, branch, seq, kind, ticket, issue, code_hash, at, gate, zone, *annuls = row
    taken_back = (annuls[0], annuls[1], annuls[2]) if annuls[0] is not None else None
    return Movement(
        device, branch, seq, MovementKind(kind), ticket, issue, bytes(code_hash), at, gate, zone, taken_back
    )
