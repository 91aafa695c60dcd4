"""Handlers of event changes: devices of an event that moves to another venue are reassigned to its gates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.devices import queries, service
from sync_server.devices.models import Assignment, Device
from sync_server.events import queries as events
from sync_server.events.dependents import EventDependents


def count_dependents(session: Session, dependents: EventDependents, _now: Millis) -> None:
    """Report how many devices are assigned to an event."""
    wanted = select(func.count()).where(Assignment.event_id == dependents.event_id)
    dependents.uses["devices"] = session.execute(wanted).scalar_one()


def reassign(session: Session, moved: Any, now: Millis) -> None:
    """Allow every device of the event all gates of the new venue; its operator picks one."""
    organisation_id, event_id, context = moved
    gates = events.details(session, organisation_id, event_id).gates
    here = Assignment.event_id == event_id, Device.revoked_at.is_(None)
    for device in session.scalars(select(Device).join(Assignment, Assignment.device_id == Device.id).where(*here)):
        works = [
            replace(work, gate=None, gates_allowed=gates) if work.event_id == event_id else work
            for work in queries.assignments(session, device.id)
        ]
        service.assign(session, device, works, actor=context.actor, now=now)
