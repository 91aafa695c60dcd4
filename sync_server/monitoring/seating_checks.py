"""Checks how events are seated and sold, one per run, and records the figures that are out of bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import EVERY_DAY, ChosenDays, dates_of
from sync_server.events.overviews.active_events import active_event_ids
from sync_server.holds.endings.outcomes import outcomes
from sync_server.monitoring import service
from sync_server.monitoring.models import FigureRow
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating.event_seating import EventSeating
from sync_server.seating.event_seatings import EventSeatings
from sync_server.seating.figures import Figure, hold_figures, seating_figures
from sync_server.seating.queries import events_with_layout

SEATING: Final = "seating"
INTERVAL_MS: Final[Millis] = 600_000
MIN_SAMPLE: Final = 20
"""Figures of fewer taken seats or ended holds mean nothing."""
MIN_TAKEN: Final = 10
"""Figures mean nothing before one in so many places is taken."""
OUTCOMES: Final = ("converted", "expired", "cancelled")


class SeatingCheck:
    """Checks one event per run: the first look at a stadium takes a second, and others write in between."""

    def __init__(self, seatings: EventSeatings) -> None:
        self._seatings = seatings
        self._remaining: list[EventKey] = []
        self._running = False

    def run(self, session: Session, context: ActionContext) -> object:
        """Job: check the next event; MORE while there are any left."""
        if not self._running:
            if not service.claim(session, context.now, SEATING, INTERVAL_MS):
                return None
            self._remaining, self._running = _events_on_sale(session), True
            _delete_others(session, self._remaining)
        if not self._remaining:
            self._running = False
            return None
        organisation_id, event_id = self._remaining.pop()
        with suppress(NotFound):
            figures = [*_hold_figures(outcomes(session, organisation_id, event_id))]
            for days in _each_day(dates_of(events.event(session, organisation_id, event_id))):
                with self._seatings.current(organisation_id, event_id, context.now, days=days) as seating:
                    figures += _seating_figures(seating)
            # Of several days the first one that is out of bounds.
            alerts = {figure.name: figure for figure in reversed(figures) if figure.state == "alert"}
            _record(session, organisation_id, event_id, list(alerts.values()), context.now)
        return MORE


def _each_day(dates: tuple[str, ...]) -> Iterator[ChosenDays]:
    return (ChosenDays(dates, 1 << day if len(dates) > 1 else EVERY_DAY) for day in range(len(dates)))


def _seating_figures(seating: EventSeating) -> list[Figure]:
    taken = len(seating.taken()) + seating.live.places.total()
    capacity = seating.plan.capacity
    return seating_figures(seating) if taken >= MIN_SAMPLE and taken * MIN_TAKEN >= capacity else []


def _hold_figures(counts: Mapping[str, int]) -> list[Figure]:
    return hold_figures(counts) if sum(counts.get(outcome, 0) for outcome in OUTCOMES) >= MIN_SAMPLE else []


def _events_on_sale(session: Session) -> list[EventKey]:
    seated = events_with_layout(session)
    active = active_event_ids(session, seated)
    return [key for key in seated if key.event_id in active]


def _delete_others(session: Session, seated: Sequence[EventKey]) -> None:
    recorded = session.execute(select(FigureRow.organisation_id, FigureRow.event_id).distinct())
    for event in {EventKey(*row) for row in recorded}.difference(seated):
        session.execute(delete(FigureRow).where(event.of(FigureRow)))


def _record(session: Session, organisation_id: str, event_id: str, figures: Sequence[Figure], now: Millis) -> None:
    here = select(FigureRow).where(EventKey(organisation_id, event_id).of(FigureRow))
    rows = {row.name: row for row in session.execute(here).scalars()}
    for figure in figures:
        row = rows.pop(figure.name, None)
        if row is None:
            row = FigureRow(event_id=event_id, name=figure.name, organisation_id=organisation_id, since=now)
            session.add(row)
        row.percent = figure.percent or 0.0
    for row in rows.values():
        session.delete(row)
