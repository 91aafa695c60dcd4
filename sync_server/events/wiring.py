"""Subscribes events to changes of venues and organisations, and their summaries in Redis to facts."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.accounts.signals import OrganisationRowsChanged
from sync_server.events import queries
from sync_server.events.lifecycle import planned_transitions
from sync_server.events.overviews import summaries
from sync_server.events.service import put_rows
from sync_server.events.signals import EventChanged
from sync_server.plumbing.parts import Parts
from sync_server.venues.signals import GatesChanged


def wire(parts: Parts) -> None:
    """Republish rows when a venue's gates or an organisation's rows change; drop stale summaries."""
    parts.database.signals.on(GatesChanged, _gates_changed)
    parts.database.signals.on(OrganisationRowsChanged, _organisation_rows_changed)
    parts.database.signals.on(EventChanged, planned_transitions.on_changed)
    if parts.backends.records is not None:
        parts.subscribers.append(summaries.dropper(parts.backends.records))


def _gates_changed(session: Session, venue: GatesChanged) -> None:
    for event in queries.unarchived_events_at(session, venue.organisation_id, venue.venue_id):
        put_rows(session, event, queries.gate_rows(session, event))


def _organisation_rows_changed(session: Session, changed: OrganisationRowsChanged) -> None:
    for event in queries.unarchived_events(session, changed.organisation_id):
        put_rows(session, event, changed.rows)
