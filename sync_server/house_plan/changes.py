"""What has changed in a house since somebody last looked: seats as they are now, or word that they must look anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.house_plan import answers, queries
from sync_server.house_plan.answers import Mark
from sync_server.house_plan.pictures import Look
from sync_server.plumbing.shapes import iso_or_none

MOST: Final = 5_000
"""Beyond so many seats the whole state is smaller."""
SKEW_MS: Final = 1_000
"""Clocks of two server processes may differ by so much: what came to its end then is told once more."""


@dataclass(frozen=True, slots=True)
class Changes:
    """News for one reader; `reset` says why they must fetch the state anew, and the plan where its name is another."""

    version: str
    seats: tuple[tuple[int, int], ...] = ()
    zones: tuple[dict[str, int], ...] = ()
    next_end: Millis | None = None
    reset: str | None = None

    @property
    def anything(self) -> bool:
        """Whether there is any news."""
        return bool(self.seats or self.zones or self.reset)

    def told(self) -> dict[str, Any]:
        """As readers get it."""
        return {
            "version": self.version,
            "reset": self.reset,
            "seats": self.seats,
            "zones": self.zones,
            "next_end": iso_or_none(self.next_end),
        }


def changes(session: Session, event_id: str, look: Look, since: str, now: Millis, *, organiser: bool) -> Changes:
    """What changed in a house since `since`, the version that a reader knows."""
    if since == str(look.mark):
        return Changes(since, next_end=look.picture.next_end)
    known = Mark.read(since)
    if known is None or (reset := _reset(known, look)):
        return Changes(str(look.mark), reset="unknown_version" if known is None else reset)
    touched = queries.touched(session, event_id, known.version) if known.version < look.head.version else set()
    if touched is None:
        return Changes(str(look.mark), reset="all_changed")
    touched |= look.picture.ended(known.as_of - SKEW_MS, max(now, look.picture.as_of))
    if known.kept != look.mark.kept:
        touched |= {seat for pair in look.picture.ground.places.pairings for seat in pair.companions}
    if len(touched) > MOST:
        return Changes(str(look.mark), reset="many_changed")
    return _news(look, touched, organiser=organiser)


def _reset(known: Mark, look: Look) -> str | None:
    if known.basis != look.mark.basis:
        return "house_changed"
    if known.version > look.head.version:
        return "unknown_version"
    return "too_old" if known.version < look.head.oldest else None


def _news(look: Look, touched: set[int], *, organiser: bool) -> Changes:
    shown, first = look.seats(organiser=organiser), look.picture.ground.first
    seats = tuple((seat, shown[seat - first]) for seat in sorted(touched) if look.picture.ground.has(seat))
    zones = tuple(answers.zones(look.picture.zones(), organiser=organiser))
    return Changes(str(look.mark), seats, zones, look.picture.next_end)
