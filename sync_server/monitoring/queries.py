"""The current alerts: of one organisation, or of the whole installation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import NIL_ID
from shared.lifecycle import EventStatus
from sync_server.audit import queries as audit
from sync_server.checkout.payments import disputes
from sync_server.events.overviews.active_events import active_event_labels
from sync_server.events.overviews.alert_candidates import find_alert_candidates
from sync_server.events.rules import AlertCandidate
from sync_server.holds.queries import count_held
from sync_server.monitoring import rules
from sync_server.monitoring.models import CheckRow, FigureRow, FindingRow
from sync_server.monitoring.rules import PLATFORM_KINDS, Alert, AlertKind
from sync_server.outbox import queries as outbox
from sync_server.outbox.rules import State
from sync_server.plumbing.api.pagination import Page, decode_cursor, paginate
from sync_server.plumbing.event_key import EventKey
from sync_server.tickets.ticket_counts import active_ticket_counts
from sync_server.webhooks import queries as webhooks


def organisation_alerts(session: Session, organisation_id: str, now: Millis) -> list[Alert]:
    """The alerts of an organisation, the oldest first."""
    found = [
        *_of_events(session, now, organisation_id),
        *seating_alerts(session, organisation_id),
        *webhook_alerts(session, organisation_id),
        *dispute_alerts(session, organisation_id),
    ]
    return sorted(found, key=_order)


def all_alerts(session: Session, now: Millis) -> list[Alert]:
    """All alerts of the installation."""
    return [*_of_events(session, now), *standing_alerts(session), *platform_alerts(session, now)]


def alert_page(found: Sequence[Alert], limit: int, after: str | None) -> Page[Alert]:
    """A page of these alerts: those of the platform first, then the oldest."""
    last = decode_cursor(after, int, int, str, str)
    return paginate(
        [alert for alert in sorted(found, key=_order) if last is None or _order(alert) > last], limit, _order
    )


def _order(alert: Alert) -> tuple[int, Millis, str, str]:
    return int(alert.kind not in PLATFORM_KINDS), alert.since, alert.kind.value, alert.event_id


def _of_events(session: Session, now: Millis, organisation_id: str | None = None) -> Iterator[Alert]:
    last: str | None = NIL_ID
    while last is not None:
        found, last = event_alerts_batch(session, now, organisation_id, after=last)
        yield from found


def event_alerts_batch(
    session: Session, now: Millis, organisation_id: str | None = None, *, after: str = NIL_ID
) -> tuple[Sequence[Alert], str | None]:
    """The alerts of some hundred events, and the key of the next batch; None after the last.

    Contradictory times are reported to their organisation only, because finding them takes a read of every row.
    """
    found, last = find_alert_candidates(session, now, organisation_id, after=after, times=organisation_id is not None)
    return list(_of_suspects(session, found, now)), last


def times_in_wrong_order(session: Session, now: Millis, after: str = NIL_ID) -> tuple[int, str | None]:
    """How many events of a batch have contradictory times, and the key of the next batch."""
    found, last = find_alert_candidates(session, now, after=after, times=True)
    return sum(not one.times_fit for one in found), last


def seating_alerts(session: Session, organisation_id: str | None = None) -> list[Alert]:
    """Events with seating figures out of bounds, by the latest check."""
    first, count = func.min(FigureRow.since).label("since"), func.count().label("n")
    wanted = select(FigureRow.organisation_id, FigureRow.event_id, first, count)
    if organisation_id is not None:
        wanted = wanted.where(FigureRow.organisation_id == organisation_id)
    rows = session.execute(wanted.group_by(FigureRow.organisation_id, FigureRow.event_id)).all()
    named = active_event_labels(session, [EventKey(row.organisation_id, row.event_id) for row in rows])
    return [
        Alert(AlertKind.SEATING_OUT_OF_BOUNDS, row.since, row.n, row.organisation_id, *named[row.event_id])
        for row in rows
        if row.event_id in named
    ]


def webhook_alerts(session: Session, organisation_id: str | None = None) -> list[Alert]:
    """Organisations with webhooks that the server has paused."""
    return [
        Alert(AlertKind.WEBHOOK_PAUSED, since, count, owner)
        for owner, count, since in webhooks.paused_by_themselves(session, organisation_id)
    ]


def dispute_alerts(session: Session, organisation_id: str | None = None) -> list[Alert]:
    """Organisations whose buyers dispute payments."""
    found = disputes.count_open(session, organisation_id)
    return [Alert(AlertKind.PAYMENTS_DISPUTED, since, count, owner) for owner, count, since in found]


def standing_alerts(session: Session) -> list[Alert]:
    """The alerts of all organisations that need no look at their events."""
    return [*seating_alerts(session), *webhook_alerts(session), *dispute_alerts(session)]


def _of_suspects(session: Session, found: Sequence[AlertCandidate], now: Millis) -> Iterator[Alert]:
    called_off = [EventKey(one.organisation_id, one.id) for one in found if one.called_off]
    tickets, holds = active_ticket_counts(session, called_off), count_held(session, called_off, now)
    for one in found:
        counted = replace(one, tickets=tickets.get(one.id, 0), holds=holds.get(one.id, 0))
        if one.status is EventStatus.POSTPONED and (counted.tickets or counted.holds):
            counted = replace(counted, called_off_at=_postponed_at(session, one))
        yield from rules.event_alerts(counted, now)


def _postponed_at(session: Session, one: AlertCandidate) -> Millis | None:
    """Only the audit log has it."""
    wanted = audit.AuditFilter(subject_kind="event", subject_id=one.id, action="event_postponed")
    lines = audit.lines(session, one.organisation_id, wanted, limit=1, after=None).items
    return lines[0].row.at if lines else None


def platform_alerts(session: Session, now: Millis) -> list[Alert]:
    """The alerts for the operators of the installation."""
    waiting, dead = outbox.pending_count(session), outbox.dead_count(session)
    alerts = []
    if waiting > rules.MAX_FACTS_WAITING:
        alerts.append(Alert(AlertKind.FACTS_WAITING, _first(session, State.WAITING, now), waiting))
    if dead:
        alerts.append(Alert(AlertKind.FACTS_DEAD, _first(session, State.DEAD, now), dead))
    mismatches, since = session.execute(select(func.count(), func.min(FindingRow.found_at))).one()
    if mismatches:
        alerts.append(Alert(AlertKind.TENANT_MISMATCHES, since, mismatches))
    sums = session.get(CheckRow, "sums")
    if sums is not None and sums.findings:
        alerts.append(Alert(AlertKind.SUMS_DIFFER, sums.ran_at, sums.findings))
    return alerts


def _first(session: Session, state: State, now: Millis) -> Millis:
    rows = outbox.list_facts(session, state, limit=1)
    return rows[0].row.created_at if rows else now


def findings(session: Session) -> Sequence[FindingRow]:
    """What the nightly check has found and is not resolved yet."""
    wanted = select(FindingRow).order_by(FindingRow.found_at, FindingRow.place, FindingRow.row)
    return session.execute(wanted).scalars().all()


def last_check(session: Session, name: str) -> CheckRow | None:
    """When a check last ran, and what it found; None: never."""
    return session.get(CheckRow, name)


def out_of_bounds(session: Session) -> dict[str, int]:
    """For how many events each figure is out of bounds, by the latest check."""
    counted = select(FigureRow.name, func.count()).group_by(FigureRow.name)
    return {row[0]: row[1] for row in session.execute(counted)}
