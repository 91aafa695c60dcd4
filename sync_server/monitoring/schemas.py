"""Responses about alerts."""

from __future__ import annotations

from pydantic import BaseModel

from sync_server.events.rules import Mark
from sync_server.monitoring.rules import ALERT_TEXTS, PLATFORM_KINDS, Alert
from sync_server.plumbing.api.schemas import IsoTime, View


class AlertView(View):
    """One alert: since when, what it means, what to do."""

    kind: str
    since: IsoTime
    count: int
    event_id: str | None
    event_name: str | None
    mark: Mark | None
    venue_id: str | None
    platform: bool
    means: str
    do: str


def alert_view(alert: Alert) -> AlertView:
    """An alert with its texts."""
    means, do = ALERT_TEXTS[alert.kind]
    named = {name: getattr(alert, name) or None for name in ("event_id", "event_name", "venue_id")}
    return AlertView.of(alert, **named, platform=alert.kind in PLATFORM_KINDS, means=means, do=do)


class AlertsView(BaseModel):
    """A page of the current alerts, the oldest first."""

    checked_at: IsoTime
    items: list[AlertView]
    next: str | None
