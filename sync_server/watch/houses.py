"""Looks at how houses are seated and sold, one at a turn, and writes down which figures lie out of bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events.going_on import going_on
from sync_server.holds.outcomes import outcomes
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE
from sync_server.seating.figures import Figure, of_holds, of_house
from sync_server.seating.house import House
from sync_server.seating.houses import Houses
from sync_server.seating.queries import houses_of_events
from sync_server.watch import service
from sync_server.watch.models import FigureRow

SEATING: Final = "seating"
EVERY_MS: Final[Millis] = 600_000
ENOUGH: Final = 20
"""Seats taken, or holds ended: figures of fewer say nothing."""
A_TENTH: Final = 10
ENDS: Final = ("converted", "expired", "cancelled")

Name = tuple[str, str]
"""Organisation and event."""


class HousesRound:
    """Goes to one house at a turn: the first look at a stadium takes a second, and others write in between."""

    def __init__(self) -> None:
        """Not begun."""
        self._houses = Houses()
        self._left: list[Name] = []
        self._going = False

    def go(self, session: Session, deed: Deed) -> object:
        """One turn; MORE as long as there is a house left."""
        if not self._going:
            if not service.claim(session, deed.now, SEATING, EVERY_MS):
                return None
            self._left, self._going = _selling(session), True
            _forget_others(session, [event_id for _, event_id in self._left])
        if not self._left:
            self._going = False
            return None
        where, event_id = self._left.pop()
        with suppress(NotFound), self._houses.house(session, where, event_id, deed.now) as house:
            told = [*_of_house(house), *_of_holds(outcomes(session, event_id))]
            _write_down(session, where, event_id, [one for one in told if one.state == "alert"], deed.now)
        return MORE


def _of_house(house: House) -> list[Figure]:
    taken = len(house.gone.seats) + house.gone.places.total()
    room = sum(zone.capacity for zone in house.zones.values())
    return of_house(house) if taken >= ENOUGH and taken * A_TENTH >= room else []


def _of_holds(became: Mapping[str, int]) -> list[Figure]:
    return of_holds(became) if sum(became.get(end, 0) for end in ENDS) >= ENOUGH else []


def _selling(session: Session) -> list[Name]:
    known = houses_of_events(session)
    sold = going_on(session, [event_id for _, event_id in known])
    return [name for name in known if name[1] in sold]


def _forget_others(session: Session, kept: Sequence[str]) -> None:
    there = set(session.execute(select(FigureRow.event_id).distinct()).scalars())
    for event_id in there.difference(kept):
        session.execute(delete(FigureRow).where(FigureRow.event_id == event_id))


def _write_down(session: Session, where: str, event_id: str, figures: Sequence[Figure], now: Millis) -> None:
    known = {
        row.name: row for row in session.execute(select(FigureRow).where(FigureRow.event_id == event_id)).scalars()
    }
    for figure in figures:
        row = known.pop(figure.name, None)
        if row is None:
            row = FigureRow(event_id=event_id, name=figure.name, organisation_id=where, since=now)
            session.add(row)
        row.percent = figure.percent or 0.0
    for row in known.values():
        session.delete(row)
