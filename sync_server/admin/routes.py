"""/admin: registers the admin pages of all modules."""

from __future__ import annotations

from sync_server.admin import alerts, conflicts, devices, events, one_time_links, seats, sessions
from sync_server.admin.page import bp

__all__ = ["alerts", "bp", "conflicts", "devices", "events", "one_time_links", "seats", "sessions"]
