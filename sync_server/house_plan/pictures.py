"""Keeps the pictures of a few houses ready; whenever one is looked at, the log of touched seats corrects it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import orjson
import zstandard
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds import standing
from sync_server.holds.standing import PlacesNow
from sync_server.house_plan import answers, queries
from sync_server.house_plan.answers import Mark, Packed
from sync_server.house_plan.picture import Picture
from sync_server.house_plan.queries import Head
from sync_server.plumbing.cache import Cache, Keep, of_organisation
from sync_server.plumbing.parts import Parts
from sync_server.revisions import queries as revisions
from sync_server.seating import ground, maps
from sync_server.seating.ground import Use

MOST: Final = 64
"""A stadium takes about two megabytes."""
PEEK_AGAIN_NS: Final = 300_000_000
_KEEP: Final = Keep(near_s=5, far_s=3_600)  # near by it is kept here anyway


@dataclass(slots=True)
class Kept:
    """A picture, what it was made from, and the answers made of it; one at a time looks at it."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    basis: str = ""
    head: Head = field(default_factory=Head)
    picture: Picture | None = None
    plan: Packed | None = None
    peeked: tuple[int, int] = (-(1 << 62), 0)  # when the log was looked at, and how far it had come
    packed: dict[tuple[str, bool], Packed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """A house as it stands now, for as long as nobody else looks."""

    use: Use
    kept_entry: Kept
    picture: Picture
    head: Head
    kept: Collection[int]  # seats kept for whoever comes along with a guest in a wheelchair
    mark: Mark

    def state(self, *, organiser: bool) -> Packed:
        """How it stands with every seat and zone."""
        told = self._kept("state", organiser)
        if told is None:
            told = self._keep("state", organiser, orjson.dumps(self._told(organiser=organiser)))
        return told

    def whole(self, plan: Packed, *, organiser: bool) -> Packed:
        """The same with the plan."""
        told = self._kept("whole", organiser)
        if told is None:
            told = self._keep("whole", organiser, answers.whole(plan.text, self._told(organiser=organiser)))
        return told

    def seats(self, *, organiser: bool) -> bytes:
        """What is shown of each seat."""
        return answers.seats_shown(self.picture, self.kept, organiser=organiser)

    def _told(self, *, organiser: bool) -> dict[str, object]:
        return answers.state(self.mark, self.use.plan_id, self.picture, self.kept, organiser=organiser)

    def _kept(self, what: str, organiser: bool) -> Packed | None:
        known = self.kept_entry.packed.get((what, organiser))
        return known if known is not None and known.version == str(self.mark) else None

    def _keep(self, what: str, organiser: bool, text: bytes) -> Packed:
        made = self.kept_entry.packed[what, organiser] = Packed(str(self.mark), text)
        return made


class Pictures:
    """Pictures by event; drawing one of sixty thousand seats takes a second, correcting it a moment."""

    def __init__(self, cache: Cache) -> None:
        """None yet. What is drawn of a layout is kept in this cache, too, for other processes."""
        self._cache = cache
        self._turn = threading.Lock()
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    @contextmanager
    def look(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> Iterator[Look]:
        """The house of an event as it stands now, for one at a time; NotFound where it has no layout."""
        use = _of_this_history(session, ground.in_use(session, organisation_id, event_id))
        glance = _Glance(session, event_id, use, queries.head(session, event_id), now)
        entry = self._entry(event_id)
        with entry.turn:
            picture = glance.up_to_date(entry)
            kept = picture.kept()
            mark = answers.mark(entry.basis, glance.head.version, picture, kept)
            # Where another was here with newer news, the picture is newer than this head: it is told once more then.
            yield Look(use, entry, picture, glance.head, kept, mark)

    def plan(self, session: Session, organisation_id: str, event_id: str) -> Packed:
        """The drawing of an event's house."""
        use = ground.in_use(session, organisation_id, event_id)
        entry = self._entry(event_id)
        known = entry.plan
        if known is None or known.version != use.plan_id:
            known = entry.plan = self._drawn(session, organisation_id, use)
        return known

    def told(self, parts: Parts, event_id: str) -> int:
        """How far an event's log has come, a moment ago at most: one look serves everybody who waits."""
        entry, now = self._entry(event_id), parts.monotonic()
        at, version = entry.peeked
        if now - at >= PEEK_AGAIN_NS:
            with parts.database.reading() as session:
                version = queries.head(session, event_id).version
            entry.peeked = now, version
        return version

    def _drawn(self, session: Session, organisation_id: str, use: Use) -> Packed:
        name = of_organisation(organisation_id, "seatmap", use.plan_id)

        def draw() -> bytes:
            return zstandard.ZstdCompressor(9).compress(orjson.dumps(maps.drawn(session, use.row)))

        return Packed(use.plan_id, zstandard.ZstdDecompressor().decompress(self._cache.fetch(name, _KEEP, draw)))

    def _entry(self, event_id: str) -> Kept:
        with self._turn:
            entry = self._kept.setdefault(event_id, Kept())
            self._kept.move_to_end(event_id)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return entry


def _of_this_history(session: Session, use: Use) -> Use:
    """After a restore versions are given a second time: none from before may be taken for one of them."""
    return replace(use, basis=f"{use.basis}{revisions.lineage(session)[:3].hex()}")


@dataclass(frozen=True, slots=True)
class _Glance:
    """What one reader sees of one state of the database."""

    session: Session
    event_id: str
    use: Use
    head: Head
    now: Millis

    def up_to_date(self, entry: Kept) -> Picture:
        """The picture, corrected by what is new."""
        picture = entry.picture
        if picture is None or entry.basis != self.use.basis:
            return self._anew(entry)
        if self.head.version > entry.head.version:
            touched = queries.touched(self.session, self.event_id, entry.head.version)
            if touched is None or self.head.oldest > entry.head.version:
                return self._anew(entry)
            picture.places = self._places()
            picture.correct(standing.seats(self.session, self.event_id, touched), self.now, touched=touched)
            entry.head = self.head
        if picture.places.until is not None and picture.places.until <= self.now:
            picture.places = self._places()
            picture.as_of = max(picture.as_of, self.now)
        picture.age(self.now)
        return picture

    def _anew(self, entry: Kept) -> Picture:
        picture = Picture(ground.ground(self.session, self.use), self.now, self._places())
        picture.correct(standing.seats(self.session, self.event_id), self.now)
        entry.picture, entry.basis, entry.head = picture, self.use.basis, self.head
        entry.packed.clear()
        return picture

    def _places(self) -> PlacesNow:
        return standing.places_now(self.session, self.event_id, self.now)
