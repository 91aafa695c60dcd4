"""Subscribes tickets and keys to changes of organisations and events."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.accounts.signals import OrganisationCreated
from sync_server.events.signals import (
    EventCopied,
    EventCreated,
    EventDaysChanged,
    EventStatusChanged,
    EventTimesMoved,
    NameChecksChanged,
)
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import Parts
from sync_server.revisions import service as revisions
from sync_server.revisions.signals import RevisionRises
from sync_server.tickets import service
from sync_server.tickets.event_changes import cancelled_events, changed_days
from sync_server.tickets.keys import issues, signing_keys
from sync_server.tickets.types.copying import copy_types


def wire(parts: Parts) -> None:
    """Register handlers, which run inside the transaction of the change."""

    def create_first_key(session: Session, new: OrganisationCreated) -> None:
        signing_keys.make_key(session, new.organisation_id, parts.sealer, new.context.by_system(), at_once=True)

    signals = parts.database.signals
    signals.on(OrganisationCreated, create_first_key)
    signals.on(RevisionRises, _fix_issue_times)
    signals.on(EventCreated, _publish_keys)
    signals.on(EventCopied, copy_types)
    signals.on(EventDaysChanged, changed_days.on_days_changed)
    signals.on(EventTimesMoved, _shift_times)
    signals.on(NameChecksChanged, _publish_names)
    signals.on(EventStatusChanged, cancelled_events.on_status_changed)
    parts.jobs.append(cancelled_events.job())


def _fix_issue_times(session: Session, rises: RevisionRises) -> None:
    issues.raise_issue_times(session, rises.event, rises.settled_at)


def _publish_keys(session: Session, event: EventCreated) -> None:
    key = EventKey(event.organisation_id, event.event_id)
    revisions.put(session, key, signing_keys.key_rows(session, event.organisation_id))


def _shift_times(session: Session, event: EventTimesMoved) -> None:
    service.shift_times(session, event.organisation_id, event.event_id, event.shift, event.context.by_system())


def _publish_names(session: Session, event: NameChecksChanged) -> None:
    service.update_holder_names(session, event.organisation_id, event.event_id, name_checks=event.name_checks)
