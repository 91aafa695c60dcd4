"""Subscribes tickets and keys to changes of organisations and events."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.dependents import DEPENDENTS_REQUESTED, EventDependents
from sync_server.events.series.copying import EVENT_COPIED
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import SYSTEM, ActionContext
from sync_server.revisions import service as revisions
from sync_server.tickets import queries, service
from sync_server.tickets.copying import copy_types
from sync_server.tickets.keys import issues, signing_keys


def wire(parts: Parts) -> None:
    """Register handlers, which run inside the transaction of the change."""

    def create_first_key(session: Session, row: Any, now: Millis) -> None:
        signing_keys.make_key(session, row.id, parts.sealer, ActionContext(SYSTEM, now, parts.entropy), at_once=True)

    def shift_times(session: Session, subject: Any, now: Millis) -> None:
        organisation_id, event_id, distance = subject
        service.shift_times(session, organisation_id, event_id, distance, ActionContext(SYSTEM, now, parts.entropy))

    def fix_issue_times(session: Session, subject: Any, _now: Millis) -> None:
        event_number, settled_at = subject
        issues.raise_issue_times(session, event_number, settled_at)

    parts.database.on("organisation_created", create_first_key)
    parts.database.on("revision_rises", fix_issue_times)
    parts.database.on("event_created", _publish_keys)
    parts.database.on(EVENT_COPIED, copy_types)
    parts.database.on(DEPENDENTS_REQUESTED, _count_types)
    parts.database.on("event_times_moved", shift_times)
    parts.database.on("name_checks_changed", _publish_names)


def _count_types(session: Session, dependents: EventDependents, _now: Millis) -> None:
    dependents.uses["ticket types"] = len(queries.ticket_types(session, dependents.event_id))


def _publish_keys(session: Session, subject: Any, _now: Millis) -> None:
    organisation_id, number = subject
    revisions.put(session, number, signing_keys.key_rows(session, organisation_id))


def _publish_names(session: Session, subject: Any, _now: Millis) -> None:
    event_id, name_checks = subject
    service.update_holder_names(session, event_id, name_checks=name_checks)
