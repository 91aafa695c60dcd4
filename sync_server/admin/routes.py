"""/admin: the organiser's pages, put together from their modules."""

from __future__ import annotations

from sync_server.admin import alerts, conflicts, devices, door, events, seats
from sync_server.admin.page import bp

__all__ = ["alerts", "bp", "conflicts", "devices", "door", "events", "seats"]
