"""What needs a decision of the organiser, the most urgent first, each with the one place where it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from flask import url_for
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.admin.page import may
from sync_server.checkout import sales_figures
from sync_server.devices import queries as devices
from sync_server.devices import standing
from sync_server.devices.queries import DeviceView
from sync_server.devices.rules import DeviceState, is_silent
from sync_server.events import queries as events
from sync_server.events.queries import EventFilter
from sync_server.monitoring import queries as monitoring
from sync_server.monitoring.rules import AlertKind
from sync_server.plumbing.requests.principals import Action
from sync_server.scans import queries as scans

SOON_MS: Final = 24 * 3_600_000
MOST_EVENTS: Final = 20
_STEP: Final = {
    AlertKind.LIVE_PAST_END: "ended",
    AlertKind.NOT_OPEN_PAST_START: "live",
    AlertKind.DOORS_NOT_PLANNED: "live",
}
"""The alerts that one step of an event's life settles."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing to decide: its words by key and values, and where."""

    key: str
    url: str
    bad: bool = False
    values: dict[str, Any] = field(default_factory=dict)


def decisions(session: Session, organisation_id: str, now: Millis) -> list[Decision]:
    """All of them, the most urgent first."""
    views = devices.views(session, organisation_id)
    soon = _soon(session, organisation_id, now)
    found = [
        *_conflicts(session, organisation_id),
        *_alerts(session, organisation_id, now),
        *_silent(views, soon, now),
        *_without_devices(views, soon),
        *_without_gate(session, organisation_id, views),
        *_money(session, organisation_id, now),
    ]
    return sorted(found, key=lambda decision: not decision.bad)


def _soon(session: Session, organisation_id: str, now: Millis) -> Sequence[events.Event]:
    """Events that are live, or begin within a day."""
    wanted = EventFilter(statuses=("published", "live"), starts_from=now - 7 * SOON_MS, starts_before=now + SOON_MS)
    return events.events(session, organisation_id, wanted, limit=MOST_EVENTS, after=None).items


def _conflicts(session: Session, organisation_id: str) -> Iterator[Decision]:
    counts = scans.open_conflict_counts(session, organisation_id)
    names = events.names_by_id(session, organisation_id, counts.keys())
    for event_id, count in sorted(counts.items(), key=lambda each: -each[1]):
        url = url_for("admin.conflicts", event_id=event_id)
        yield Decision("conflicts", url, bad=True, values={"n": count, "event": names.get(event_id, "")})


def _alerts(session: Session, organisation_id: str, now: Millis) -> Iterator[Decision]:
    found, _ = monitoring.event_alerts_batch(session, now, organisation_id)
    for alert in found:
        step = _STEP.get(alert.kind)
        url = url_for("admin.alerts")
        if step is not None and may(Action.CHANGE_STATUS):
            url = url_for("admin.ask_to_change", event_id=alert.event_id, target=step)
        yield Decision(f"alert_{alert.kind.value}", url, bad=step is not None, values={"event": alert.event_name})


def _silent(views: Sequence[DeviceView], soon: Sequence[events.Event], now: Millis) -> Iterator[Decision]:
    live = {row.number for row in soon if row.status == "live"}
    silent = [
        view
        for view in views
        if view.state is DeviceState.ENROLLED
        and is_silent(now, view.report.last_seen_at if view.report else None)
        and any(work.event_number in live for work in view.assignments)
    ]
    if silent:
        yield Decision("silent", url_for("admin.devices"), bad=True, values={"n": len(silent)})


def _without_devices(views: Sequence[DeviceView], soon: Sequence[events.Event]) -> Iterator[Decision]:
    covered = {work.event_number for view in views if view.state is DeviceState.ENROLLED for work in view.assignments}
    for row in soon:
        if row.number not in covered:
            yield Decision("no_devices", url_for("admin.devices"), values={"event": row.name})


def _without_gate(session: Session, organisation_id: str, views: Sequence[DeviceView]) -> Iterator[Decision]:
    names = {view.device.id: view.device.name for view in views}
    for device_id in standing.without_gate(session, organisation_id, views):
        yield Decision("no_gate", url_for("admin.device", device_id=device_id), values={"device": names[device_id]})


def _money(session: Session, organisation_id: str, now: Millis) -> Iterator[Decision]:
    waiting = sales_figures.money_waiting(session, organisation_id, now)
    if not may(Action.READ_ORDERS):
        return
    if waiting.failed_payouts:
        yield Decision("payouts", url_for("admin.orders"), bad=True, values={"n": waiting.failed_payouts})
    if waiting.overdue_invoices:
        yield Decision("invoices", url_for("admin.orders", state="pending"), values={"n": waiting.overdue_invoices})
