"""Accepts quarantined entries that a revoked device wrote after its revocation."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from sync_server.audit import service as audit
from sync_server.devices import queries as devices
from sync_server.plumbing.principals import Actor
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import revoked, service


def accept_late(
    session: Session, organisation_id: str, device_id: str, *, sealer: Sealer, actor: Actor, now: Millis, note: str
) -> int:
    """Accept the device's quarantined entries; returns how many. Raises Conflict where there are none."""
    device = devices.get(session, organisation_id, device_id)
    released = revoked.release_late(session, organisation_id, device.number)
    if not released:
        raise Conflict("This device has no entries waiting to be accepted.", code="nothing_quarantined")
    line = audit.AuditLine(
        actor=actor,
        action="device.late_entries_accepted",
        subject_kind="device",
        subject_id=device.id,
        organisation_id=organisation_id,
        at=now,
        after={"entries": len(released)},
        reason=note,
    )
    audit.record(session, line)
    delivery = service.Delivery(organisation_id, device.id, device.number, sealer, now)
    service.apply_entries(session, delivery, released, set())
    return len(released)
