"""Subscribes events to changes of venues and organisations."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries
from sync_server.events.service import put_rows
from sync_server.plumbing.parts import Parts
from sync_server.venues.service import VENUE_USES_REQUESTED


def wire(parts: Parts) -> None:
    """Republish rows when a venue's gates or an organisation's rows change; count the events of a venue."""
    parts.database.on("gates_changed", _gates_changed)
    parts.database.on("organisation_rows_changed", _organisation_rows_changed)
    parts.database.on(VENUE_USES_REQUESTED, _count_events)


def _count_events(session: Session, subject: Any, _now: Millis) -> None:
    venue_id, uses = subject
    uses["events"] = queries.count_at_venue(session, venue_id)


def _gates_changed(session: Session, venue_id: Any, _now: Millis) -> None:
    for event in queries.unarchived_events_at(session, venue_id):
        put_rows(session, event, queries.gate_rows(session, event))


def _organisation_rows_changed(session: Session, subject: Any, _now: Millis) -> None:
    organisation_id, rows = subject
    for event in queries.unarchived_events(session, organisation_id):
        put_rows(session, event, rows)
