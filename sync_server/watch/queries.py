"""Gathers what is the matter now: of one organisation, or of the whole house."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.audit import queries as audit
from sync_server.events.going_on import going_on_named
from sync_server.events.watching import Suspect, some_suspects
from sync_server.holds.watching import living
from sync_server.outbox import queries as outbox
from sync_server.outbox.rules import State
from sync_server.plumbing.pages import Page, cut, position
from sync_server.tickets.watching import active
from sync_server.watch import rules
from sync_server.watch.models import CheckRow, FigureRow, FindingRow
from sync_server.watch.rules import OF_THE_PLATFORM, Alert, EventState, Kind

CALLED_OFF = (EventStatus.CANCELLED, EventStatus.POSTPONED)


def of_organisation(session: Session, organisation_id: str, now: Millis) -> list[Alert]:
    """What an organisation must look at, the longest-standing first."""
    found = [*_of_events(session, now, organisation_id), *of_houses(session, organisation_id)]
    return sorted(found, key=_order)


def of_all(session: Session, now: Millis) -> list[Alert]:
    """What there is to look at in the whole installation."""
    return [*_of_events(session, now), *of_houses(session), *of_platform(session, now)]


def page(found: Sequence[Alert], limit: int, after: str | None) -> Page[Alert]:
    """A stretch of what was found: the platform's own first, then the longest-standing."""
    where = position(after, int, int, str, str)
    return cut([one for one in sorted(found, key=_order) if where is None or _order(one) > where], limit, _order)


def _order(alert: Alert) -> tuple[int, Millis, str, str]:
    return int(alert.kind not in OF_THE_PLATFORM), alert.since, alert.kind.value, alert.event_id


def _of_events(session: Session, now: Millis, organisation_id: str | None = None) -> Iterator[Alert]:
    last: str | None = ""
    while last is not None:
        found, last = some_of_events(session, now, organisation_id, after=last)
        yield from found


def some_of_events(
    session: Session, now: Millis, organisation_id: str | None = None, *, after: str = ""
) -> tuple[Sequence[Alert], str | None]:
    """What is the matter with some hundred events, and where the next turn begins; None: these were the last.

    Planned times that contradict each other are told to their organisation only: they are looked for in every row.
    """
    found, last = some_suspects(session, now, organisation_id, after=after, times=organisation_id is not None)
    return list(_of_suspects(session, found, now)), last


def times_in_wrong_order(session: Session, now: Millis, after: str = "") -> tuple[int, str | None]:
    """How many events of a turn have planned times that contradict each other, and where the next turn begins."""
    found, last = some_suspects(session, now, after=after, times=True)
    return sum(not one.times_fit for one in found), last


def of_houses(session: Session, organisation_id: str | None = None) -> list[Alert]:
    """Events whose houses have figures out of bounds, as the last round found them."""
    first, count = func.min(FigureRow.since).label("since"), func.count().label("n")
    wanted = select(FigureRow.organisation_id, FigureRow.event_id, first, count)
    if organisation_id is not None:
        wanted = wanted.where(FigureRow.organisation_id == organisation_id)
    rows = session.execute(wanted.group_by(FigureRow.organisation_id, FigureRow.event_id)).all()
    named = going_on_named(session, [row.event_id for row in rows])
    return [
        Alert(Kind.HOUSE_OUT_OF_BOUNDS, row.since, row.n, row.organisation_id, *named[row.event_id])
        for row in rows
        if row.event_id in named
    ]


def _of_suspects(session: Session, found: Sequence[Suspect], now: Millis) -> Iterator[Alert]:
    called_off = [one.id for one in found if one.status in CALLED_OFF]
    tickets, holds = active(session, called_off), living(session, called_off, now)
    for one in found:
        counts = tickets.get(one.id, 0), holds.get(one.id, 0)
        yield from rules.of_event(_state(session, one, *counts), now)


def _state(session: Session, one: Suspect, tickets: int, holds: int) -> EventState:
    called_off_at = one.cancelled_at
    if one.status is EventStatus.POSTPONED and (tickets or holds):
        called_off_at = _postponed_at(session, one)
    return EventState(
        one.id,
        one.organisation_id,
        one.venue_id,
        one.name,
        one.status,
        one.starts_at,
        one.ends_at,
        one.doors_at,
        one.go_live_at,
        one.end_at_auto,
        called_off_at,
        one.times_fit,
        one.changed_at,
        tickets,
        holds,
    )


def _postponed_at(session: Session, one: Suspect) -> Millis | None:
    """The event's row does not keep it; the audit log does."""
    asked = audit.AuditFilter(subject_kind="event", subject_id=one.id, action="event_postponed")
    lines = audit.lines(session, one.organisation_id, asked, limit=1, after=None).items
    return lines[0].row.at if lines else None


def of_platform(session: Session, now: Millis) -> list[Alert]:
    """What the operators of the installation must look at."""
    waiting, dead = outbox.waiting(session), outbox.dead(session)
    alerts = []
    if waiting > rules.FACTS_MAY_WAIT:
        alerts.append(Alert(Kind.FACTS_WAITING, _first(session, State.WAITING, now), waiting))
    if dead:
        alerts.append(Alert(Kind.FACTS_LAID_ASIDE, _first(session, State.DEAD, now), dead))
    abroad, since = session.execute(select(func.count(), func.min(FindingRow.found_at))).one()
    if abroad:
        alerts.append(Alert(Kind.ROWS_POINT_ABROAD, since, abroad))
    return alerts


def _first(session: Session, state: State, now: Millis) -> Millis:
    rows = outbox.listed(session, state, limit=1)
    return rows[0].created_at if rows else now


def findings(session: Session) -> Sequence[FindingRow]:
    """What the nightly check has found and nobody has mended yet."""
    wanted = select(FindingRow).order_by(FindingRow.found_at, FindingRow.place, FindingRow.row)
    return session.execute(wanted).scalars().all()


def last_check(session: Session, name: str) -> CheckRow | None:
    """When a check ran last, and what it found; None: never."""
    return session.get(CheckRow, name)


def out_of_bounds(session: Session) -> dict[str, int]:
    """How many houses have each figure out of bounds, as the last round found them."""
    counted = select(FigureRow.name, func.count()).group_by(FigureRow.name)
    return {row[0]: row[1] for row in session.execute(counted)}
