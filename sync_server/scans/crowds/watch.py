"""The check for zones and gates that are too full: what it reads grows with what is new, not with the event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.database import Database
from sync_server.plumbing.due import AT_ONCE
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.revisions import queries as revisions
from sync_server.scans import conflicts
from sync_server.scans.attendance import basis as bases
from sync_server.scans.attendance import flows
from sync_server.scans.conflicts import FoundConflict
from sync_server.scans.crowds.levels import Span, suspects
from sync_server.scans.crowds.overfull import conflicts_of
from sync_server.scans.models import ConflictRow, SumBasis
from sync_server.scans.reconcile import ConflictKind

REST: Final = 20
"""After a check an event rests so many times as long as that took: it costs a twentieth of a processor at most."""
KEPT: Final = 200
"""Events whose minutes a process remembers."""
_CHUNK = 500
Key = tuple[int, str]
"""The ticket, and the entry that is wrong."""
Told = tuple[str, int, int]
"""What is stored of a conflict: its reason, and the time of the entry with its uncertainty."""


@dataclass(frozen=True, slots=True)
class Minute:
    """What was found in one minute, and what it was found from."""

    known_by: tuple[object, ...]
    found: Mapping[Key, Told]


@dataclass(frozen=True, slots=True)
class Checked:
    """The last check of an event: its minutes near a limit, and what is stored. Another process may have gone on."""

    round: int
    minutes: Mapping[Span, Minute]
    stored: Mapping[Key, Told]


@dataclass(slots=True)
class CapacityWatch:
    """Checks the events with movements since the last round, each at most a twentieth of the time."""

    arrived: dict[EventKey, int] = field(default_factory=dict)
    resting: dict[EventKey, Millis] = field(default_factory=dict)
    checked: dict[EventKey, Checked] = field(default_factory=dict)

    def run(self, database: Database, context: ActionContext) -> object:
        """Check the next event with new movements; MORE while there are others."""
        with database.autocommit_reading() as session:
            moved = sorted(self._moved(session, context.now).items())
        for event, arrivals in moved[:1]:
            began = database.clock()
            checked = check(database, event, context.now, self.checked.pop(event, None))
            took = database.clock() - began
            self.arrived[event], self.resting[event] = arrivals, began + REST * took
            if checked is not None:
                self.checked[event] = checked
            while len(self.checked) > KEPT:
                del self.checked[next(iter(self.checked))]
        return MORE if len(moved) > 1 else None

    def anything_moved(self, session: Session, now: Millis) -> Millis | None:
        """At once, where `run` has anything to check."""
        return AT_ONCE if self._moved(session, now) else None

    def _moved(self, session: Session, now: Millis) -> dict[EventKey, int]:
        arrivals = revisions.arrivals(session)
        return {
            event: arrived
            for event, arrived in arrivals.items()
            if self.arrived.get(event) != arrived and self.resting.get(event, 0) <= now
        }


def check(database: Database, event: EventKey, now: Millis, before: Checked | None = None) -> Checked | None:
    """Store over-capacity conflicts of an event; withdraw those that no longer hold.

    Reads without a lock, and writes only what it has found: others write meanwhile. Sums are counted anew first if
    they rest on something else than the event's rows as they are now.
    """
    with database.reading() as session:
        outdated = bases.stored(session, event) not in {None, bases.current(session, event)}
    if outdated:
        with database.writing() as session:
            flows.count_anew(session, event)
    with database.reading() as session:
        found = _look(session, event, before)
    if found is None:
        return None
    checked, new = found
    after = {key: told for minute in checked.minutes.values() for key, told in minute.found.items()}
    changed = {key for key in after.keys() | checked.stored.keys() if after.get(key) != checked.stored.get(key)}
    if not changed:
        return checked
    with database.writing() as session:
        _store(session, event, changed, new, now)
        step = update(SumBasis).where(event.of(SumBasis)).values(round=SumBasis.round + 1).returning(SumBasis.round)
        number = session.scalars(step.execution_options(synchronize_session=False)).one()
    # Whoever came between has stored something: then everything is read again the next time.
    return Checked(number, checked.minutes, after) if number == checked.round + 1 else None


def _look(session: Session, event: EventKey, before: Checked | None) -> tuple[Checked, list[FoundConflict]] | None:
    row = session.scalar(select(SumBasis).where(event.of(SumBasis)))
    basis = bases.stored(session, event)
    if row is None or basis is None:
        return None
    if before is None or before.round != row.round:
        before = Checked(row.round, {}, _stored(session, event))
    limits = basis.of_these(bases.limits_of(session, event))
    minutes: dict[Span, Minute] = {}
    new: list[FoundConflict] = []
    for suspect in suspects(session, event, limits):
        known_by, known = suspect.known_by(limits), before.minutes.get(suspect.minute)
        if known is None or known.known_by != known_by:
            found = conflicts_of(session, event, basis, limits, suspect)
            known = Minute(known_by, {_key(one): _told(one) for one in found})
            new += found
        minutes[suspect.minute] = known
    return Checked(row.round, minutes, before.stored), new


def _store(
    session: Session, event: EventKey, changed: Iterable[Key], new: Sequence[FoundConflict], now: Millis
) -> None:
    found = {_key(one): one for one in new}
    keys = sorted(changed)
    for start in range(0, len(keys), _CHUNK):  # a statement takes only so many values
        some = keys[start : start + _CHUNK]
        subjects = {subject for _, subject in some}
        previous = event.of(ConflictRow), ConflictRow.kind == ConflictKind.OVER_CAPACITY
        here = [found[key] for key in some if key in found]
        conflicts.store_among(session, event.organisation_id, (*previous, ConflictRow.subject.in_(subjects)), here, now)


def _stored(session: Session, event: EventKey) -> dict[Key, Told]:
    row = ConflictRow
    holds = event.of(row), row.kind == ConflictKind.OVER_CAPACITY, row.withdrawn_at.is_(None)
    rows = session.execute(select(row.ticket, row.subject, row.reason, row.scans).where(*holds))
    return {(ticket, subject): (reason, one["at"], one["uncertainty"]) for ticket, subject, reason, (one, *_) in rows}


def _key(found: FoundConflict) -> Key:
    return found.ticket, found.subject


def _told(found: FoundConflict) -> Told:
    one = found.conflict.of
    return str(found.conflict.reason or ""), one.at, one.uncertainty
