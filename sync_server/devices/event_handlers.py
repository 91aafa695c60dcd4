"""Handles events that move to another venue: their devices are reassigned to its gates."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sync_server.devices import queries, service
from sync_server.devices.models import Assignment, Device
from sync_server.events import queries as events
from sync_server.events.signals import EventMoved


def count_assigned(session: Session, organisation_id: str, event_id: str) -> int:
    """How many devices are assigned to an event."""
    here = Assignment.organisation_id == organisation_id, Assignment.event_id == event_id
    return session.execute(select(func.count()).where(*here)).scalar_one()


def reassign(session: Session, moved: EventMoved) -> None:
    """Allow every device of the event all gates of the new venue; its operator picks one."""
    gates = events.details(session, moved.organisation_id, moved.event_id).gates
    here = Assignment.event_id == moved.event_id, Device.revoked_at.is_(None)
    for device in session.scalars(select(Device).join(Assignment, Assignment.device_id == Device.id).where(*here)):
        works = [
            replace(work, gate=None, gates_allowed=gates) if work.event_id == moved.event_id else work
            for work in queries.assignments(session, device.id)
        ]
        service.assign(session, device, works, actor=moved.context.actor, now=moved.context.now)
