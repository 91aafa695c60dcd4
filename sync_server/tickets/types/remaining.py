"""How many tickets of each type are left: at an event of several days on each day of the type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from sync_server.events.days import day_counts
from sync_server.events.days.chosen_days import ChosenDays, dates_of
from sync_server.events.queries import Event
from sync_server.tickets.models import TicketTypeRecord


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left of one type."""

    most: int  # on one of its days at least
    by_day: Mapping[str, int]  # on each of its days, by date; empty at an event of one day
    every_day: bool  # it is for all days of the event


def remaining_of(session: Session, event: Event) -> Callable[[TicketTypeRecord], Remaining]:
    """Says how many are left of a type of this event; the counts of days are read once."""
    dates = dates_of(event)
    counted = day_counts.by_type(session, event.key) if len(dates) > 1 else {}

    def remaining(row: TicketTypeRecord) -> Remaining:
        if len(dates) == 1:
            return Remaining(max(0, row.quantity - row.issued), {}, every_day=True)
        days, taken = ChosenDays(dates, row.valid_days).numbers, counted.get(row.number, {})
        by_day = {dates[day]: max(0, row.quantity - taken.get(day, 0)) for day in days}
        return Remaining(max(by_day.values(), default=0), by_day, len(days) == len(dates))

    return remaining
