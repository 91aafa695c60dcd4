"""Lets quarantined entries count: of a revoked device, or of an event that is brought back from its archive."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.audit import service as audit
from sync_server.devices import queries as devices
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import revoked, service
from sync_server.scans.models import Journal, ScanEntry
from sync_server.scans.rules import QuarantineReason
from sync_server.scans.storage import tickets_of


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
    service.apply_entries(session, delivery, released, tickets_of(released))
    return len(released)


def release_of_event(session: Session, event: EventKey, context: ActionContext, *, sealer: Sealer) -> int:
    """Let entries count that arrived while their event was put away; returns how many."""
    late = ScanEntry.quarantined, ScanEntry.why == QuarantineReason.EVENT_PUT_AWAY
    wanted = select(ScanEntry.device, ScanEntry.branch, ScanEntry.hash).where(event.of(ScanEntry), *late)
    waiting: dict[tuple[int, int], list[bytes]] = {}
    for device, branch, digest in session.execute(wanted):
        waiting.setdefault((device, branch), []).append(digest)
    return sum(
        _release(session, (event.organisation_id, *journal), waiting[journal], context, sealer)
        for journal in sorted(waiting)
    )


def _release(
    session: Session, named: tuple[str, int, int], hashes: list[bytes], context: ActionContext, sealer: Sealer
) -> int:
    organisation_id, device, _ = named
    journal = session.get_one(Journal, named, with_for_update=True, populate_existing=True)
    released = revoked.release(session, journal, hashes, clear=True)
    writer = devices.by_number(session, device)
    delivery = service.Delivery(organisation_id, writer.id if writer else "", device, sealer, context.now)
    service.apply_entries(session, delivery, released, tickets_of(released))
    return len(released)
