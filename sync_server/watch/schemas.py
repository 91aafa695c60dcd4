"""Shapes of answers about alerts."""

from __future__ import annotations

from pydantic import BaseModel

from shared.clock import Millis
from sync_server.plumbing.pages import Page
from sync_server.plumbing.shapes import iso
from sync_server.watch.rules import OF_THE_PLATFORM, WORDS, Alert


class AlertView(BaseModel):
    """One thing to look at: since when, what it means, what to do."""

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
        """As people read it."""
        means, do = WORDS[alert.kind]
        return cls(
            kind=alert.kind.value,
            since=iso(alert.since),
            count=alert.count,
            event_id=alert.event_id or None,
            event_name=alert.event_name or None,
            venue_id=alert.venue_id or None,
            platform=alert.kind in OF_THE_PLATFORM,
            means=means,
            do=do,
        )


class AlertsView(BaseModel):
    """A page of what there is to look at now, the longest-standing first."""

    checked_at: str
    items: list[AlertView]
    next: str | None

    @classmethod
    def of(cls, alerts: Page[Alert], now: Millis) -> AlertsView:
        """As people read it."""
        return cls(checked_at=iso(now), items=[AlertView.of(alert) for alert in alerts.items], next=alerts.next)
