"""Subscribes devices to changes of events."""

from __future__ import annotations

from sync_server.devices import event_handlers
from sync_server.events.dependents import DEPENDENTS_REQUESTED
from sync_server.events.relocation.moving import EVENT_MOVED
from sync_server.plumbing.parts import Parts


def wire(parts: Parts) -> None:
    parts.database.on(DEPENDENTS_REQUESTED, event_handlers.count_dependents)
    parts.database.on(EVENT_MOVED, event_handlers.reassign)
