"""Sums of who went in and out: by minute and hour, gate and zone, and by event day; they change with the presence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from struct import pack as packed
from typing import Any, Final, NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.attempts import Direction
from shared.clock import Millis
from shared.movements import attendance
from shared.wire.rows import EventDay
from sync_server.plumbing import sums
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.tables import Base
from sync_server.scans.attendance import basis as bases
from sync_server.scans.attendance.basis import Basis
from sync_server.scans.attendance.moves import Move, moves
from sync_server.scans.attendance.steps import Step, in_order, unpack
from sync_server.scans.models import DaySum, FlowSum, Presence

MINUTE: Final[Millis] = 60_000
HOUR: Final[Millis] = 3_600_000
ENTERED: Final = "entered"
LEFT: Final = "left"
CONTENT: Final = "content"
"""A number that is another one if other people moved in that minute: who has looked at it need not look again."""
Steps = Mapping[int, Sequence[Step]]
Key = tuple[Any, ...]


class Came(NamedTuple):
    """The zone that somebody went to on a day, and whether they were inside at its end."""

    zone: int
    stayed: bool


def count(session: Session, event: EventKey, basis: Basis, before: Steps, after: Steps) -> None:
    """Count what has changed for these tickets."""
    for model, counted in _COUNTED.items():
        more: Counter[Key] = Counter()
        for ticket, steps in after.items():
            old = before.get(ticket, ())
            if list(old) != list(steps):
                for sign, some in ((-1, old), (1, steps)):
                    for key, n in counted(some, basis):
                        more[key] += sign * n
        for key, n in more.items():
            sums.add(session, model, (*event, *key), n)


def count_anew(session: Session, event: EventKey) -> bool:
    """Count everything again if the event's days, beginning or limited places have changed since."""
    basis = bases.replace(session, event)
    if basis is None:
        return False
    for model in _COUNTED:
        session.execute(delete(model).where(event.of(model)))
        for *key, n in _summed(session, event, basis, model):
            sums.add(session, model, (*event, *key), n)
    return True


def _moved(steps: Sequence[Step], basis: Basis) -> Iterator[tuple[Key, int]]:
    if not any(basis.limits(step.passage.gate, step.passage.zone) for step in steps):
        return
    for move in moves(steps, basis):
        if basis.limits(move.gate, move.zone):
            figure = ENTERED if move.change > 0 else LEFT
            for span in (MINUTE, HOUR):
                yield (span, move.day, move.at // span * span, move.gate, move.zone, figure), 1
            yield (MINUTE, move.day, move.at // MINUTE * MINUTE, move.gate, move.zone, CONTENT), _content(move)


def _content(move: Move) -> int:
    told = packed(">qqqqQq", move.at, move.device, move.branch, move.seq, move.ticket, move.change)
    return int.from_bytes(blake2b(told, digest_size=5).digest(), "big")


def _attended(steps: Sequence[Step], basis: Basis) -> Iterator[tuple[Key, int]]:
    """The days on which a ticket came: its zone then, and whether its holder stayed until the end."""
    entries = [step.passage.at for step in steps if step.passage.direction is Direction.ENTRY]
    for day in basis.days:
        if any(day.start <= at < day.until for at in entries):
            came = came_on(steps, basis, day)
            if came is not None:
                yield (day.start, came.zone, came.stayed), 1


def came_on(steps: Sequence[Step], basis: Basis, day: EventDay) -> Came | None:
    """Where a ticket's holder went on a day, and whether they stayed; None if they did not come, or not to count."""
    until = tuple(step.passage for step in in_order(steps) if step.passage.at < day.until)
    found = attendance(until, basis, day.until - 1)
    return Came(found.today[-1].zone, found.inside_by is not None) if found.today else None


_COUNTED: Final = {FlowSum: _moved, DaySum: _attended}


def _summed(session: Session, event: EventKey, basis: Basis, model: type[Base]) -> Iterator[tuple[Any, ...]]:
    """The rows that the sums of an event should be."""
    found: Counter[Key] = Counter()
    row = Presence
    wanted = select(row.ticket, row.steps).where(event.of(row), row.steps != b"")
    if basis.counts_from is not None:
        wanted = wanted.where(row.at >= basis.counts_from)
    for ticket, steps in session.execute(wanted.execution_options(yield_per=2_000)):
        for key, n in _COUNTED[model](unpack(ticket, steps), basis):
            found[key] += n
    return ((*key, n) for key, n in found.items())


def _of_event(model: type[Base]) -> sums.Anew:
    def anew(session: Session, event: EventKey) -> Iterable[Sequence[Any]]:
        basis = bases.stored(session, event)
        return () if basis is None else _summed(session, event, basis, model)

    return anew


FLOWS: Final = sums.Summed(FlowSum, _of_event(FlowSum))
DAYS: Final = sums.Summed(DaySum, _of_event(DaySum))
