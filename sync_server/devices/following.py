"""Lets devices follow events that move house: their gates are others there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.devices import queries, service
from sync_server.devices.models import Assignment, Device
from sync_server.events import queries as events
from sync_server.events.hanging import Hanging


def count(session: Session, asked: Hanging, _now: Millis) -> None:
    """How many devices work at an event."""
    wanted = select(func.count()).where(Assignment.event_id == asked.event_id)
    asked.uses["devices"] = session.execute(wanted).scalar_one()


def follow(session: Session, moved: Any, now: Millis) -> None:
    """Every device of the event may work at any gate of the new house; its operator picks one."""
    organisation_id, event_id, deed = moved
    gates = events.facts(session, organisation_id, event_id).gates
    here = Assignment.event_id == event_id, Device.revoked_at.is_(None)
    for device in session.scalars(select(Device).join(Assignment, Assignment.device_id == Device.id).where(*here)):
        works = [
            replace(work, gate=None, gates_allowed=gates) if work.event_id == event_id else work
            for work in queries.assignments(session, device.id)
        ]
        service.assign(session, device, works, actor=deed.actor, now=now)
