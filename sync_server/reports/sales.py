"""How an event sells: tickets over time, by type, and beside the last event that can be compared with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout import sales_figures
from sync_server.checkout.filing.sold import DAY_MS, HOUR_MS, start_of
from sync_server.checkout.sales_figures import TypeSold
from sync_server.events import queries as events
from sync_server.events.queries import Event, EventFilter
from sync_server.tickets import queries as tickets

BRIEF_MS: Final = 3 * DAY_MS
"""What has been on sale for less is shown by the hour."""
MOST_MOMENTS: Final = 400
MOST_AHEAD: Final = 3
"""How much time to come the chart shows, in times of what is past."""
LOOKED_AT: Final = 40
"""Earlier events among which the one to compare with is looked for."""
_BEFORE: Final = ("live", "ended")


@dataclass(frozen=True, slots=True)
class TypeLine:
    """The tickets of one type that were sold until each moment."""

    number: int
    name: str
    sold: list[int | None]


@dataclass(frozen=True, slots=True)
class Earlier:
    """The event to compare with: what it had sold as long before its own beginning."""

    event_id: str
    name: str
    start_at: Millis
    timezone: str
    sold: list[int | None]
    by_now: int
    in_all: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was sold in one stretch of time, before refunds, and how many tickets in all by its end."""

    at: Millis
    orders: int
    cents: int
    tickets: int
    in_all: int


@dataclass(frozen=True, slots=True)
class Sales:
    """How an event sells. Each line has a value for each of the moments, None for those to come."""

    step: Millis
    currency: str
    moments: list[Millis]
    sold: list[int | None]
    types: list[TypeLine]
    stretches: list[Stretch]
    earlier: Earlier | None

    @property
    def tickets(self) -> int:
        """How many tickets were sold so far."""
        return self.stretches[-1].in_all

    @property
    def cents(self) -> int:
        """For how much, before refunds."""
        return sum(each.cents for each in self.stretches)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was sold of one event, as it was read."""

    since: Millis
    step: Millis
    by_type: list[TypeSold]

    def tickets(self, number: int | None = None) -> list[tuple[Millis, int]]:
        """When how many tickets were sold, of one type or of all: each stretch at its end."""
        return [
            (self.since + (one.at + 1) * self.step, one.tickets)
            for one in self.by_type
            if number is None or one.ticket_type == number
        ]


def begins(event: Event) -> Millis:
    """When an event takes place, on its new date if it has one."""
    return event.rescheduled_at or event.start_at


def sales(session: Session, event: Event, now: Millis) -> Sales | None:
    """How an event sells; None before anybody has bought."""
    first = sales_figures.first_sale(session, event.key)
    if first is None:
        return None
    step = HOUR_MS if min(now, begins(event)) - first < BRIEF_MS else DAY_MS
    read = _read(session, event, first, step)
    other = comparable(event, _earlier_events(session, event))
    before = None if other is None else _earlier(session, other, step)
    last = max([now, *(at - step for at, _ in read.tickets())])
    other_since = None if before is None else before[1].since + _shift(event, before[0])
    moments = moments_shown(read.since, read.step, last, begins(event), other_since)
    types = [
        TypeLine(row.number, row.name, known(grown(read.tickets(row.number), moments), moments, now))
        for row in tickets.ticket_types(session, *event.key)
    ]
    return Sales(
        step,
        read.by_type[0].currency if read.by_type else "",
        moments,
        known(grown(read.tickets(), moments), moments, now),
        [line for line in types if any(line.sold)],
        _stretches(read, now),
        None if before is None else _compared(event, *before, moments, now),
    )


def _read(session: Session, event: Event, first: Millis, step: Millis) -> _Read:
    since = start_of(first, event.timezone, step)
    return _Read(since, step, sales_figures.types_of_event(session, event.key, event.timezone, since, step))


def _earlier_events(session: Session, event: Event) -> Sequence[Event]:
    wanted = EventFilter(statuses=_BEFORE, starts_before=begins(event), newest_first=True)
    return events.events(session, event.organisation_id, wanted, limit=LOOKED_AT, after=None).items


def comparable(event: Event, earlier: Iterable[Event]) -> Event | None:
    """The latest of the same series; else of the same place and kind, of the same kind, or at the same place."""
    chosen: tuple[int, Event] | None = None
    for other in earlier:
        alike = _likeness(event, other)
        if other.id != event.id and alike and (chosen is None or alike > chosen[0]):
            chosen = alike, other
    return None if chosen is None else chosen[1]


def _likeness(event: Event, other: Event) -> int:
    series = event.recurrence_group_id is not None and event.recurrence_group_id == other.recurrence_group_id
    kind = bool(event.category) and event.category == other.category
    return 4 * series + 2 * kind + (event.venue_id == other.venue_id)


def _earlier(session: Session, other: Event, step: Millis) -> tuple[Event, _Read] | None:
    first = sales_figures.first_sale(session, other.key)
    return None if first is None else (other, _read(session, other, first, step))


def _shift(event: Event, other: Event) -> Millis:
    return begins(event) - begins(other)


def moments_shown(
    began: Millis, stretch: Millis, last: Millis, start: Millis, other_since: Millis | None
) -> list[Millis]:
    """The moments of the chart: from the first sale of either until the event begins, or until now.

    With nothing to compare, a sale that has hardly begun does not leave the chart empty until an event of next year.
    """
    if other_since is None:
        start = min(start, last + MOST_AHEAD * (last + stretch - began))
    earlier = 0 if other_since is None else max(0, -(-(began - other_since) // stretch))
    since, until = began - earlier * stretch, max(last + stretch, start)
    step = stretch * max(1, -(-(until - since) // (stretch * MOST_MOMENTS)))
    return [*range(since, until + step, step)]


def grown(sold: Iterable[tuple[Millis, int]], moments: Sequence[Millis]) -> list[int]:
    """How many were sold by each of these moments."""
    by_time = sorted(sold)
    totals = [0, *accumulate(count for _, count in by_time)]
    times = [at for at, _ in by_time]
    return [totals[bisect_right(times, moment)] for moment in moments]


def known(line: list[int], moments: Sequence[Millis], now: Millis) -> list[int | None]:
    """The line as far as it is known: the stretch of now counts as it is."""
    step = moments[1] - moments[0]
    return [value if moment < now + step else None for value, moment in zip(line, moments, strict=True)]


def _compared(event: Event, other: Event, read: _Read, moments: Sequence[Millis], now: Millis) -> Earlier:
    shifted = [(at + _shift(event, other), count) for at, count in read.tickets()]
    by_now, in_all = grown(shifted, [now])[0], sum(count for _, count in shifted)
    line: list[int | None] = [*grown(shifted, moments)]
    return Earlier(other.id, other.name, begins(other), other.timezone, line, by_now, in_all)


def _stretches(read: _Read, now: Millis) -> list[Stretch]:
    """Every stretch in which something was sold, the first one first, and the present one."""
    numbers = sorted({one.at for one in read.by_type} | {(now - read.since) // read.step})
    found, in_all = [], 0
    for number in numbers:
        these = [one for one in read.by_type if one.at == number]
        count = sum(one.tickets for one in these)
        in_all += count
        at = read.since + number * read.step
        found.append(Stretch(at, sum(one.orders for one in these), sum(one.cents for one in these), count, in_all))
    return found
