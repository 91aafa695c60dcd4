"""Accepts quarantined entries that a revoked device wrote after its revocation."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.audit import service as audit
from sync_server.devices import queries as devices
from sync_server.plumbing.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import revoked, service


def accept_late(
    session: Session, organisation_id: str, device_id: str, context: ActionContext, *, note: str, sealer: Sealer
) -> int:
    """Accept the device's quarantined entries; returns how many. Raises Conflict where there are none."""
    device = devices.get(session, organisation_id, device_id)
    released = revoked.release_late(session, organisation_id, device.number)
    if not released:
        raise Conflict("This device has no entries waiting to be accepted.", code="nothing_quarantined")
    action, after = "device.late_entries_accepted", {"entries": len(released)}
    line = audit.AuditLine(context, action, "device", device.id, organisation_id, after=after, reason=note)
    audit.record(session, line)
    delivery = service.Delivery(organisation_id, device.id, device.number, sealer, context.now)
    service.apply_entries(session, delivery, released, set())
    return len(released)
