"""What stands in the way of putting an event away: it is not over, gates owe journals, somebody must still decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.archives.rules import OVER, Obstacle, over_since
from sync_server.devices import queries as devices
from sync_server.devices.queries import DeviceView
from sync_server.events.queries import Event
from sync_server.holds import queries as holds
from sync_server.monitoring import queries as monitoring
from sync_server.monitoring.rules import Alert
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.tables import Base
from sync_server.scans import queries as scans
from sync_server.scans.queries import EMPTY_JOURNAL, JournalState
from sync_server.seating import queries as seating


def obstacles(
    session: Session, event: Event, now: Millis, *, alerts: Sequence[Alert] | None = None
) -> Sequence[Obstacle]:
    """Everything that is not settled; `alerts` of the organisation, where the caller has them already."""
    if EventStatus(event.status) not in OVER:
        return [Obstacle("event_not_over", f"The event is {event.status}. End or cancel it first.", final=True)]
    here = monitoring.organisation_alerts(session, event.organisation_id, now) if alerts is None else alerts
    return [
        *_unfinished_work(session, event.key),
        *_journals(session, event),
        *_open_questions(session, event.key),
        *(_alert(alert) for alert in here if alert.event_id == event.id),
        *_holds(session, event.key, now),
    ]


def _unfinished_work(session: Session, event: EventKey) -> Iterator[Obstacle]:
    if seating.guests_moving(session, *event):
        yield Obstacle("guests_moving", "Its guests are being moved to other seats.", final=True)
    if _count(session, event, "ending_tickets"):
        yield Obstacle(
            "tickets_ending", "Its unpaid tickets are still being cancelled; that takes a few minutes.", final=True
        )


def _journals(session: Session, event: Event) -> Iterator[Obstacle]:
    states = scans.journal_states(session, event.organisation_id)
    over = over_since(EventStatus(event.status), event.end_at, event.cancelled_at)
    for view in devices.views_of_event(session, event.key):
        owed = _owed(view, states.get(view.device.number, EMPTY_JOURNAL), over)
        if owed:
            yield Obstacle("journal_missing", f"{view.device.name} {owed}.")


def _owed(view: DeviceView, journal: JournalState, over: Millis) -> str:
    """What a gate has not delivered, as far as the server can know."""
    unsent = 0 if view.report is None else view.report.unsent
    missing = max(journal.missing, unsent)
    if missing:
        return f"has {missing} journal entries that have not arrived"
    if view.report is not None and view.device.revoked_at is None and view.report.last_seen_at < over:
        return "has not been in touch since the event ended"
    return ""


def _open_questions(session: Session, event: EventKey) -> Iterator[Obstacle]:
    conflicts = scans.open_conflict_count(session, event)
    if conflicts:
        yield Obstacle("conflicts_open", f"{_many(conflicts, 'scan conflict')} not resolved.", conflicts)
    waiting = _count(session, event, "scan_entries", "quarantined")
    if waiting:
        yield Obstacle("entries_quarantined", f"{_many(waiting, 'journal entry')} in quarantine.", waiting)


def _alert(alert: Alert) -> Obstacle:
    return Obstacle("alert_raised", f"There is an alert: {alert.kind.value}.", alert.count)


def _holds(session: Session, event: EventKey, now: Millis) -> Iterator[Obstacle]:
    held = max(holds.held(session, *event, now).values(), default=0)
    if held:
        yield Obstacle("seats_held", f"{_many(held, 'seat or place')} still held.", held)


def _count(session: Session, event: EventKey, table: str, flag: str = "") -> int:
    rows = Base.metadata.tables[table]
    here = [rows.c.organisation_id == event.organisation_id, rows.c.event_id == event.event_id]
    return session.execute(select(func.count()).where(*here, *([rows.c[flag]] if flag else []))).scalar_one()


def _many(count: int, what: str) -> str:
    plural = {"journal entry": "journal entries", "seat or place": "seats or places"}.get(what, f"{what}s")
    return f"1 {what} is" if count == 1 else f"{count} {plural} are"
