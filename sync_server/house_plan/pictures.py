"""Keeps the pictures of a few houses ready; whenever one is looked at, the log of touched seats corrects it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import orjson
import zstandard
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.holds import standing
from sync_server.holds.standing import PlacesNow
from sync_server.house_plan import answers, queries
from sync_server.house_plan.answers import Mark, Packed
from sync_server.house_plan.glances import Glance, Source, glance
from sync_server.house_plan.picture import Picture
from sync_server.house_plan.queries import Head
from sync_server.plumbing.cache import Cache, Keep, of_organisation
from sync_server.seating import ground, maps
from sync_server.seating.ground import Ground, Use

MOST: Final = 64
"""A stadium takes about two megabytes."""
_KEEP: Final = Keep(near_s=5, far_s=3_600)  # near by it is kept here anyway


@dataclass(frozen=True, slots=True)
class Ready:
    """Of which state of the database a picture was last looked at, and how long it stays so if nothing is told."""

    source: Source
    version: int
    until: Millis | None  # when the next hold is over
    mark: Mark

    def still(self, seen: Glance, now: Millis) -> bool:
        """Whether whoever has seen this would find the picture so, or newer."""
        known = self.source == seen.source and self.version >= seen.head.version
        return known and (self.until is None or now < self.until)


@dataclass(slots=True)
class Kept:
    """A picture, what it was made from, and the plan beneath it; one at a time looks at it."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    source: Source | None = None
    use: Use | None = None
    basis: str = ""
    head: Head = field(default_factory=Head)
    picture: Picture | None = None
    plan: Packed | None = None
    ready: Ready | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """A house as it stands now, for as long as nobody else looks."""

    use: Use
    picture: Picture
    head: Head
    kept: Collection[int]  # seats kept for whoever comes along with a guest in a wheelchair
    mark: Mark

    def state(self, *, organiser: bool) -> tuple[str, bytes]:
        """How it stands with every seat and zone, and a name that is the same wherever that is so."""
        told = answers.state(self.mark, self.use.plan_id, self.picture, self.kept, organiser=organiser)
        return answers.name_of(told), orjson.dumps(told)

    def seats(self, *, organiser: bool) -> bytes:
        """What is shown of each seat."""
        return answers.seats_shown(self.picture, self.kept, organiser=organiser)


class Pictures:
    """Pictures by event; drawing one of sixty thousand seats takes a second, correcting it a moment."""

    def __init__(self, cache: Cache) -> None:
        """None yet. What is drawn of a layout is kept in this cache, too, for other processes."""
        self._cache = cache
        self._turn = threading.Lock()
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def entry(self, event_id: str) -> Kept:
        """What is kept of an event."""
        with self._turn:
            entry = self._kept.setdefault(event_id, Kept())
            self._kept.move_to_end(event_id)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return entry

    def drawn_from(self, seen: Glance) -> bool:
        """Whether the house is drawn as it is by now, whoever may sit where."""
        entry = self.entry(seen.event_id)
        return entry.source == seen.source and entry.picture is not None and entry.plan is not None

    @contextmanager
    def look(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> Iterator[Look]:
        """The house of an event as it stands now, for one at a time; NotFound where it has no layout."""
        with self.look_again(session, glance(session, event_id), organisation_id, now) as look:
            yield look

    @contextmanager
    def look_again(self, session: Session, seen: Glance, organisation_id: str, now: Millis) -> Iterator[Look]:
        """The same for whoever has glanced at it already.

        What is read is as new as that glance or newer, each statement by itself: newer things are told once more.
        """
        _require_laid_out(seen, organisation_id)
        entry = self.entry(seen.event_id)
        with entry.turn:
            use = _use(session, entry, seen)
            picture = _Eye(session, seen, use, now).up_to_date(entry)
            kept = picture.kept()
            mark = answers.mark(entry.basis, seen.head.version, picture, kept)
            if entry.head.version == seen.head.version:
                entry.ready = Ready(seen.source, seen.head.version, picture.next_end, mark)
            # Where another was here with newer news, the picture is newer than this head: it is told once more then.
            yield Look(use, picture, seen.head, kept, mark)

    def plan(self, session: Session, organisation_id: str, event_id: str) -> Packed:
        """The drawing of an event's house."""
        seen = glance(session, event_id)
        _require_laid_out(seen, organisation_id)
        entry = self.entry(event_id)
        with entry.turn:
            use = _use(session, entry, seen)
        return self.drawn(session, seen, use)

    def drawn(self, session: Session, seen: Glance, use: Use) -> Packed:
        """The same where it is known how the event uses its layout."""
        entry = self.entry(seen.event_id)
        plan = entry.plan
        if plan is None or plan.name != use.plan_id:
            plan = entry.plan = self._drawn(session, seen.organisation_id, use)
        return plan

    def _drawn(self, session: Session, organisation_id: str, use: Use) -> Packed:
        name = of_organisation(organisation_id, "seatmap", use.plan_id)

        def draw() -> bytes:
            return zstandard.ZstdCompressor(9).compress(orjson.dumps(maps.drawn(session, use.row)))

        return Packed(use.plan_id, zstandard.ZstdDecompressor().decompress(self._cache.fetch(name, _KEEP, draw)))


def _require_laid_out(seen: Glance, organisation_id: str) -> None:
    if seen.organisation_id != organisation_id or seen.source.layout_id is None:
        raise NotFound("This event has no seating layout.", code="event_layout_not_found")


def _use(session: Session, entry: Kept, seen: Glance) -> Use:
    """How the event uses its layout, found out anew where that may be otherwise by now."""
    if entry.use is None or entry.source != seen.source:
        entry.use = ground.in_use(session, seen.organisation_id, seen.event_id)
        entry.source = seen.source
    return entry.use


@dataclass(frozen=True, slots=True)
class _Eye:
    """What one reader sees of one state of the database."""

    session: Session
    seen: Glance
    use: Use
    now: Millis

    def up_to_date(self, entry: Kept) -> Picture:
        """The picture, corrected by what is new."""
        picture, head = entry.picture, self.seen.head
        basis = f"{self.use.basis}{self.seen.source.lineage[:3].hex()}"
        if picture is None or entry.basis != basis:
            return self._anew(entry, basis)
        if head.version > entry.head.version:
            touched = queries.touched(self.session, self.seen.event_id, entry.head.version)
            if touched is None or head.oldest > entry.head.version:
                return self._anew(entry, basis)
            picture.places = self._places(picture.ground)
            rows = standing.seats(self.session, self.seen.event_id, touched) if touched else ()
            picture.correct(rows, self.now, touched=touched)
            entry.head = head
        if picture.places.until is not None and picture.places.until <= self.now:
            picture.places = self._places(picture.ground)
            picture.as_of = max(picture.as_of, self.now)
        picture.age(self.now)
        return picture

    def _anew(self, entry: Kept, basis: str) -> Picture:
        beneath = ground.ground(self.session, self.use)
        picture = Picture(beneath, self.now, self._places(beneath))
        picture.correct(standing.seats(self.session, self.seen.event_id), self.now)
        entry.picture, entry.basis, entry.head = picture, basis, self.seen.head
        return picture

    def _places(self, beneath: Ground) -> PlacesNow:
        if all(zone.zone_type.numbered for zone in beneath.zones.values()):
            return PlacesNow({}, {}, None)
        return standing.places_now(self.session, self.seen.event_id, self.now)
