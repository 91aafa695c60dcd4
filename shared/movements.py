"""Turns all gates' movements into one ticket's history, and tells whether its holder is inside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from shared.attempts import Direction, Passage
from shared.wire.snapshot import EventDay, Movement, MovementKind

Identity = tuple[int, int, int]
"""(device, branch, seq): identifies a movement everywhere."""

_DIRECTIONS = {MovementKind.ENTRY: Direction.ENTRY, MovementKind.EXIT: Direction.EXIT}


@dataclass(frozen=True, slots=True)
class History:
    """The movements of one ticket that count, and those made with another code."""

    passages: tuple[Passage, ...] = ()
    foreign: tuple[Movement, ...] = ()  # an alarm: recorded by somebody without this ticket's code


def passages(movements: Iterable[Movement], code_hash: bytes | None, issue: int | None) -> History:
    """Removes duplicates and annulled movements; orders by time, then device, then seq.

    `code_hash` and `issue` are those of the code that is being shown (None: looked up by hand). A movement of the same
    issue with another hash is foreign. Movements of another issue count: a ticket that was used and then transferred
    stays used.
    """
    distinct = _distinct(movements)
    annulled = {movement.annuls for movement in distinct if movement.kind == MovementKind.ANNULMENT}
    steps = [step for step in distinct if step.kind in _DIRECTIONS and identity(step) not in annulled]
    foreign = tuple(step for step in steps if _is_foreign(step, code_hash, issue))
    return History(tuple(_passage(step) for step in steps if step not in foreign), foreign)


def identity(movement: Movement) -> Identity:
    """The movement's identity."""
    return movement.device, movement.branch, movement.seq


def _distinct(movements: Iterable[Movement]) -> list[Movement]:
    # If two have the same identity (a cloned card), the later one counts, whichever arrived first.
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


class CountingRules(Protocol):
    """Of an event: its days, whether everybody has left at their end, and since when movements count."""

    @property
    def days(self) -> tuple[EventDay, ...]: ...

    @property
    def cutover_empties(self) -> bool: ...

    @property
    def counts_from(self) -> int | None: ...


class Attendance(Struct, frozen=True):
    """What a ticket's history amounts to at one moment."""

    ever: int = 0  # entries, also those that spend nothing any more
    entries: tuple[Passage, ...] = ()  # all that count
    today: tuple[Passage, ...] = ()  # entries of the event day that contains now
    latest: Passage | None = None  # in either direction
    inside_by: Passage | None = None  # the entry that put the holder inside
    may_leave: bool = False


NEVER_CAME = Attendance()


def attendance(history: tuple[Passage, ...], event: CountingRules, now: int) -> Attendance:
    """The entries ever and today, whether the holder is inside, and whether an exit is plausible."""
    counted = _counted(history, event, now)
    ever = sum(one.direction is Direction.ENTRY for one in history)
    if not counted:
        return Attendance(ever) if ever else NEVER_CAME
    entries = tuple(one for one in counted if one.direction is Direction.ENTRY)
    start, until = span_of_today(event.days, now)
    latest = counted[-1]
    came = latest if latest.direction is Direction.ENTRY else None
    return Attendance(
        ever=ever,
        entries=entries,
        today=tuple(entry for entry in entries if start <= entry.at < until),
        latest=latest,
        inside_by=came if came and (not event.cutover_empties or start <= came.at < until) else None,
        may_leave=came is not None
        and (not event.cutover_empties or came.at >= _start_of_day_before(event.days, start)),
    )


def inside_by(history: tuple[Passage, ...], event: CountingRules, now: int) -> Passage | None:
    """The entry that put the holder inside, whose gate and zone count them; None if they are not inside."""
    return attendance(history, event, now).inside_by


def _counted(history: tuple[Passage, ...], event: CountingRules, now: int) -> list[Passage]:
    since = event.counts_from
    kept = [_no_later_than(now, one) for one in history if since is None or one.at >= since]
    if len(kept) > 1:
        kept.sort(key=lambda one: (one.at, one.device, one.branch, one.seq))
    return kept


def _no_later_than(now: int, one: Passage) -> Passage:
    # Another gate's clock may be fast: a movement in the future has happened all the same, so it counts as now.
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
    # Guests who entered yesterday and leave after the cut-over must be counted out; the day before need not
    # have been an event day (a set-up evening), and with a day off in between it is the last event day.
    before = [day.start for day in days if day.until <= today]
    return min(max(before, default=today), today - _DAY)
