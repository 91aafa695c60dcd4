"""What one process tells of houses: every answer is made once, and given to all who ask for it at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import orjson

from sync_server.house_plan import answers, changes
from sync_server.house_plan.answers import Packed
from sync_server.house_plan.changes import Changes
from sync_server.house_plan.ear import Ear
from sync_server.house_plan.glances import Glance, Glances
from sync_server.house_plan.pictures import Pictures
from sync_server.plumbing.parts import Parts

MOST: Final = 64
MOST_NEWS: Final = 256
"""Readers of one version come from few others; whoever makes versions up must not fill the memory."""


class Sheet(StrEnum):
    """An answer that is the same for all who may see as much."""

    WHOLE = "whole"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class News:
    """What one version of a map has to be told, and its words."""

    changes: Changes
    text: bytes


@dataclass(slots=True)
class _Pinned:
    """What was made of one version of one house."""

    door: threading.Lock = field(default_factory=threading.Lock)
    mark: str = ""
    sheets: dict[tuple[Sheet, bool], Packed] = field(default_factory=dict)
    news: dict[tuple[str, bool], News] = field(default_factory=dict)


class Board:
    """Answers from memory where nothing has happened since; else one goes and looks, and the others wait for it."""

    def __init__(self, parts: Parts) -> None:
        """Nothing is pinned yet."""
        self.glances, self.pictures = Glances(parts.database, parts.monotonic), Pictures(parts.cache)
        self.ear = Ear(parts)
        self._database, self._clock = parts.database, parts.clock
        self._turn = threading.Lock()
        self._pinned: OrderedDict[str, _Pinned] = OrderedDict()

    def sheet(self, seen: Glance, which: Sheet, *, organiser: bool) -> Packed:
        """A whole answer; NotFound where the event has no layout."""
        pinned, key = self._of(seen.event_id), (which, organiser)
        if (mark := self._ready(seen)) and pinned.mark == mark and (known := pinned.sheets.get(key)):
            return known
        with pinned.door:  # whoever waits here holds no connection, and mostly finds it made
            if (mark := self._ready(seen)) and pinned.mark == mark and (known := pinned.sheets.get(key)):
                return known
            with self._database.glancing() as session:
                with self.pictures.look_again(session, seen, seen.organisation_id, self._clock()) as look:
                    mark, (name, told) = str(look.mark), look.state(organiser=organiser)
                made = Packed(name, told)
                if which is Sheet.WHOLE:
                    made = answers.whole(name, self.pictures.drawn(session, seen, look.use), told)
            _turn_over(pinned, mark)
            pinned.sheets[key] = made
            return made

    def news(self, seen: Glance, since: str, *, organiser: bool) -> News:
        """What whoever knows the version `since` has not heard; NotFound where the event has no layout."""
        pinned, key = self._of(seen.event_id), (since, organiser)
        if (mark := self._ready(seen)) and pinned.mark == mark and (known := pinned.news.get(key)):
            return known
        with pinned.door:
            if (mark := self._ready(seen)) and pinned.mark == mark and (known := pinned.news.get(key)):
                return known
            now = self._clock()
            with (
                self._database.glancing() as session,
                self.pictures.look_again(session, seen, seen.organisation_id, now) as look,
            ):
                found = changes.changes(session, seen.event_id, look, since, now, organiser=organiser)
            _turn_over(pinned, str(look.mark))
            made = News(found, orjson.dumps(found.told()))
            if len(pinned.news) < MOST_NEWS:
                pinned.news[key] = made
            return made

    def _ready(self, seen: Glance) -> str:
        ready = self.pictures.entry(seen.event_id).ready
        return str(ready.mark) if ready is not None and ready.still(seen, self._clock()) else ""

    def _of(self, event_id: str) -> _Pinned:
        with self._turn:
            pinned = self._pinned.setdefault(event_id, _Pinned())
            self._pinned.move_to_end(event_id)
            if len(self._pinned) > MOST:
                self._pinned.popitem(last=False)
            return pinned


def _turn_over(pinned: _Pinned, mark: str) -> None:
    if pinned.mark != mark:
        pinned.sheets, pinned.news, pinned.mark = {}, {}, mark
