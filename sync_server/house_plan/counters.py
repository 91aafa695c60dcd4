"""How full an event is, in numbers and in percent: counted once and remembered, for organisers and for everybody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events import queries as events
from sync_server.events import rules
from sync_server.holds import standing
from sync_server.house_plan.picture import ZoneNow
from sync_server.house_plan.pictures import Pictures
from sync_server.plumbing.cache import Cache, Keep, Name, of_organisation
from sync_server.plumbing.shapes import iso

KEEP: Final = Keep(near_s=2, far_s=60)
"""It is forgotten whenever a seat is touched; this is for holds that end by themselves."""
WHOLE_EVENT: Final = 0
"""The zone of an event without a layout."""


@dataclass(frozen=True, slots=True)
class Count:
    """Places of a zone, or of the whole event."""

    zone: int
    name: str
    total: int
    held: int
    sold: int


@dataclass(frozen=True, slots=True)
class Counts:
    """All zones of an event at one moment."""

    as_of: Millis
    zones: tuple[Count, ...]

    def packed(self) -> bytes:
        """As it is remembered."""
        return orjson.dumps({"as_of": self.as_of, "zones": [asdict(zone) for zone in self.zones]})

    @classmethod
    def unpacked(cls, text: bytes) -> Counts:
        """What `packed` packed."""
        kept = orjson.loads(text)
        return cls(kept["as_of"], tuple(Count(**zone) for zone in kept["zones"]))


def name(organisation_id: str, event_id: str) -> Name:
    """Under what it is remembered; whoever takes a seat makes it be forgotten."""
    return of_organisation(organisation_id, "event", f"{event_id}:occupancy")


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts, or remembers what was counted."""

    cache: Cache
    pictures: Pictures

    def counts(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> Counts:
        """How full an event is; NotFound for another organisation's."""
        called = name(organisation_id, event_id)
        kept = self.cache.fetch(
            called, KEEP, lambda: counted(session, self.pictures, organisation_id, event_id, now).packed()
        )
        return Counts.unpacked(kept)


def counted(session: Session, pictures: Pictures, organisation_id: str, event_id: str, now: Millis) -> Counts:
    """The same, counted now."""
    row = events.event(session, organisation_id, event_id)
    try:
        with pictures.look(session, organisation_id, event_id, now) as look:
            names = {number: zone.name for number, zone in look.picture.ground.zones.items()}
            return Counts(look.picture.as_of, tuple(_count(zone, names) for zone in look.picture.zones()))
    except NotFound:
        held = standing.places_now(session, event_id, now).held.get(WHOLE_EVENT, 0)
        total = rules.bound(row.capacity, row.venue_capacity)
        return Counts(now, (Count(WHOLE_EVENT, "", total, held, row.tickets_issued),))


def _count(zone: ZoneNow, names: dict[int, str]) -> Count:
    return Count(zone.number, names[zone.number], zone.capacity, zone.held, zone.sold)


def told(counts: Counts, *, organiser: bool) -> dict[str, Any]:
    """As readers get it: what is held is told to organisers only, and looks taken to everybody else."""
    zones = [{"zone": one.zone, "name": one.name, **_shares([one], organiser=organiser)} for one in counts.zones]
    return {"as_of": iso(counts.as_of), **_shares(counts.zones, organiser=organiser), "zones": zones}


def _shares(some: Iterable[Count], *, organiser: bool) -> dict[str, Any]:
    every = list(some)
    total, held, sold = (sum(getattr(one, what) for one in every) for what in ("total", "held", "sold"))
    left = sum(max(0, one.total - one.held - one.sold) for one in every)
    numbers = (
        {"available": left, "held": held, "sold": sold} if organiser else {"available": left, "taken": held + sold}
    )
    percents = {f"percent_{what}": round(100 * count / total, 1) if total else None for what, count in numbers.items()}
    return {"total": total, **numbers, **percents}
