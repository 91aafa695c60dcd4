"""Acknowledges the alarm of a journal: the operator has seen to the second machine."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from sync_server.audit import service as audit
from sync_server.devices import queries as devices
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.scans.models import Journal


def acknowledge(session: Session, organisation_id: str, device_id: str, context: ActionContext, *, note: str) -> int:
    """Lower the alarms of a device; its gate is told no longer. Further entries of a second machine raise them again.

    Returns how many there were; Conflict where there was none.
    """
    device, text = devices.get(session, organisation_id, device_id), note.strip()
    if not text:
        raise InvalidRequest("Say in a note what was done about the second machine.", field="note")
    mine = Journal.organisation_id == organisation_id, Journal.device == device.number, Journal.alarm != ""
    journals = session.scalars(select(Journal).where(*mine).order_by(Journal.branch).with_for_update()).all()
    if not journals:
        raise Conflict("This device has no alarm.", code="no_alarm")
    before = {"alarms": [journal.alarm for journal in journals]}
    for journal in journals:
        journal.alarm, journal.alarm_at = "", None
    action, after = "device.alarm_acknowledged", {"alarms": list[str]()}
    audit.record(session, audit.AuditLine(context, action, "device", device.id, organisation_id, before, after, text))
    session.flush()
    return len(journals)
