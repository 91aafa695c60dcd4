"""An admin takes the word of a shut-out device for what it wrote late."""

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
    """Let what waits count from now on; how many entries. Raises Conflict where nothing waits."""
    device = devices.get(session, organisation_id, device_id)
    freed = revoked.release_late(session, device.number)
    if not freed:
        raise Conflict("Nothing of this device is waiting to be accepted.", code="nothing_quarantined")
    line = audit.AuditLine(
        actor=actor,
        action="device.late_entries_accepted",
        subject_kind="device",
        subject_id=device.id,
        organisation_id=organisation_id,
        at=now,
        after={"entries": len(freed)},
        reason=note,
    )
    audit.record(session, line)
    delivery = service.Delivery(organisation_id, device.id, device.number, sealer, now)
    service.follow(session, delivery, freed, set())
    return len(freed)
