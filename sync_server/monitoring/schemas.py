"""Responses about alerts."""

from __future__ import annotations

from pydantic import BaseModel

from shared.clock import Millis
from sync_server.monitoring.rules import ALERT_TEXTS, PLATFORM_KINDS, Alert
from sync_server.plumbing.api.pagination import Page
from sync_server.plumbing.api.schemas import iso


class AlertView(BaseModel):
    """One alert: since when, what it means, what to do."""

    kind: str
    since: str
    count: int
    event_id: str | None
    event_name: str | None
    venue_id: str | None
    platform: bool
    means: str
    do: str

    @classmethod
    def of(cls, alert: Alert) -> AlertView:
        """The response for it."""
        means, do = ALERT_TEXTS[alert.kind]
        return cls(
            kind=alert.kind.value,
            since=iso(alert.since),
            count=alert.count,
            event_id=alert.event_id or None,
            event_name=alert.event_name or None,
            venue_id=alert.venue_id or None,
            platform=alert.kind in PLATFORM_KINDS,
            means=means,
            do=do,
        )


class AlertsView(BaseModel):
    """A page of the current alerts, the oldest first."""

    checked_at: str
    items: list[AlertView]
    next: str | None

    @classmethod
    def of(cls, alerts: Page[Alert], now: Millis) -> AlertsView:
        """The response for it."""
        return cls(checked_at=iso(now), items=[AlertView.of(alert) for alert in alerts.items], next=alerts.next)
