"""Counts who is inside, by when they came, without reading a row for each: sums by day, hour and minute.

Whoever asks says since when, and any moment may be meant: the cut-over of an event day, or when the venue was emptied.
Whole days, hours and minutes since then are sums; of the first minute's rest the rows themselves are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    LargeBinary,
    and_,
    cast,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing import sums
from sync_server.plumbing.event_key import EventKey
from sync_server.scans.attendance.counted import corrections, recorded
from sync_server.scans.models import BY_DECISIONS, InsideSum, Presence, ScanEntry

SPANS: Final[tuple[Millis, ...]] = (60_000, 3_600_000, 86_400_000)
"""A minute, an hour and a day, each a multiple of the one before."""


class Whereabouts(NamedTuple):
    """How many people are inside with a ticket, since when, and where they came in."""

    bodies: int
    at: Millis
    gate: int
    zone: int


NOBODY: Final = Whereabouts(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Who is inside since some moment, by the gate they came through and the zone they went to."""

    inside: int
    by_gate: dict[int, int]
    by_zone: dict[int, int]


def count(
    session: Session, event: EventKey, before: Mapping[int, Whereabouts], after: Mapping[int, Whereabouts]
) -> None:
    """Count what has changed for these tickets."""
    more: Counter[tuple[Millis, Millis, int, int]] = Counter()
    for ticket, now in after.items():
        for one, sign in ((before.get(ticket, NOBODY), -1), (now, 1)):
            for key in _keys(one):
                more[key] += sign * one.bodies
    for key, bodies in more.items():
        sums.add(session, InsideSum, (*event, *key), bodies)


def occupancy(session: Session, event: EventKey, since: Millis) -> Occupancy:
    """People inside, by tickets whose latest movement is not before `since`, the beginning of the event day.

    What supervisors have counted since then is added.
    """
    row, first = InsideSum, _whole(since, SPANS[0])
    summed = select(row.gate, row.zone, row.n.label("n")).where(event.of(row), or_(*_stretches(since)))
    here = event.of(Presence), Presence.bodies > 0, Presence.at >= since, Presence.at < first
    each = select(Presence.gate, Presence.zone, Presence.bodies.label("n")).where(*here)
    parts = union_all(summed, each).subquery()
    scanned = select(parts.c.gate, parts.c.zone, func.sum(parts.c.n), cast(null(), LargeBinary))
    said = select(literal(0), literal(0), literal(0), ScanEntry.body).where(recorded(event, since))
    said = said.with_hint(ScanEntry, BY_DECISIONS, "sqlite")
    bodies: list[bytes] = []
    by_gate: Counter[int] = Counter()
    by_zone: Counter[int] = Counter()
    for gate, zone, n, body in session.execute(union_all(scanned.group_by(parts.c.gate, parts.c.zone), said)):
        by_gate[gate] += int(n)
        by_zone[zone] += int(n)
        bodies += [body] if body is not None else []
    for counted in corrections(session, event, bodies):
        by_gate[counted.gate] += counted.change
        by_zone[counted.zone] += counted.change
    return Occupancy(max(0, by_gate.total()), _some(by_gate), _some(by_zone))


def _counted(event: EventKey) -> CompoundSelect[Any]:
    """Counts the people inside by the rows of their tickets, for the check of the sums."""
    row = Presence
    by_span = (
        select(literal(span), (row.at // span * span).label("starts"), row.gate, row.zone, func.sum(row.bodies))
        .where(event.of(row), row.bodies > 0)
        .group_by("starts", row.gate, row.zone)
        for span in SPANS
    )
    return union_all(*by_span)


def _keys(one: Whereabouts) -> Iterator[tuple[Millis, Millis, int, int]]:
    if one.bodies:
        yield from ((span, one.at // span * span, one.gate, one.zone) for span in SPANS)


def _stretches(since: Millis) -> Iterator[ColumnElement[bool]]:
    """The sums from the first whole minute on: minutes up to the next hour, hours up to the next day, then days."""
    row = InsideSum
    for span, longer in zip(SPANS, (*SPANS[1:], None), strict=True):
        begins = _whole(since, span)
        ends = literal(True) if longer is None else row.starts < _whole(since, longer)
        yield and_(row.span == span, row.starts >= begins, ends)


def _whole(moment: Millis, span: Millis) -> Millis:
    """The moment itself if a span begins then, or else the beginning of the next."""
    return -(-moment // span) * span


def _some(counted: Counter[int]) -> dict[int, int]:
    return {place: bodies for place, bodies in counted.items() if bodies}


SUMS: Final = sums.Summed(InsideSum, sums.selected(_counted))
