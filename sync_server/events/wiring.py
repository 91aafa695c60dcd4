"""Lets events' gates hear of what changes on lower floors."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries
from sync_server.events.service import put
from sync_server.plumbing.parts import Parts
from sync_server.venues.service import USES_ASKED


def wire(parts: Parts) -> None:
    """Act when a venue's gates, or rows of a whole organisation, change; say what takes place at a venue."""
    parts.database.when("gates_changed", _gates_changed)
    parts.database.when("organisation_rows_changed", _organisation_rows_changed)
    parts.database.when(USES_ASKED, _count_events)


def _count_events(session: Session, asked: Any, _now: Millis) -> None:
    venue_id, uses = asked
    uses["events"] = queries.count_at(session, venue_id)


def _gates_changed(session: Session, venue_id: Any, _now: Millis) -> None:
    for event in queries.events_at(session, venue_id):
        put(session, event, queries.gate_rows(session, event))


def _organisation_rows_changed(session: Session, subject: Any, _now: Millis) -> None:
    organisation_id, rows = subject
    for event in queries.active_events(session, organisation_id):
        put(session, event, rows)
