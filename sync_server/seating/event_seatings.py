"""Keeps the seating of a few events and days, which follows the changes and never reads all taken seats again."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Final, cast

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.days.chosen_days import EVERY_DAY, ChosenDays
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.database import Database
from sync_server.plumbing.parts import Parts, parts
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.telemetry.metrics import Metrics
from sync_server.seating.event_seating import EventSeating
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import event_plan
from sync_server.seating.search.row_shares import ALL, RowShare
from sync_server.seating.taken import SeatingPorts

STATE_KEY: Final = "seating.event_seatings"
MAX_CACHED: Final = 32
"""The seating of a stadium takes some megabytes, and its plan as many."""
FOLLOWED_MS: Final = 250
"""So old may be what is known of the rest of an event for whoever only looks at a few seats and their rows."""
_Key = tuple[str, int]
"""An event, and the bitmap of the days on which seats are wanted."""


@dataclass(slots=True)
class _Cached:
    """The seating of one event on some days, up to which version, and the lock for those who use it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    seating: EventSeating | None = None
    version: int | None = None
    known: frozenset[str] = frozenset()  # what was read before it had a version
    read_at: int = 0  # when the changes were last read, as a number of `_order`
    followed_at: Millis = -FOLLOWED_MS

    def is_of(self, plan: SeatPlan | None) -> bool:
        """Whether there is a seating of this plan."""
        return self.seating is not None and self.seating.plan == plan

    def is_followed(self, plan: SeatPlan | None, now: Millis) -> bool:
        """Whether its changes were read a moment ago."""
        return self.is_of(plan) and now - self.followed_at < FOLLOWED_MS

    def knows_places(self, now: Millis) -> bool:
        """Whether no hold of places has run out since they were counted."""
        until = self.seating.live.places.until if self.seating is not None else None
        return until is None or until > now


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Whose seating a caller asks for, and what the caller knows of it."""

    organisation_id: str
    event_id: str
    now: Millis
    plan: SeatPlan | None
    days: int  # as a bitmap


class EventSeatings:
    """Seatings by event. Building one of sixty thousand seats takes a moment, following the changes much less."""

    def __init__(self, database: Database, metrics: Metrics, share: RowShare = ALL) -> None:
        """Nothing yet. In a rush seats are first looked for in this share of the rows."""
        self._database, self._metrics, self._share = database, metrics, share
        self._order = count(1)
        self._cached: SharedLoads[_Key, _Cached] = SharedLoads(MAX_CACHED)

    @contextmanager
    def current(
        self,
        organisation_id: str,
        event_id: str,
        now: Millis,
        plan: SeatPlan | None = None,
        version: int | None = None,
        *,
        days: ChosenDays | None = None,
        near: Collection[int] = (),
    ) -> Iterator[EventSeating]:
        """The seating of an event now or later, for one caller at a time; NotFound for an event without a layout.

        A seat is free there if it is free on all of `days`, which are all of the event's if none are given.

        What one caller reads serves all who asked before it began. `plan` spares a look, where the caller knows it;
        `version` spares another, where all changes up to that version are enough. Where seats are named that are all
        that the caller looks at, only what decides about them is read, if the rest was followed a moment ago.
        Hold no database session meanwhile: those who wait would keep the connections that this one needs.
        """
        key = event_id, _bitmap(days)
        wanted = _Wanted(organisation_id, event_id, now, plan, key[1])
        cached, asked_at = self._entry(key), next(self._order)
        with ExitStack() as stack:
            with self._metrics.layout_seconds.time():
                stack.enter_context(cached.lock)
                if version is None:
                    current = cached.read_at > asked_at
                else:
                    current = cached.version is not None and cached.version >= version and cached.knows_places(now)
                if not current or not cached.is_of(plan):
                    with self._database.autocommit_reading() as session:
                        if near and cached.is_followed(plan, now):
                            self._look(cached, session, wanted, near)
                        else:
                            self._read(cached, session, wanted)
                assert cached.seating is not None  # noqa: S101 - it was read
                cached.seating.apply((), now, ())
            yield cached.seating

    def settle(self, event_id: str, seats: Collection[int], days: ChosenDays | None = None) -> None:
        """Seats that were set aside on these days were written, or were not."""
        cached = self._entry((event_id, _bitmap(days)))
        with cached.lock:
            if cached.seating is not None:
                cached.seating.settle(seats)

    def forget(self, event_id: str) -> None:
        """Read everything again: after a restore versions mean something else."""
        self._cached.forget_where(lambda key: key[0] == event_id)

    def _read(self, cached: _Cached, session: Session, wanted: _Wanted) -> None:
        read_at = next(self._order)
        plan, event_id = wanted.plan, wanted.event_id
        if plan is None or not cached.is_of(plan):
            plan = event_plan(session, wanted.organisation_id, event_id)
        seating = cached.seating if cached.is_of(plan) else None
        self._metrics.count_lookup("houses", seating is not None)
        if seating is None:
            seating = cached.seating = EventSeating(plan, self._share)
            cached.version = None
        ports = ports_of(session, SeatingPorts)
        before, knew_places = cached.version, cached.knows_places(wanted.now)
        # First what has changed, then how it is now: what changes in between is reported once more.
        found = ports.seat_changes(session, wanted.organisation_id, event_id, cached.version, cached.known)
        version, touched = found.version, found.touched
        if touched is not None:
            touched = {*touched, *seating.doubtful}
        seats = (
            ports.taken_seats(session, wanted.organisation_id, event_id, touched, wanted.days)
            if touched is None or touched
            else ()
        )
        if plan.numbered != plan.zones.keys():
            seating.live.places = ports.taken_places(session, wanted.organisation_id, event_id, wanted.now, wanted.days)
        seating.apply(seats, wanted.now, touched)
        if version != before or not knew_places:
            seating.live.as_of = max(seating.live.as_of, wanted.now)
        seating.doubtful.clear()
        cached.version, cached.known, cached.read_at = version, found.unversioned, read_at
        cached.followed_at = wanted.now

    @staticmethod
    def _look(cached: _Cached, session: Session, wanted: _Wanted, near: Collection[int]) -> None:
        """Read the rows of these seats as they are now."""
        assert cached.seating is not None  # noqa: S101 - it was read before
        around = cached.seating.around(near)
        taken = ports_of(session, SeatingPorts).taken_seats
        seats = taken(session, wanted.organisation_id, wanted.event_id, around, wanted.days)
        cached.seating.apply(seats, wanted.now, around)

    def _entry(self, key: _Key) -> _Cached:
        return self._cached.get(key, _Cached)


def _bitmap(days: ChosenDays | None) -> int:
    """Of some days, the same for all who mean every day."""
    return EVERY_DAY if days is None or len(days.numbers) == len(days.dates) else days.bits


def event_seatings() -> EventSeatings:
    """The seatings of the server that handles this request."""
    return event_seatings_of(parts())


def event_seatings_of(parts: Parts) -> EventSeatings:
    """The seatings of a server with these parts."""
    return cast(EventSeatings, parts.local_state[STATE_KEY])
