"""Ends holds: converted, expired, cancelled; told to the audit log, as facts, and to whoever remembers them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.audit.service import AuditLine, record
from sync_server.holds.models import HoldRow, HoldStatus
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed

ENDED: Final = "holds_ended"
"""Announced with the holds that end in this transaction."""

FACTS: Final = {
    HoldStatus.CONVERTED: "seat_hold_converted",
    HoldStatus.EXPIRED: "seat_hold_expired",
    HoldStatus.CANCELLED: "seat_hold_released",
}
_LIVING: Final = (HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value)


def living(session: Session, ids: Collection[str]) -> list[HoldRow]:
    """Those of these holds that have not ended, locked; whoever calls has locked their seats and places before."""
    if not ids:
        return []
    wanted = select(HoldRow).where(HoldRow.id.in_(sorted(ids)), HoldRow.status.in_(_LIVING)).order_by(HoldRow.id)
    rows = session.execute(wanted.with_for_update().execution_options(populate_existing=True)).scalars()
    return list(rows)


def end(
    session: Session, event_number: int, holds: Sequence[HoldRow], status: HoldStatus, deed: Deed, *, reason: str = ""
) -> None:
    """Give these living holds their last status; their seats and places are the caller's business."""
    _close(session, holds, status, deed)
    for hold in holds:
        _tell(session, event_number, hold, deed, reason)


def end_many(session: Session, holds: Sequence[HoldRow], status: HoldStatus, deed: Deed) -> None:
    """The same without a line and a fact for each: whoever ends a whole event's holds tells of them together."""
    _close(session, holds, status, deed)


def _close(session: Session, holds: Sequence[HoldRow], status: HoldStatus, deed: Deed) -> None:
    if not holds:
        return
    for hold in holds:
        hold.status, hold.remaining_ms, hold.origin, hold.updated_at = status.value, None, None, deed.now
    session.flush()
    announce(session, ENDED, holds, deed.now)


def _tell(session: Session, event_number: int, hold: HoldRow, deed: Deed, reason: str) -> None:
    status = HoldStatus(hold.status)
    name, where, now = FACTS[status], hold.organisation_id, deed.now
    after = {"status": status.value, "event_id": hold.event_id, "seat": hold.seat, "zone": hold.zone}
    record(session, AuditLine(deed.actor, name, "hold", hold.id, where, now, None, after, reason))
    record_fact(session, Fact(name, where, now, subjects_of(hold, event_number), payload_of(hold)))


def subjects_of(hold: HoldRow, event_number: int) -> dict[str, Any]:
    """Which hold of which event a fact is about."""
    return {"hold": hold.id, "event": hold.event_id, "event_number": event_number}


def payload_of(hold: HoldRow) -> dict[str, Any]:
    """What the facts of a hold carry."""
    return {
        "kind": hold.kind,
        "seat": hold.seat,
        "zone": hold.zone,
        "quantity": hold.quantity,
        "held_until": hold.held_until,
        "bearer": f"{hold.bearer_kind}:{hold.bearer_id}",
    }
