"""/admin: the organiser's pages, put together from their modules."""

from __future__ import annotations

from sync_server.admin import conflicts, devices, door, events
from sync_server.admin.page import bp

__all__ = ["bp", "conflicts", "devices", "door", "events"]
