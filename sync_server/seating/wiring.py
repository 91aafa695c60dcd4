"""Registers the handlers for venues and events, and the job for companion seats."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.dependents import DEPENDENTS_REQUESTED
from sync_server.events.relocation.moving import EVENT_MOVED
from sync_server.events.series.copying import EVENT_COPIED
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts
from sync_server.seating import companion_releases, event_handlers
from sync_server.venues.service import LAYOUT_CAPACITIES_REQUESTED, VENUE_USES_REQUESTED

RELEASES_EVERY_MS = 60_000


def wire(parts: Parts) -> None:
    """Register handlers, which run inside the transactions of the lower layers, and jobs."""
    parts.database.on(VENUE_USES_REQUESTED, _count_layouts)
    parts.database.on(LAYOUT_CAPACITIES_REQUESTED, _add_layout_capacities)
    parts.database.on(DEPENDENTS_REQUESTED, event_handlers.count_uses)
    parts.database.on(EVENT_COPIED, event_handlers.copy_layout)
    parts.database.on(EVENT_MOVED, _drop_layout)
    parts.jobs.append(Job("seating.companion_releases", RELEASES_EVERY_MS, companion_releases.note_releases))


def _count_layouts(session: Session, query: Any, _now: Millis) -> None:
    venue_id, uses = query
    uses["layouts"] = event_handlers.count_layouts(session, venue_id)


def _add_layout_capacities(session: Session, query: Any, _now: Millis) -> None:
    venue_id, capacities = query
    capacities |= event_handlers.planned_capacity(session, venue_id)


def _drop_layout(session: Session, moved: Any, _now: Millis) -> None:
    organisation_id, event_id, context = moved
    event_handlers.drop_layout(session, organisation_id, event_id, context)
