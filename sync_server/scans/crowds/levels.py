"""Finds the minutes in which a place may have been too full, by the sums of who went in and out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.reasons import Reason
from sync_server.plumbing.event_key import EventKey
from sync_server.scans.attendance.basis import Limits
from sync_server.scans.attendance.flows import CONTENT, ENTERED, HOUR, MINUTE
from sync_server.scans.models import FlowSum


class Place(NamedTuple):
    """A zone or a gate: by the reason that it gives when it is full."""

    full: Reason
    number: int


class Span(NamedTuple):
    """A minute or an hour of one event day."""

    day: Millis
    starts: Millis


Levels = Mapping[Place, int]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A minute in which somebody may have gone into a full place: how many were there before, and what happened."""

    minute: Span
    levels: Levels
    content: int

    def known_by(self, limits: Limits) -> tuple[object, ...]:
        """Equal where the same entries are found."""
        levels = ((place, inside, limit_of(limits, place)) for place, inside in sorted(self.levels.items()))
        return self.content, *levels


def places(limits: Limits, gate: int, zone: int) -> Iterator[Place]:
    """The limited places on a way in."""
    if zone in limits.zones:
        yield Place(Reason.ZONE_FULL, zone)
    if gate in limits.gates:
        yield Place(Reason.GATE_FULL, gate)


def limit_of(limits: Limits, place: Place) -> int:
    """How many a limited place holds."""
    return (limits.zones if place.full is Reason.ZONE_FULL else limits.gates)[place.number]


def suspects(session: Session, event: EventKey, limits: Limits) -> list[Suspect]:
    """Minutes in which as many went in as might fill a place beyond its limit, in their order."""
    found: list[Suspect] = []
    hours = _sums(session, event, HOUR)
    for hour, before, _ in _crowded(hours, limits, {}):
        minutes = _sums(session, event, MINUTE, hour)
        for minute, levels, content in _crowded(minutes, limits, before):
            found.append(Suspect(minute, levels, content))
    return found


def _sums(
    session: Session, event: EventKey, span: Millis, within: Span | None = None
) -> list[tuple[Span, int, int, str, int]]:
    row = FlowSum
    wanted = select(row.day, row.starts, row.gate, row.zone, row.figure, row.n).where(event.of(row), row.span == span)
    if within is not None:
        wanted = wanted.where(row.day == within.day, row.starts >= within.starts, row.starts < within.starts + HOUR)
    rows = session.execute(wanted.order_by(row.day, row.starts))
    return [(Span(day, starts), gate, zone, figure, n) for day, starts, gate, zone, figure, n in rows]


def _crowded(
    rows: Iterable[tuple[Span, int, int, str, int]], limits: Limits, before: Levels
) -> Iterator[tuple[Span, Levels, int]]:
    """The spans with a place that may have been full, how many were in every place before, and the content."""
    inside: defaultdict[Millis, Counter[Place]] = defaultdict(lambda: Counter(before))
    for span, some in groupby(rows, key=lambda row: row[0]):
        entered, left, content = Counter[Place](), Counter[Place](), 0
        for _, gate, zone, figure, n in some:
            if figure == CONTENT:
                content += n
            else:
                for place in places(limits, gate, zone):
                    (entered if figure == ENTERED else left)[place] += n
        levels = inside[span.day]
        if any(n and levels[place] + n > limit_of(limits, place) for place, n in entered.items()):
            yield span, dict(levels), content
        levels.update(entered)
        levels.subtract(left)
