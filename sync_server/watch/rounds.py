"""The watchman's rounds in the worker: the nightly check in short turns, alerts, and how houses are seated."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, starmap
from typing import Protocol

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE, Job
from sync_server.watch import queries, service
from sync_server.watch.crossings import Pointer, found
from sync_server.watch.houses import HousesRound
from sync_server.watch.said_ids import Place, Walk
from sync_server.watch.telling import LOOK_EVERY_MS, AlertsRound

ASK_EVERY_MS: Millis = 600_000


class Step(Protocol):
    """A part of the nightly check."""

    def go(self, session: Session, now: Millis) -> bool:
        """Look at some rows; whether there are more of them."""
        ...


class OneWay:
    """From one column to whatever it may point to."""

    def __init__(self, place: str, ways: Iterable[Pointer]) -> None:
        """Not gone yet."""
        self._place, self._ways = place, tuple(ways)

    def go(self, session: Session, now: Millis) -> bool:
        """All of it at once, a statement for each table."""
        there = [one for way in self._ways for one in found(session, way)]
        service.write_down(session, there, now)
        service.strike_out(session, self._place, {one.row for one in there})
        return False


class OneWalk:
    """Through one table that says ids."""

    def __init__(self, walk: Walk) -> None:
        """Not begun."""
        self._walk = walk
        self._last: Place | None = None
        self._there: dict[str, set[str]] = {place: set() for place in walk.places}

    def go(self, session: Session, now: Millis) -> bool:
        """Some hundred rows; at the end what is mended is struck out."""
        turn = self._walk.turn(session, self._last, now)
        service.write_down(session, turn.abroad, now)
        for one in turn.abroad:
            self._there[one.place].add(one.row)
        self._last = turn.last
        if self._last is None:
            for place, there in self._there.items():
                service.strike_out(session, place, there)
        return self._last is not None


class Close:
    """The end: events whose times contradict each other are counted, and what the check has found."""

    def __init__(self) -> None:
        """Nothing was counted yet."""
        self._wrong_times = 0
        self._next: str | None = ""

    def go(self, session: Session, now: Millis) -> bool:
        """Some hundred events."""
        wrong, self._next = queries.times_in_wrong_order(session, now, self._next or "")
        self._wrong_times += wrong
        if self._next is None:
            service.close(session, self._wrong_times, now)
        return self._next is not None


class NightlyRound:
    """Takes a step at a turn, so that others write in between."""

    def __init__(self) -> None:
        """Not begun."""
        self._left: list[Step] = []

    def go(self, session: Session, deed: Deed) -> object:
        """One turn; MORE as long as there is more to look at."""
        if not self._left:
            if not service.claim(session, deed.now):
                return None
            ways = groupby(service.everywhere(), key=lambda way: way.place)
            self._left = [Close(), *map(OneWalk, service.all_walks()), *starmap(OneWay, ways)]
        step = self._left.pop()  # one that fails is told in the log, and the others are taken all the same
        if step.go(session, deed.now):
            self._left.append(step)
        return MORE if self._left else None


def jobs() -> list[Job]:
    """What the worker does for the watch."""
    return [
        Job("watch.nightly", ASK_EVERY_MS, NightlyRound().go),
        Job("watch.alerts", LOOK_EVERY_MS, AlertsRound().go),
        Job("watch.houses", LOOK_EVERY_MS, HousesRound().go),
    ]
