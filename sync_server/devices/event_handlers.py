"""Handles events that move to another venue: their devices are reassigned to its gates."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from sync_server.devices import queries, service
from sync_server.devices.models import Assignment, Device
from sync_server.events import queries as events
from sync_server.events.signals import EventMoved
from sync_server.plumbing.event_key import EventKey


def count_assigned(session: Session, organisation_id: str, event_id: str) -> int:
    """How many devices are assigned to an event."""
    here = Assignment.organisation_id == organisation_id, Assignment.event_id == event_id
    return session.execute(select(func.count()).where(*here)).scalar_one()


def reassign(session: Session, moved: EventMoved) -> None:
    """Allow every device of the event all gates of the new venue; its operator picks one."""
    gates = events.details(session, moved.organisation_id, moved.event_id).gates
    here = EventKey(moved.organisation_id, moved.event_id).of(Assignment), Device.revoked_at.is_(None)
    same = and_(Assignment.organisation_id == Device.organisation_id, Assignment.device_id == Device.id)
    for device in session.scalars(select(Device).join(Assignment, same).where(*here)):
        works = [
            replace(work, gate=None, gates_allowed=gates) if work.event_id == moved.event_id else work
            for work in queries.assignments(session, device.organisation_id, device.id)
        ]
        service.assign(session, device, works, moved.context)
