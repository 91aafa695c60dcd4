"""From everybody's movements to one ticket's history, and from that to who is inside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared.attempts import Direction, Passage
from shared.snapshot import EventDay, EventRow, Movement, MovementKind

Identity = tuple[int, int, int]
"""(device, branch, seq): names one movement wherever it is heard of."""

_DIRECTIONS = {MovementKind.ENTRY: Direction.ENTRY, MovementKind.EXIT: Direction.EXIT}


@dataclass(frozen=True, slots=True)
class History:
    """What counts of one ticket's movements, and what claims to but was made with another code."""

    passages: tuple[Passage, ...] = ()
    foreign: tuple[Movement, ...] = ()  # an alarm: somebody wrote of this ticket without having seen it


def passages(movements: Iterable[Movement], code_hash: bytes | None, issue: int | None) -> History:
    """Each identity once, annulled left out, in order of time, then device, then seq.

    `code_hash` and `issue` are those of the code that is being shown (None: typed by hand). A movement of the same
    issue with another hash is foreign. Movements of another issue count: a ticket that was used and then transferred
    stays used.
    """
    distinct = _distinct(movements)
    annulled = {movement.annuls for movement in distinct if movement.kind == MovementKind.ANNULMENT}
    steps = [step for step in distinct if step.kind in _DIRECTIONS and identity(step) not in annulled]
    foreign = tuple(step for step in steps if _is_foreign(step, code_hash, issue))
    return History(tuple(_passage(step) for step in steps if step not in foreign), foreign)


def identity(movement: Movement) -> Identity:
    """What names it."""
    return movement.device, movement.branch, movement.seq


def _distinct(movements: Iterable[Movement]) -> list[Movement]:
    # Of two that claim one identity (a cloned card) the later counts, whichever was heard first.
    kept: dict[Identity, Movement] = {}
    for movement in sorted(movements, key=_age):
        kept[identity(movement)] = movement
    return sorted(kept.values(), key=lambda one: (one.at, one.device, one.branch, one.seq))


def _age(one: Movement) -> tuple[int | bytes | Identity, ...]:
    return one.at, one.kind, one.gate, one.zone, one.issue, one.code_hash, one.annuls or (0, 0, 0)


def _is_foreign(movement: Movement, code_hash: bytes | None, issue: int | None) -> bool:
    if not code_hash or not movement.code_hash or movement.issue != issue:
        return False
    return movement.code_hash != code_hash


def _passage(step: Movement) -> Passage:
    direction = _DIRECTIONS[MovementKind(step.kind)]
    return Passage(step.at, step.device, step.branch, step.seq, direction, step.gate, step.zone)


@dataclass(frozen=True, slots=True)
class Attendance:
    """What one ticket's history means at one moment."""

    entries: tuple[Passage, ...] = ()  # all that count
    today: tuple[Passage, ...] = ()  # entries of the event day that contains now
    latest: Passage | None = None  # movement of either direction
    inside_by: Passage | None = None  # the entry that put the holder inside
    may_leave: bool = False


NEVER_CAME = Attendance()


def attendance(history: tuple[Passage, ...], event: EventRow, now: int) -> Attendance:
    """Entries ever and today, whether the holder is inside, and whether an exit makes sense."""
    counted = _counted(history, event, now)
    if not counted:
        return NEVER_CAME
    entries = tuple(one for one in counted if one.direction is Direction.ENTRY)
    start, until = span_of_today(event.days, now)
    latest = counted[-1]
    came = latest if latest.direction is Direction.ENTRY else None
    return Attendance(
        entries=entries,
        today=tuple(entry for entry in entries if start <= entry.at < until),
        latest=latest,
        inside_by=came if came and (not event.cutover_empties or start <= came.at < until) else None,
        may_leave=came is not None
        and (not event.cutover_empties or came.at >= _start_of_day_before(event.days, start)),
    )


def inside_by(history: tuple[Passage, ...], event: EventRow, now: int) -> Passage | None:
    """The entry by which the holder is inside now: its gate and zone are where the holder counts. None: not inside."""
    return attendance(history, event, now).inside_by


def _counted(history: tuple[Passage, ...], event: EventRow, now: int) -> list[Passage]:
    since = event.counts_from
    kept = [_no_later_than(now, one) for one in history if since is None or one.at >= since]
    if len(kept) > 1:
        kept.sort(key=lambda one: (one.at, one.device, one.branch, one.seq))
    return kept


def _no_later_than(now: int, one: Passage) -> Passage:
    # Another gate's clock may run ahead: what it wrote happened all the same, so it counts as just now.
    if one.at <= now:
        return one
    return Passage(now, one.device, one.branch, one.seq, one.direction, one.gate, one.zone)


_DAY = 24 * 3_600_000
_EVER = (-(1 << 62), 1 << 62)


def span_of_today(days: tuple[EventDay, ...], now: int) -> tuple[int, int]:
    """(from, until) of the event day that contains now; between days, the gap; without days, all time."""
    start, until = _EVER
    for day in days:
        if day.start <= now < day.until:
            return day.start, day.until
        if day.until <= now:
            start = max(start, day.until)
        else:
            until = min(until, day.start)
    return start, until


def _start_of_day_before(days: tuple[EventDay, ...], today: int) -> int:
    # Whoever entered yesterday and leaves after the cut-over has a right to be counted out; the day before need not
    # have been an event day (a set-up evening), and with a day off in between it is the last event day.
    before = [day.start for day in days if day.until <= today]
    return min(max(before, default=today), today - _DAY)
