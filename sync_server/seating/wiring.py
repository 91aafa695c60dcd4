"""Registers the handlers of events, and the jobs for companion seats and for imports."""

from __future__ import annotations

from sync_server.events.signals import EventCopied, EventMoved
from sync_server.plumbing.jobs import HeavyJob, Job
from sync_server.plumbing.parts import Parts
from sync_server.seating import companion_releases, event_handlers
from sync_server.seating.event_seatings import STATE_KEY, EventSeatings
from sync_server.seating.imports import queue
from sync_server.seating.imports.importing import Imports
from sync_server.seating.plans.seat_plans import SeatPlans
from sync_server.seating.search import row_shares

RELEASES_EVERY_MS = 60_000
IMPORTS_EVERY_MS = 5_000


def wire(parts: Parts) -> None:
    """Register handlers, which run inside the transactions of the lower layers, and jobs."""
    parts.database.signals.on(EventCopied, event_handlers.copy_layout)
    parts.database.signals.on(EventMoved, event_handlers.drop_layout)
    parts.database.ports.connect(SeatPlans())
    parts.local_state[STATE_KEY] = EventSeatings(parts.database, parts.metrics, row_shares.own())
    parts.jobs.append(Job("seating.companion_releases", RELEASES_EVERY_MS, companion_releases.note_releases))
    imports = Imports(parts.monotonic, parts.stop)
    parts.jobs.append(HeavyJob(queue.IMPORT, IMPORTS_EVERY_MS, imports.run, queue.any_due, lane="imports"))
    parts.jobs.append(Job("seating.forget_imports", 3_600_000, queue.delete_old))
