"""Subscribes devices to changes of events."""

from __future__ import annotations

from sync_server.devices import event_handlers
from sync_server.events.signals import EventMoved
from sync_server.plumbing.parts import Parts


def wire(parts: Parts) -> None:
    parts.database.signals.on(EventMoved, event_handlers.reassign)
